"""What a new version means for the reference, the headline and the time of a change."""

from functools import cache

import pytest
from msgspec import UNSET
from watch import versioned
from watch.shadowed import shadow_config, shadowed
from watch.versioned import BEGAN, DAY, batches, config_of, model_of, stream

from monitor.cli.top import table
from monitor.drift.change_news import ChangeBegan
from monitor.engine import Monitor
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.status import status_answer
from monitor.prometheus.text import TextWriter
from monitor.report.answer_parts import time_text
from monitor.report.model_kinds import JudgedModel
from monitor.report.version_news_words import reference_versions_text

TEXT = """
models:
  m: {segments: [region, version], label_timeout: 3d, maturity: 1d, reference: {%s}}
pane: 10m
windows: [1d, 3d]
"""
FIRST = "first: 2d"
GIVEN = "counts: {tp: 27000, fp: 7000, fn: 3000, tn: 63000}"
"""Outcomes of version 6, of whom nobody knows how they scatter by day."""
STEP = 10 * 60_000
MANY = 4_800
"""Cases a day of which two days are reference enough within three."""
OLD, NEW = "6 (began 1970-01-01 00:00)", "7 (began 1970-01-04 05:00)"


def fed(events, config):
    """A monitor that has taken these events in some batches a day."""
    return versioned.fed(events, config, size=2_000)


def config(reference):
    return config_of(TEXT % reference)


@cache
def deployed(recall=(0.9, 0.5), **made):
    """Version 7 takes all of the traffic on the fourth day."""
    return stream(**{"recall": recall, "a_day": 2_400, "until": BEGAN, "days": 9, **made})


def status_of(monitor):
    return status_answer(monitor.snapshot(), limit=1).models[0]


def test_the_headline_says_which_version_a_change_began_with():
    status = status_of(fed(deployed(days=7), config(GIVEN)))
    assert status.verdict == "model_degraded"
    assert status.headline.startswith("Since version 7 (3.8 days, 100 % of the traffic), precision")
    assert status.new_version.change_began_with_it
    assert status.change_began.earliest <= "1970-01-04T05:00:00Z"
    assert status.change_began.latest > "1970-01-04T05:00:00Z"


def test_a_version_that_was_rolled_back_is_said_to_have_ended():
    """Version 7 decides for two days; then version 6 does again, and windows hold both."""
    rolled_back = BEGAN + 2 * DAY
    events = [
        e | {"version": "6"} if e["ts"] >= rolled_back and "version" in e else e
        for e in deployed(days=8)
    ]
    status = status_of(fed(events, config(GIVEN)))
    assert status.new_version.change_began_with_it
    last = max(e["ts"] for e in events if e.get("version") == "7")
    assert status.new_version.ended == time_text(int(last * 1000))
    assert status.new_version.traffic == 1  # while it was in use
    ended = "version 7 (48 hours until 1970-01-06 04:59, 100 % of the traffic), "
    assert status.headline.startswith("Since " + ended)
    soon = [e for e in events if e["ts"] < rolled_back + DAY / 2]
    assert status_of(fed(soon, config(GIVEN))).new_version.ended is None


@pytest.mark.parametrize("hours", [0.4, 7, 40, 75])
def test_the_share_of_the_traffic_is_that_since_the_version_began(hours):
    until = BEGAN + hours * 3_600
    events = [e for e in stream(a_day=2_400, days=7) if e["ts"] < until]
    since = [e["version"] for e in events if e["type"] == "prediction" and e["ts"] >= BEGAN]
    news = model_of(fed(events, config(GIVEN))).watched.new_version
    assert news.traffic == since.count("7") / len(since)
    now = max(e["ts"] for e in events) * 1000
    assert news.age_ms == pytest.approx(now - BEGAN * 1000, abs=120_000)


def test_a_version_that_is_not_counted_apart_has_no_share():
    settings = config_of((TEXT % GIVEN).replace("region, version", "region"))
    status = status_of(fed(deployed(days=7), settings))
    assert status.headline.startswith("Since version 7 (3.8 days), precision")
    assert status.new_version.traffic is None


