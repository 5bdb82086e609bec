"""How often ModelDegraded would page where labels are a sample and the model is as ever.

    PYTHONPATH=tests python -m tests.benchmarks.sampled_pages [--models N] [--days N]

There is no detector where labels are sampled or weighted; the alert goes by the verdict
of the longest window, once it has held for a day. Simulated streams go through the
engine, and the verdict is asked for every three hours: predicted positives are all
labelled, a share of the others by chance, one to five hours later. The model stays as it
is while prevalence stays, halves, or swings by the week, or while recall and false
positives scatter from day to day (by .15 on the logit); last, it does get worse, and the
days until the page are counted.

A page begins where the verdict has said degraded for a day, more than a day after the
last page ended. Beside it: how many there would be if the verdict need not hold.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Labels, Predictions

DAY_MS, HOUR_MS = 86_400_000, 3_600_000
START_MS = 1_767_225_600_000
WINDOW_DAYS = 7
LOOK_HOURS = 3
A_DAY = 24 // LOOK_HOURS
DEGRADED = ("model_degraded", "prevalence_shift_and_model_degraded")
WORLDS = ("stays", "halves", "swings", "scatters")
RECALL, FALSE_POSITIVE_RATE, PREVALENCE = 0.8, 0.05, 0.1


class Setting(NamedTuple):
    """One kind of model: how its labels come and how many predictions it makes."""

    labelling: str
    world: str
    a_day: int
    share: float
    reference_days: int = 7

    @property
    def first_day(self):
        """The first that is looked at: the window has left the reference, and its labels came."""
        return self.reference_days + WINDOW_DAYS + 1


def truth(world, days, change, rng):
    """Prevalence, recall and false-positive rate of each day; what changes does so on one."""
    day = np.arange(days)
    prevalence = np.full(days, PREVALENCE)
    recall, false_positive = np.full(days, RECALL), np.full(days, FALSE_POSITIVE_RATE)
    later = day >= change
    if world == "halves":
        prevalence[later] /= 2
    elif world == "swings":
        prevalence *= np.exp(0.5 * np.sin(2 * np.pi * day / 7))
    elif world == "scatters":
        recall = logistic(np.log(RECALL / (1 - RECALL)) + 0.15 * rng.standard_normal(days))
        odds = FALSE_POSITIVE_RATE / (1 - FALSE_POSITIVE_RATE)
        false_positive = logistic(np.log(odds) + 0.15 * rng.standard_normal(days))
    elif world == "worse":
        recall[later] = 0.6
    return prevalence, recall, false_positive


def logistic(logit):
    """The inverse of the logit."""
    return 1 / (1 + np.exp(-logit))


def stream(setting, models, days, seed):
    """Batches of an hour each of several models alike, in order of time."""
    rng = np.random.default_rng(seed)
    change = setting.first_day + (days - setting.first_day) // 3
    rates = np.stack([truth(setting.world, days, change, rng) for _ in range(models)], axis=1)
    size = models * days * setting.a_day
    time_of = np.sort(rng.integers(0, days * DAY_MS, size))
    day, model = time_of // DAY_MS, rng.integers(0, models, size)
    prevalence, recall, false_positive = rates[:, model, day]
    actual = rng.random(size) < prevalence
    flagged = rng.random(size) < np.where(actual, recall, false_positive)
    chosen = np.flatnonzero(flagged | (rng.random(size) < setting.share))
    due = time_of[chosen] + rng.integers(HOUR_MS, 5 * HOUR_MS, len(chosen))
    order = np.argsort(due, kind="stable")
    labelled, due = chosen[order], due[order]
    key = np.arange(1, size + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    weighted = setting.labelling == "weighted"
    groups = tuple(Group(f"m{number}", "", ()) for number in range(models))
    for opens in range(0, days * DAY_MS, HOUR_MS):
        a, b = np.searchsorted(time_of, (opens, opens + HOUR_MS))
        c, d = np.searchsorted(due, (opens, opens + HOUR_MS))
        of = labelled[c:d]
        probability = np.where(flagged[of], 1.0, setting.share) if weighted else np.nan
        yield EventBatch(
            predictions=Predictions(
                key=key[a:b],
                time=START_MS + time_of[a:b],
                predicted_positive=flagged[a:b],
                score=np.full(b - a, np.nan),
                group=model[a:b],
            ),
            labels=Labels(
                key=key[of],
                time=START_MS + due[c:d],
                value=actual[of].astype(np.int64),
                sampling_probability=np.broadcast_to(probability, len(of)).astype(np.float64),
            ),
            groups=groups,
            records=b - a + d - c,
        )


def monitor(setting, models):
    """The monitor of such models."""
    model = {
        "labelling": setting.labelling,
        "label_timeout": "1d",
        "maturity": "6h",
        "reference": {"first": f"{setting.reference_days}d"},
    }
    names = {f"m{number}": model for number in range(models)}
    return Monitor(Config(models=names, pane="1h", windows=["7d"]))


def looks(setting, models, days, seed):
    """For each look, whether the verdict on each model said degraded: (looks, models)."""
    watching, found = monitor(setting, models), []
    for hour, batch in enumerate(stream(setting, models, days, seed), 1):
        watching.apply(batch)
        if hour > setting.first_day * 24 and hour % LOOK_HOURS == 0:
            watched = [model.watched for model in watching.snapshot().models]
            found.append(
                ["7d" in one.verdicts and one.verdicts["7d"].verdict in DEGRADED for one in watched]
            )
    return np.array(found)


def held(degraded):
    """Looks at which the verdict has said degraded for a day, of one model."""
    return np.convolve(degraded, np.ones(A_DAY + 1))[: len(degraded)] > A_DAY


def pages(degraded):
    """Looks that begin a page, more than a day after the last of the page before."""
    at = np.flatnonzero(degraded)
    return at[np.diff(at, prepend=-1_000) > A_DAY]


class Counted(NamedTuple):
    """What became of some models: sums, and for each that got worse the days until its page."""

    model_days: float
    at_once: int
    pages: int
    days_paged: float
    models_paged: int
    until: list


def counted(work):
    """One kind of models, some of them."""
    setting, models, days, seed = work
    degraded = looks(setting, models, setting.first_day + days, seed)
    page_lasts = np.stack([held(one) for one in degraded.T])
    began = [pages(one) for one in page_lasts]
    change = days // 3 * A_DAY
    later = [at[at >= change] for at in began]
    return Counted(
        model_days=degraded.size / A_DAY,
        at_once=sum(len(pages(one)) for one in degraded.T),
        pages=sum(map(len, began)),
        days_paged=page_lasts.sum() / A_DAY,
        models_paged=sum(len(at) > 0 for at in began),
        until=[(at[0] - change) / A_DAY if len(at) else np.inf for at in later],
    )


def settings(worlds):
    """All that are tried; where days scatter, with a longer reference, too."""
    sizes = ((2_000, 0.05), (10_000, 0.01))
    found = [
        Setting(labelling, world, a_day, share)
        for labelling in ("sampled", "weighted")
        for world in worlds
        for a_day, share in sizes
    ]
    if "scatters" in worlds:
        found += [Setting("sampled", "scatters", *size, reference_days=28) for size in sizes]
    return found


def main():
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=8, help="of each kind")
    parser.add_argument("--days", type=int, default=90, help="looked at")
    parser.add_argument("--worlds", nargs="+", default=[*WORLDS, "worse"])
    args = parser.parse_args()
    model_days, paged = 0.0, 0
    print(
        "| labels | world | a day | share | reference | model-days | at once | pages | of | time |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    kinds = settings(args.worlds)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        work = [(kind, args.models, args.days, number) for number, kind in enumerate(kinds)]
        for kind, found in zip(kinds, pool.map(counted, work), strict=True):
            row = f"| {kind.labelling} | {kind.world} | {kind.a_day} | {kind.share:.0%} "
            row += f"| {kind.reference_days} d "
            if kind.world == "worse":
                print(f"{row}| paged after {np.median(found.until):.1f} days |", flush=True)
                continue
            model_days, paged = model_days + found.model_days, paged + found.pages
            models = f"{found.models_paged} of {args.models}"
            row += f"| {found.model_days:.0f} | {found.at_once} | {found.pages} | {models} "
            print(f"{row}| {found.days_paged / found.model_days:.2%} |", flush=True)
    print(f"{paged} pages in {model_days:.0f} model-days without a worse model")


if __name__ == "__main__":
    main()
