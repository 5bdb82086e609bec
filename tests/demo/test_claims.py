"""`sample` prints the same events for the same seed, and each story leads to its verdict."""

import csv
import io
import json
from collections import defaultdict
from datetime import datetime, timedelta

import pytest
from cli.commands import ran

from monitor.cli.parser.setup import STORIES
from monitor.demo.claims import BEGINS, CHANGES_ON_DAY, DAYS, REGIONS, Story

CHANGES = BEGINS + timedelta(days=CHANGES_ON_DAY)
RATES = {
    "healthy": ((0.3, 0.85, 0.2), (0.3, 0.85, 0.2)),
    "rarer": ((0.3, 0.85, 0.2), (0.15, 0.85, 0.2)),
    "worse": ((0.3, 0.85, 0.2), (0.3, 0.65, 0.25)),
}
"""Prevalence, recall and false positive rate, before and after the change."""


@pytest.fixture
def printed(capsys):
    def sample(*words):
        done = ran(capsys, "sample", *words)
        assert (done.code, done.err) == (0, "")
        return done.out

    return sample


def rows_of(events):
    """The rows of the table, put together again from the events."""
    rows = {}
    for event in map(json.loads, events.splitlines()):
        if event["type"] == "prediction":
            rows[event["id"]] = [event["ts"], event["score"], event["prediction"]]
            rows[event["id"]] += [event["segment"]["region"], None, None]
        else:
            rows[event["id"]][4:] = [event["ts"], event["label"]]
    return rows


def test_the_stories_of_the_command_are_those_of_the_sample():
    assert tuple(Story) == STORIES


def test_the_same_seed_gives_the_same_events(printed):
    assert printed() == printed("healthy", "--seed", "1")
    assert printed() != printed("--seed", "2")


def test_events_come_in_order_of_time_and_labels_within_two_days(printed):
    events = [json.loads(line) for line in printed("rarer").splitlines()]
    times = [datetime.fromisoformat(event["ts"]) for event in events]
    assert times == sorted(times)
    assert times[0] >= BEGINS
    assert times[-1] < BEGINS + timedelta(days=DAYS)
    made = {e["id"]: t for e, t in zip(events, times, strict=True) if e["type"] == "prediction"}
    for event, time in zip(events, times, strict=True):
        if event["type"] == "label":
            assert timedelta(hours=2) <= time - made[event["id"]] <= timedelta(days=2)


def test_table_and_events_hold_the_same_cases(printed):
    table = csv.DictReader(io.StringIO(printed("worse", "--csv")))
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
    assert found == rows_of(printed("worse"))


@pytest.mark.parametrize("story", STORIES)
def test_the_rates_are_those_of_the_story(printed, story):
    """Each within five standard errors."""
    cells = defaultdict(lambda: [0, 0, 0, 0])  # tp, fp, fn, tn
    for ts, score, prediction, region, _, label in rows_of(printed(story)).values():
        assert prediction == (score >= 0.5)
        assert region in REGIONS
        if label is not None:
            cells[datetime.fromisoformat(ts) >= CHANGES][2 * (1 - prediction) + 1 - label] += 1
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


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("story", STORIES)
def test_each_story_leads_to_its_verdict(capsys, tmp_path, printed, story, seed):
    path = tmp_path / "events.ndjson"
    path.write_text(printed(story, "--seed", seed))
    done = ran(capsys, "replay", path, "--json")
    assert (done.code, done.err) == (0, "")
    (model,) = json.loads(done.out)["models"].values()
    assert (model["verdict"], model["verdict_because"]) in VERDICTS[story]


def test_the_table_leads_to_the_verdict_of_the_events(capsys, tmp_path, printed):
    found = []
    for name, form in (("events.ndjson", ()), ("claims.csv", ("--csv",))):
        path = tmp_path / name
        path.write_text(printed("rarer", *form))
        (model,) = json.loads(ran(capsys, "replay", path, "--json").out)["models"].values()
        found.append((model["verdict"], model["outcomes"], model["windows"]["7d"]["outcomes"]))
    assert found[0] == found[1]


def test_a_replay_of_it_shows_no_dash(capsys, tmp_path, printed):
    path = tmp_path / "events.ndjson"
    path.write_text(printed("rarer"))
    shown = ran(capsys, "replay", path).out
    assert "0." in shown
    assert "—" not in shown