@pytest.mark.parametrize("segments", ["region, version", "region"])
def test_the_first_version_after_predictions_without_one_is_new(segments):
    text = (TEXT % GIVEN).replace("region, version", segments)
    events = [
        {key: value for key, value in e.items() if (key, value) != ("version", "6")}
        for e in deployed(days=7)
    ]
    status = status_of(fed(events, config_of(text)))
    assert (status.new_version.version, status.new_version.change_began_with_it) == ("7", True)
    assert status.headline.startswith("Since version 7 (3.8 days")
    alone = [e for e in events if e["type"] == "label" or "version" in e]
    assert status_of(fed(alone, config_of(text))).new_version is None


def test_a_reference_restarts_with_the_first_version_after_predictions_without_one():
    events = [
        {key: value for key, value in e.items() if (key, value) != ("version", "6")}
        for e in deployed(days=9)
    ]
    monitor = fed(events, config(f"{FIRST}, on_version: restart"))
    reference = model_of(monitor).watched.reference
    assert 0 <= reference.opens - BEGAN * 1000 <= 3_600_000


def test_a_new_version_that_changed_nothing_is_said_to_be_new():
    status = status_of(fed(deployed((0.9, 0.9), days=6), config(GIVEN)))
    assert status.change_began is None
    assert not status.new_version.change_began_with_it
    assert ". New: version 7 (2.8 days" in status.headline
    later = status_of(fed(deployed((0.9, 0.9), days=9), config(GIVEN)))
    assert "version 7" not in later.headline


@pytest.mark.parametrize("until", [6 * DAY, 10 * DAY])
def test_of_versions_in_the_first_hour_the_one_that_compare_judges_is_new(until):
    """The record begins with a canary's prediction, minutes before one of the version beside it."""
    events = [e for e in stream(a_day=1_008) if BEGAN <= e["ts"] < until]
    assert [e["version"] for e in events if "version" in e][:2] == ["7", "6"]
    monitor = fed(events, config(FIRST))
    compared = model_of(monitor).versions_now.compared
    assert [one.name for one in compared.versions] == ["6", "7"]
    new = status_of(monitor).new_version
    assert (new.version, new.first_prediction) == ("7", "1970-01-04T05:00:00Z")


def test_a_worse_canary_is_named_while_it_predicts_where_the_whole_shows_nothing():
    canary = stream(recall=(0.9, 0.5), a_day=1_008, share=0.15)
    monitor = fed(canary, config(FIRST))
    compared = model_of(monitor).versions_now.compared
    old, new = (one["recall"].estimate for one in compared.comparison.decided_by.metrics)
    status = status_of(monitor)
    assert status.verdict == "insufficient_evidence"
    recall = f"recall .{100 * new:.0f} against .{100 * old:.0f}."
    assert status.headline.endswith(f" Version 7 is worse than 6 over the same time: {recall}")
    assert status.worse_version == "7"
    assert status.worse.answer == "not_shown"
    assert status.worse.text.startswith("Not shown for all versions together: ")
    assert status.worse.text.endswith(". Version 7 is worse than 6")
    series = 'classifier_version_worse{against="6",model="m",version="7"}'
    assert f"{series} 1.0\n" in TextWriter().write(monitor.snapshot()).decode()
    words = JudgedModel(status.verdict, status.verdict_because, worse_version=True).words
    assert (words.title, words.tone) == ("Version worse", "open")
    answer = status_answer(monitor.snapshot(), limit=1)
    assert (answer.tally, sum(answer.because.values())) == ({"version_worse": 1}, 1)
    assert "   1 version worse" in table(answer)[0]
    for kind, found in (("version_worse", 1), (status.verdict_because, 0)):
        assert status_answer(monitor.snapshot(), Selection(kind=kind), limit=1).total == found
    kept = status_of(fed(canary, config(f"{FIRST}, on_version: keep")))
    assert "version 7" not in kept.headline.lower()
    assert kept.worse_version is None


@pytest.mark.parametrize(("until", "in_use"), [(9.5, True), (8.5, False)])
def test_a_worse_canary_is_in_use_until_a_day_after_its_last_prediction(until, in_use):
    canary = stream(recall=(0.9, 0.4), a_day=1_008, share=0.3)
    end = until * DAY
    back = [e for e in canary if e["type"] == "label" or e["ts"] < end or e["version"] == "6"]
    monitor = fed(back, config(FIRST))
    compared = model_of(monitor).versions_now.compared
    assert compared.comparison.decided_by.found.verdict == "worse"
    status = status_of(monitor)
    assert ("is worse" in status.headline, status.worse_version == "7") == (in_use, in_use)
    series = 'classifier_version_worse{against="6",model="m",version="7"}'
    assert f"{series} {in_use:.1f}\n" in TextWriter().write(monitor.snapshot()).decode()


