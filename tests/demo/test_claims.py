"""`sample` prints the same events for the same seed, and each story leads to its verdict."""

import csv
import json
from collections import defaultdict
from datetime import datetime, timedelta
from functools import cache
from itertools import islice

import pytest
from cli.commands import ran

from monitor.cli.parser.setup import STORIES
from monitor.demo.claims import (
    BEGINS,
    CHANGES_ON_DAY,
    DAYS,
    REGIONS,
    Story,
    cases,
    event_lines,
    table_lines,
)

CHANGES = BEGINS + timedelta(days=CHANGES_ON_DAY)
RATES = {
    "healthy": ((0.3, 0.85, 0.2), (0.3, 0.85, 0.2)),
    "rarer": ((0.3, 0.85, 0.2), (0.15, 0.85, 0.2)),
    "worse": ((0.3, 0.85, 0.2), (0.3, 0.65, 0.25)),
}
"""Prevalence, recall and false positive rate, before and after the change."""


@cache
def made(story="healthy", seed=1, *, csv=False):
    """What `sample` prints."""
    lines = (table_lines if csv else event_lines)(cases(Story(story), seed))
    return "".join(f"{line}\n" for line in lines)


@cache
def sampled(story):
    """Every seventh case of a story, from all of its days."""
    return [*islice(cases(Story(story), seed=1), 0, None, 7)]


def rows_of(lines):
    """The rows of the table, put together again from the events."""
    rows = {}
    for event in map(json.loads, lines):
        if event["type"] == "prediction":
            rows[event["id"]] = [event["ts"], event["score"], event["prediction"]]
            rows[event["id"]] += [event["segment"]["region"], None, None]
        else:
            rows[event["id"]][4:] = [event["ts"], event["label"]]
    return rows


def test_the_stories_of_the_command_are_those_of_the_sample():
    assert tuple(Story) == STORIES


@pytest.mark.slow
def test_the_command_prints_the_sample_of_its_words(capsys):
    for words, expected in {
        (): made(),
        ("rarer", "--seed", "2", "--csv"): made("rarer", 2, csv=True),
    }.items():
        done = ran(capsys, "sample", *words)
        assert (done.code, done.err) == (0, "")
        assert done.out == expected


def test_the_same_seed_gives_the_same_claims_and_another_seed_others():
    def first(seed):
        return list(islice(cases(Story.HEALTHY, seed), 100))

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_events_come_in_order_of_time_and_labels_within_two_days():
    events = [json.loads(line) for line in event_lines(sampled("rarer"))]
    times = [datetime.fromisoformat(event["ts"]) for event in events]
    assert times == sorted(times)
    assert times[0] >= BEGINS
    assert times[-1] < BEGINS + timedelta(days=DAYS)
    came = {e["id"]: t for e, t in zip(events, times, strict=True) if e["type"] == "prediction"}
    for event, time in zip(events, times, strict=True):
        if event["type"] == "label":
            assert timedelta(hours=2) <= time - came[event["id"]] <= timedelta(days=2)


def test_table_and_events_hold_the_same_cases():
    table = csv.DictReader(table_lines(sampled("worse")))
    found = {
        row["id"]: [
            row["ts"],
            float(row["score"]),
            int(row["prediction"]),
            row["region"],
            row["label_ts"] or None,
            int(row["label"]) if row["label"] else None,
        ]
        for row in table
    }
    assert len(found) == 10_000
    assert found == rows_of(event_lines(sampled("worse")))


@pytest.mark.parametrize("story", STORIES)
def test_the_rates_are_those_of_the_story(story):
    """Each within five standard errors."""
    cells = defaultdict(lambda: [0, 0, 0, 0])  # tp, fp, fn, tn
    for case in cases(Story(story), seed=1):
        assert case.prediction == (case.score >= 0.5)
        assert case.region in REGIONS
        if case.label is not None:
            cells[case.ts >= CHANGES][2 * (1 - case.prediction) + 1 - case.label] += 1
    for period, rates in enumerate(RATES[story]):
        tp, fp, fn, tn = cells[bool(period)]
        shares = ((tp + fn, tp + fp + fn + tn), (tp, tp + fn), (fp, fp + tn))
        for (hits, total), rate in zip(shares, rates, strict=True):
            assert abs(hits / total - rate) < 5 * (rate * (1 - rate) / total) ** 0.5


VERDICTS = {
    "healthy": (("insufficient_evidence", "steady"), ("no_change", None)),
    "rarer": (("prevalence_shift", None),),
    "worse": (("model_degraded", None),),
}


@pytest.mark.slow  # the blocks of the README replay each story, too
@pytest.mark.parametrize(
    ("story", "seed", "name"),
    [
        *((story, 1, "events.ndjson") for story in STORIES),
        ("rarer", 2, "claims.csv"),
    ],
)
def test_each_story_leads_to_its_verdict(capsys, tmp_path, story, seed, name):
    path = tmp_path / name
    path.write_text(made(story, seed, csv=name.endswith(".csv")))
    done = ran(capsys, "replay", path, "--json")
    assert (done.code, done.err) == (0, "")
    (model,) = json.loads(done.out)["models"].values()
    assert (model["verdict"], model["verdict_because"]) in VERDICTS[story]
    shown = [*model["metrics"].values()]
    for window in model["windows"].values():
        shown += window["metrics"].values()
    assert None not in [metric["estimate"] for metric in shown], "no dash in the README's example"
