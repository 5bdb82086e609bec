"""A fall in one segment value is named wherever its model is, though all cases together hide it."""

from functools import cache

import httpx
import pytest
from exporter.page.pages import HOUR, counts, fed, plain, served
from report.one_moment import DAY

from monitor.cli.replay_text import replay_text
from monitor.cli.top import table
from monitor.config import Config
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.engine import Monitor
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.status import status_answer
from monitor.prometheus.series_limit import limited
from monitor.prometheus.text import TextWriter
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.model_kinds import JudgedModel
from monitor.report.replay_json import replay_answer

LARGE = {"eu": (40, 20, 10, 430), "us": (24, 12, 6, 258)}
USUAL, FALLEN = (12, 6, 3, 129), (5, 6, 10, 129)
"""Outcomes (tp, fp, fn, tn) of asia in six hours: recall .8, then .33."""
SLID = (8, 1, 7, 134)
"""Another threshold: as many fewer false positives."""


@cache
def at(days, fallen, now=FALLEN):
    """The monitor after some days, at the end of which one region of three has other outcomes."""
    config = Config(models={"m": {"maturity": "1h", "segments": ["region"]}}, windows=["1d", "7d"])
    records = [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        | {"segment": {"region": region}}
        for day in range(days)
        for hour in range(0, 24, 6)
        for region, cells in {**LARGE, "asia": now if day >= days - fallen else USUAL}.items()
    ]
    return fed(Monitor(config), records)


def shown(monitor):
    """The status of the model, and the diagnosis of its latest data with its answer."""
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    return status, Queries(lambda: snapshot, lambda read: read(monitor)).explanation(
        None, None, None
    )


@pytest.mark.parametrize(
    ("days", "fallen", "phrase"),
    [
        (11, 3, "for region=asia recall fell from .80 to .46, for all cases not certainly"),
        (42, 7, "for region=asia recall fell from .80 to .35"),
        (42, 2, "but for region=asia recall fell from .80 to .68"),
    ],
)
def test_a_fall_in_one_segment_value_stands_in_headline_and_answer_everywhere(days, fallen, phrase):
    monitor = at(days, fallen)
    status, found = shown(monitor)
    assert status.headline == found.answer.headline
    assert phrase in status.worse.text
    assert phrase in found.answer.worse.text
    assert phrase.removeprefix("but ").removeprefix("for ") in status.headline
    assert "Nothing points to it" not in status.worse.text
    assert "no sign of a change" not in status.headline
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "m"}, timeout=60).text)
    texts = [
        page,
        replay_text(monitor.snapshot()),
        "\n".join(table(status_answer(monitor.snapshot(), limit=1))),
        diagnosis_text(found.diagnosis),
    ]
    assert [phrase in " ".join(text.split()) for text in texts] == [True] * len(texts)


def test_a_model_is_not_steady_while_one_of_its_segment_values_certainly_fell():
    status, found = shown(at(11, 3))
    assert (status.verdict, status.verdict_because) == ("insufficient_evidence", "moved_cause_open")
    assert found.answer.verdict_because == "moved_cause_open"


@pytest.mark.parametrize(("fallen", "now"), [(0, FALLEN), (7, SLID)])
def test_no_value_is_named_as_ever_or_where_its_odds_ratio_did_not_fall(fallen, now):
    status, found = shown(at(42, fallen, now))
    assert "region=asia" not in status.headline + status.worse.text
    assert "region=asia" not in found.answer.headline + found.answer.worse.text


@pytest.mark.parametrize(("days", "fallen"), [(11, 3), (42, 2)])
def test_a_model_with_a_worse_value_has_a_colour_and_a_kind_of_its_own(days, fallen):
    monitor = at(days, fallen)
    status, found = shown(monitor)
    (worse,) = status.worse_segments
    assert (worse.segment, worse.value, worse.rate) == ("region", "asia", "recall")
    assert worse.after < worse.before == pytest.approx(0.8)
    assert [(one.value, one.rate) for one in found.answer.worse_segments] == [("asia", "recall")]
    assert replay_answer(monitor.snapshot()).models["m"].worse_segments == status.worse_segments
    words = JudgedModel(status.verdict, status.verdict_because, worse_segment=True).words
    assert (words.title, words.tone) == ("Segment worse", "open")
    answer = status_answer(monitor.snapshot(), limit=1)
    assert answer.tally == {"segment_worse": 1}
    assert "   1 segment worse" in table(answer)[0]
    kinds = ("segment_worse", status.verdict_because or status.verdict)
    totals = [status_answer(monitor.snapshot(), Selection(kind=k), limit=1).total for k in kinds]
    assert totals == [1, 0]
    with served(monitor) as url:
        pages = [httpx.get(url, params=p, timeout=60).text for p in ({}, {"model": "m"})]
    assert ["Segment worse" in plain(page) for page in pages] == [True, True]


def test_a_worse_value_is_listed_below_certain_falls_and_above_whatever_else_moved():
    def place(verdict, because=None, **more):
        return JudgedModel(verdict, because, **more).urgency

    open_ = Verdict.INSUFFICIENT_EVIDENCE
    falls = (Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED)
    others = [place(one) for one in Verdict if one not in (*falls, open_)]
    others += [place(open_, because) for because in Because]
    for verdict in (open_, Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT):
        because = Because.STEADY if verdict is open_ else None
        worse = place(verdict, because, worse_segment=True)
        assert max(map(place, falls)) < worse < min(others)
        assert worse == place(verdict, because, worse_segment=True, worse_version=True)


def test_a_worse_value_has_a_series_also_where_others_are_left_out():
    snapshot = at(42, 2).snapshot()
    series = 'classifier_segment_worse{model="m",segment="region",value="%s"} %.1f\n'
    for part in (snapshot, *[limited(snapshot, most)[0] for most in range(700, 1300, 50)]):
        text = TextWriter().write(part).decode()
        for one in part.series:
            if one.segment is not None:
                assert series % (one.value, one.value == "asia") in text
    assert "classifier_segment_worse{" not in TextWriter().write(at(5, 0).snapshot()).decode()


def test_values_that_swing_by_days_on_their_own_are_not_worse_on_low_days():
    """The days of asia and eu swing in opposite ways, so that all cases do not show it."""
    high = (14, 6, 1, 129)
    opposite = {high: (36, 20, 14, 430), FALLEN: (45, 20, 5, 430)}
    days = [high, FALLEN] * 4 + [FALLEN] * 3

    def named(swings):
        config = Config(
            models={"m": {"maturity": "1h", "segments": ["region"]}}, windows=["1d", "7d"]
        )
        records = [
            counts("m", day * DAY + hour * HOUR, [*cells, sum(cells[:2]), sum(cells[2:])])
            | {"segment": {"region": region}}
            for day, now in enumerate(days)
            for hour in range(0, 24, 6)
            for asia in [now if swings or day >= len(days) - 3 else USUAL]
            for eu in [opposite[now] if swings else LARGE["eu"]]
            for region, cells in {"asia": asia, "eu": eu}.items()
        ]
        status, found = shown(fed(Monitor(config), records))
        assert len(found.answer.worse_segments or ()) == len(status.worse_segments)
        return [one.value for one in status.worse_segments]

    assert named(swings=False) == ["asia"]
    assert named(swings=True) == []