def test_an_equal_canary_and_a_worse_shadow_are_not_named_worse():
    equal = stream(recall=(0.9, 0.9), a_day=1_008)
    assert "is worse" not in status_of(fed(equal, config(FIRST))).headline
    monitor = fed(shadowed(equal, differs=0.4), shadow_config())
    verdict = model_of(monitor).versions_now.compared.comparison.decided_by.found.verdict
    assert verdict == "worse"
    assert "is worse" not in status_of(monitor).headline


def test_a_change_on_another_day_is_not_said_to_begin_with_the_version():
    old = deployed((0.9, 0.9), days=11)
    worse = deployed((0.9, 0.4), days=11)
    events = [
        late if early["ts"] >= 7 * DAY and early["type"] == "prediction" else early
        for early, late in zip(old, worse, strict=True)
    ]
    status = status_of(fed(events, config(GIVEN)))
    assert status.verdict == "model_degraded"
    assert not status.headline.startswith("Since")
    assert "1970-01-07T20:00:00Z" <= status.change_began.at <= "1970-01-08T04:00:00Z"
    assert not status.new_version.change_began_with_it


def test_kept_references_ignore_versions():
    status = status_of(fed(deployed(days=7), config(f"{GIVEN}, on_version: keep")))
    assert status.verdict == "model_degraded"
    assert status.new_version is None
    assert "version 7" not in status.headline
    assert status.change_began is not None


def test_a_restarted_reference_begins_with_the_new_version():
    monitor = fed(deployed(days=9), config(f"{FIRST}, on_version: restart"))
    reference = model_of(monitor).watched.reference
    assert reference.opens >= BEGAN * 1000 > reference.opens - 2 * 3_600_000
    assert reference.version == 2
    truth = fed([e for e in deployed(days=9) if e["ts"] >= BEGAN], config(FIRST))
    mine, theirs = (model_of(one).watched.reference for one in (monitor, truth))
    assert mine.counts.cells.tolist() == theirs.counts.cells.tolist()
    assert (mine.opens, mine.closes) == (theirs.opens, theirs.closes)


@pytest.mark.parametrize(
    ("reference", "until", "text"),
    [
        (FIRST, 9 * DAY, f"of version {OLD}"),
        (
            f"{FIRST}, on_version: restart",
            9 * DAY,
            "restarted with version 7 (began 1970-01-04 05:00)",
        ),
        (f"{FIRST}, on_version: keep", 9 * DAY, None),
        (FIRST, BEGAN, None),
        (GIVEN, 9 * DAY, None),
        (
            "window: {length: 5d, end: 1970-01-06}",
            9 * DAY,
            f"of versions {OLD} and {NEW}",
        ),
    ],
    ids=["compare", "restart", "keep", "one version", "counts", "both"],
)
def test_it_is_said_whose_reference_it_is(reference, until, text):
    made = deployed(days=9) if until > BEGAN else deployed(a_day=MANY, days=4)
    monitor = fed([e for e in made if e["ts"] < until], config(reference))
    period = status_of(monitor).reference
    named = reference_versions_text(period.versions, period.restarted_with) if text else None
    assert (named, text is None) == (text, period.versions is UNSET)


def test_a_reference_that_restarts_beside_another_version_names_both():
    canary = stream(a_day=2_400, days=9)
    monitor = fed(canary, config(f"{FIRST}, on_version: restart"))
    period = status_of(monitor).reference
    beside = f"restarted with version {NEW}, beside version {OLD}"
    assert reference_versions_text(period.versions, period.restarted_with) == beside


@pytest.mark.slow
@pytest.mark.parametrize("ended", [5, 7], ids=["before its reference is complete", "after"])
def test_a_restarted_reference_begins_anew_where_the_version_is_rolled_back(ended):
    """Versions 7 and 8 decide, 8 ends, 7 ends with it; then version 6 does again."""
    events = [
        e | {"version": "6" if e["ts"] >= ended * DAY else "78"[e["ts"] % 9 > 5]}
        if "version" in e and e["ts"] >= BEGAN
        else e
        for e in deployed(days=12)
    ]
    monitor = fed(events, config(f"{FIRST}, on_version: restart"))
    reference = model_of(monitor).watched.reference
    assert 0 <= reference.opens - ended * DAY * 1000 <= 3_600_000
    period = status_of(monitor).reference
    text = reference_versions_text(period.versions, period.restarted_with)
    assert text == f"restarted with version {OLD}"
    waits = fed(
        [e for e in events if e["ts"] < (ended + 2) * DAY], config(f"{FIRST}, on_version: restart")
    )
    assert model_of(waits).watched.reference is None
    assert model_of(waits).watched.awaited.restarted_with == "6"


