"""`precision-monitor audit`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from monitor.cli.given_config import given_config
from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show, tell
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.recorded_input import check_usable, paths_of
from monitor.clock import DAY_MS
from monitor.config import Config, ModelConfig
from monitor.config.quantities import count_of, format_duration, format_time
from monitor.diagnosis.comparison import check_two_classes
from monitor.diagnosis.time_ranges import parse_time_range
from monitor.engine import CountingMonitor, Monitor
from monitor.errors import UsageError
from monitor.events.columns import KeyArray
from monitor.feeds import files
from monitor.feeds.decode.id_texts import IdTexts
from monitor.join.audits import LabelledCases
from monitor.join.terms import ENDLESS
from monitor.report.printable import one_line

_MOST_PENDING = 1 << 40
_CLASSES = (0, 1)


class Drawn(NamedTuple):
    """The cases drawn from a stratum.

    Attributes:
        predicted: the predicted class.
        label: the label.
        cases: that the stratum has.
        keys: of the ids of the cases drawn, in random order.
    """

    predicted: int
    label: int
    cases: int
    keys: KeyArray


def run(args: Namespace) -> int:
    """Draw labelled cases to be audited, and print their ids.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    if args.sample < 1:
        raise UsageError(f"audit: --sample: must be at least 1, got {args.sample}")
    config = given_config(args)
    paths = paths_of(args, config)
    if once := next(filter(files.is_read_once, paths), None):
        raise UsageError(f"audit: reads the events twice, got {once}; write them to a file")
    mapping = mapping_of(args)
    counting = _endless(with_recorded_classes(config, paths, mapping))
    monitor = CountingMonitor(counting)
    feed = RecordedFeed(paths, counting, mapping)
    for batch in feed.batches():
        monitor.apply(batch)
    check_usable(monitor.snapshot(), feed)
    model, cases = _cases(monitor, args)
    cases = _in_time(model, cases, config.model(model).horizon_ms, monitor, args)
    rng = np.random.default_rng(args.seed)
    if args.predicted is None:
        drawn = [*_drawn(cases, args.sample, rng)]
    else:
        drawn = [*_drawn_of(args.predicted, cases, args.sample, rng)]
    texts = IdTexts(np.concatenate([one.keys for one in drawn]))
    for _ in RecordedFeed(paths, counting, mapping, id_texts=texts).batches():
        pass
    if args.json:
        show(json.dumps(_json(model, args.seed, drawn, texts)))
    else:
        for key in rng.permutation(np.concatenate([one.keys for one in drawn])).tolist():
            show(texts.found[key])
        for one in drawn:
            words = f"predicted {one.predicted}, labelled {one.label}"
            tell(f"{one_line(model)}: {words}: {len(one.keys):,} of {count_of(one.cases, 'case')}")
    if feed.torn is not None:
        raise feed.torn
    return 0


def _in_time(
    model: str, cases: LabelledCases, horizon: int | None, monitor: Monitor, args: Namespace
) -> LabelledCases:
    """Return the cases of which an audit can still count, and print what limits that.

    All are returned where a range is asked for, and where there is no such case.
    """
    last = monitor.times.get(model)
    if horizon is None or last is None:
        return cases
    name, within = one_line(model), f"{format_duration(horizon)} (`horizon`)"
    days = -(-(last - int(cases.time.min())) // DAY_MS)
    set_it = f"with `horizon: {days}d` they would count"
    early = cases.time + horizon < last
    number = int(early.sum())
    if args.range is not None or number == len(early):
        if number:
            of_them = f"{number:,} of {count_of(len(early), 'case')} to draw from"
            tell(
                f"{name}: {of_them} were predicted more than {within} before the last event, and "
                f"their audits have no effect; {set_it}"
            )
        return cases
    if number:
        left_out = f"{count_of(number, 'case')} predicted more than {within} before the last event"
        tell(f"{name}: {left_out} left out, since audits come too late for them; {set_it}")
    cases = cases.take(~early)
    until = format_time(int(cases.time.min()) + horizon)
    tell(f"{name}: audits count up to {within} after the prediction, the first until {until}")
    return cases


def _endless(config: Config) -> Config:
    """The same models with a horizon past which nothing lies: which label counts stays as it is."""

    def endless(model: ModelConfig) -> ModelConfig:
        update = {} if model.label_timeout is None else {"horizon": ENDLESS}
        return model.model_copy(update=update)

    models = {name: endless(model) for name, model in config.models.items()}
    return config.model_copy(
        update={
            "models": models,
            "defaults": endless(config.defaults),
            "max_pending": _MOST_PENDING,
        }
    )


def _cases(monitor: Monitor, args: Namespace) -> tuple[str, LabelledCases]:
    """Return the model, and its labelled cases in the range that is asked for."""
    names = monitor.models
    if args.model is None and len(names) != 1:
        raise UsageError(f"audit: --model: must name a model; the feed has {', '.join(names)}")
    model = names[0] if args.model is None else args.model
    if model not in names:
        known = ", ".join(names)
        raise UsageError(f"audit: --model: no such model, got {model!r}; the feed has {known}")
    check_two_classes("audit", model, monitor.config.model(model).classes)
    cases = monitor.label_errors.not_audited(names.index(model))
    if args.range is not None:
        opens, closes = parse_time_range("--range", args.range)
        inside = (cases.time >= opens) & (cases.time < closes)
        if len(cases.key) and not inside.any():
            first, last = (format_time(int(end)) for end in (cases.time.min(), cases.time.max()))
            raise UsageError(
                "audit: --range: no case predicted in it has a label of 0 or 1 and no audit, got "
                f"{args.range!r}; such cases are of {first} to {last}"
            )
        cases = cases.take(inside)
    if not len(cases.key):
        raise UsageError("audit: no case has a label of 0 or 1 and no audit; give other events")
    return model, cases


def _drawn(cases: LabelledCases, sample: int, rng: np.random.Generator) -> Iterator[Drawn]:
    """Draw half of the cases of a label from each predicted class, more where one has too few.

    Of an odd number the last is of the predicted class with more cases.
    """
    for label in _CLASSES:
        negative, positive = (
            np.sort(cases.key[cases.stratum == 2 * called + label]) for called in _CLASSES
        )
        half = sample // 2 if len(positive) < len(negative) else sample - sample // 2
        flagged = min(len(positive), max(half, sample - len(negative)))
        yield Drawn(0, label, len(negative), rng.permutation(negative)[: sample - flagged])
        yield Drawn(1, label, len(positive), rng.permutation(positive)[:flagged])


def _drawn_of(
    predicted: int, cases: LabelledCases, sample: int, rng: np.random.Generator
) -> Iterator[Drawn]:
    """Draw from all cases of a predicted class alike, and divide what is drawn by label."""
    strata = [np.sort(cases.key[cases.stratum == 2 * predicted + label]) for label in _CLASSES]
    labels = np.repeat(_CLASSES, [len(one) for one in strata])
    chosen = rng.permutation(len(labels))[:sample]
    keys, labels = np.concatenate(strata)[chosen], labels[chosen]
    for label, stratum in zip(_CLASSES, strata, strict=True):
        yield Drawn(predicted, label, len(stratum), keys[labels == label])


def _json(model: str, seed: int, drawn: list[Drawn], texts: IdTexts) -> dict[str, object]:
    strata = [
        {
            "predicted": one.predicted,
            "label": one.label,
            "cases": one.cases,
            "ids": [texts.found[key] for key in one.keys.tolist()],
        }
        for one in drawn
    ]
    return {"model": model, "seed": seed, "strata": strata}