def test_a_version_that_replaces_another_bit_by_bit_restarts_the_reference_once():
    """Version 7 takes over from version 6 within three days, and 6 ends."""
    events = [
        e | {"version": "67"[e["ts"] > BEGAN and (e["ts"] // 180) % 3 < (e["ts"] - BEGAN) / DAY]}
        if "version" in e
        else e
        for e in deployed(days=9)
    ]
    monitor = fed(events, config(f"{FIRST}, on_version: restart"))
    began = min(e["ts"] for e in events if e.get("version") == "7")
    assert 0 <= model_of(monitor).watched.reference.opens - began * 1000 <= 3_600_000


def test_until_the_new_reference_is_known_nothing_is_compared():
    before = fed(deployed(a_day=MANY, days=4), config(f"{FIRST}, on_version: restart"))
    assert model_of(before).watched.reference is not None
    waits = model_of(fed(deployed(days=6), config(f"{FIRST}, on_version: restart"))).watched
    assert waits.reference is None
    assert waits.awaited.about_ms > BEGAN * 1000 + 2 * DAY * 1000
    assert waits.awaited.restarted_with == "7"
    assert waits.new_version.name == "7"
    assert {one.verdict for one in waits.verdicts.values()} <= {"insufficient_evidence"}


def test_the_first_version_of_all_restarts_nothing():
    events = [e for e in deployed(days=9) if e["ts"] < 5 * DAY]
    events = [e | {"version": "7"} if "version" in e else e for e in events]
    reference = model_of(fed(events, config(f"{FIRST}, on_version: restart"))).watched.reference
    assert (reference.opens, reference.version) == (0, 1)


@pytest.mark.slow
def test_a_trailing_reference_restarts_too():
    monitor = fed(deployed(days=10), config("trailing: 2d, on_version: restart"))
    assert model_of(monitor).watched.reference.opens >= BEGAN * 1000
    early = fed(deployed(days=6), config("trailing: 2d, on_version: restart"))
    assert model_of(early).watched.reference is None


@pytest.mark.parametrize(
    "days", [pytest.param(4, marks=pytest.mark.slow), 6, pytest.param(8, marks=pytest.mark.slow)]
)
def test_a_restart_of_the_program_changes_nothing(days):
    made, settings = deployed(days=9), config(f"{FIRST}, on_version: restart")
    cut = next(i for i, e in enumerate(made) if e["ts"] >= days * DAY)
    again = Monitor(settings, fed(made[:cut], settings).state())
    for batch in batches(made[cut:], settings):
        again.apply(batch)
    mine, theirs = (model_of(one).watched for one in (again, fed(made, settings)))
    assert mine.reference.opens == theirs.reference.opens
    assert mine.reference.counts.cells.tolist() == theirs.reference.counts.cells.tolist()
    assert mine.verdicts.keys() == theirs.verdicts.keys()
    assert mine.evidence == theirs.evidence


def test_another_setting_of_on_version_leaves_the_reference_of_a_saved_state():
    made = deployed((0.8, 0.8), days=6)
    state = fed(made, config(FIRST)).state()
    again = Monitor(config(f"{FIRST}, on_version: keep"), state)
    assert model_of(again).watched.reference.opens == 0


def test_a_model_without_versions_finds_when_it_changed():
    events = [{k: v for k, v in e.items() if k != "version"} for e in deployed(days=7)]
    watched = model_of(fed(events, config(GIVEN))).watched
    assert watched.new_version is None
    assert isinstance(watched.began, ChangeBegan)
    assert watched.began.earliest <= BEGAN * 1000 < watched.began.latest


def test_a_worse_canary_is_named_where_the_version_before_it_had_no_name():
    canary = stream(recall=(0.9, 0.4), a_day=1_008, share=0.3)
    unnamed = [{k: v for k, v in e.items() if k != "version" or v == "7"} for e in canary]
    status = status_of(fed(unnamed, config(FIRST)))
    assert status.worse_version == "7"
    words = "Version 7 is worse than predictions without a version over the same time"
    assert words in status.headline
