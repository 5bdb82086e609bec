"""Two versions over the hours that a monitor holds: the same as over its recorded events."""

import numpy as np
import pytest
from watch.recorded_versions import recorded, same
from watch.shadowed import shadowed
from watch.versioned import BEGAN, CONFIG, DAY, HOUR, batches, config_of, fed, model_of, stream

from monitor.config import parse_config
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events import counted_values
from monitor.events.columns import OTHER_VALUE
from monitor.exporter.api.status import status_answer
from monitor.prometheus.text import TextWriter
from monitor.report.model_headline import model_headline
from monitor.report.versions_now import versions_reading
from monitor.report.versions_text import versions_text
from monitor.report.versions_words import versions_headline
from monitor.report.worse_version import worse_version_in_use
from monitor.windows import version_counts

SILENT = """
models:
  m: {segments: [version, region], label_timeout: 1d, labelling: negatives_by_timeout}
"""


@pytest.mark.parametrize("recall", [(0.8, 0.8), (0.9, 0.5)])
def test_a_live_comparison_equals_that_of_the_recorded_events(recall):
    events, config = stream(recall=recall), config_of()
    model = model_of(fed(events))
    until = model.mature_until // 3_600_000 * 3_600_000
    same(model.versions_now.compared, recorded(events, config, until))
    assert model.versions_now.compared.anytime


def test_it_equals_that_of_recorded_events_where_silence_is_a_negative():
    events, config = stream(), parse_config(SILENT, "monitor.yaml")
    events = [e for e in events if e.get("label") != 0]
    model = model_of(fed(events, config))
    until = model.mature_until // 3_600_000 * 3_600_000
    found = model.versions_now.compared
    same(found, recorded(events, config, until))
    assert found.comparison.outcomes == sum(found.predictions)


def test_a_version_of_duplicates_alone_is_named_with_what_to_configure():
    old = [e | {"version": "6"} if "version" in e else e for e in stream(days=6, a_day=48)]
    new = [e | {"version": "7", "ts": e["ts"] + 1} for e in old if e["type"] == "prediction"]
    both = sorted([*old, *new], key=lambda e: e["ts"])
    why = model_of(fed(both)).versions_now.not_compared
    assert "there is only '6'" in why
    assert why.count("; every prediction of '7' is of an id that was already predicted") == 1
    assert "configure it in shadow_versions" in why
    assert "duplicate" not in model_of(fed(old)).versions_now.not_compared
    configured = config_of(CONFIG.replace("maturity: 1d", 'maturity: 1d, shadow_versions: ["7"]'))
    assert model_of(fed(both, configured)).versions_now.compared.comparison.by_pairs


@pytest.mark.parametrize("size", [1, 500])
@pytest.mark.parametrize("later_first", [False, True])
def test_of_two_versions_that_predict_an_id_at_one_time_all_cases_count_for_the_same(
    later_first, size
):
    old = [e | {"version": "6"} if "version" in e else e for e in stream(days=4, a_day=48)]
    both = shadowed(old, late=0.0, differs=0.3, name="7")
    if later_first:
        both.sort(key=lambda e: (e["ts"], e.get("version") != "7"))
    monitor = fed(both, size=size)
    found, alone = (one.snapshot().lifetime.counts for one in (monitor, fed(old)))
    assert (found.cells[: len(alone.cells)] == alone.cells).all()
    assert not found.cells[len(alone.cells) :].any()
    now = model_of(monitor).versions_now
    assert now.compared is None or now.compared.comparison.decided_by.found.verdict == "not_shown"


def test_a_worse_version_is_called_worse_and_an_equal_one_is_not():
    found = {}
    for name, recall in {"worse": (0.9, 0.5), "as before": (0.8, 0.8)}.items():
        model = model_of(fed(stream(a_day=1_008, recall=recall)))
        found[name] = model.versions_now.compared.comparison.decided_by.found.verdict
    assert found["worse"] == "worse"
    assert found["as before"] in ("equal", "not_shown")


def test_the_last_days_are_compared_where_they_are_asked_for_and_hold_for_one_look():
    monitor = fed(stream())
    until = model_of(monitor).mature_until
    found = monitor.versions.compare("m", until, last=2 * DAY * 1000).compared
    assert found.within.closes - found.within.opens == 2 * DAY * 1000
    assert not found.anytime
    whole = monitor.versions.compare("m", until).compared
    assert whole.within.opens == BEGAN * 1000
    assert whole.comparison.outcomes > 2 * found.comparison.outcomes


def test_predictions_without_a_version_have_a_beginning_and_have_not_ended():
    events = [{k: v for k, v in e.items() if (k, v) != ("version", "6")} for e in stream()]
    monitor = fed(events)
    again = Monitor(config_of(), monitor.state())
    for one in (monitor, again):
        snapshot, model = one.snapshot(), model_of(one)
        assert model.versions_now.compared.ended is None
        rows = versions_reading(snapshot, model, model.versions_now).answer.versions
        began = {row.version: row.first_prediction for row in rows}
        assert began == {"__missing__": "1970-01-01T00:00:00Z", "7": "1970-01-04T05:00:00Z"}
    old = monitor.state()
    del old["unnamed"]
    later = Monitor(config_of(), old)
    assert model_of(later).versions_now.unnamed is None
    for batch in batches([events[-1] | {"ts": 10 * DAY, "type": "prediction"}], config_of()):
        later.apply(batch)
    assert model_of(later).versions_now.unnamed.first is None


def test_predictions_without_a_version_that_ended_are_still_listed():
    ended = 6 * DAY
    events = [
        {k: v for k, v in e.items() if (k, v) != ("version", "6")} for e in stream(until=ended)
    ]
    snapshot, model = fed(events).snapshot(), model_of(fed(events))
    rows = versions_reading(snapshot, model, model.versions_now).answer.versions
    assert [(row.version, row.traffic) for row in rows] == [("__missing__", None), ("7", 1.0)]
    came = [e["ts"] for e in events if e["type"] == "prediction" and "version" not in e]
    assert model.versions_now.unnamed[:2] == (min(came) * 1000, max(came) * 1000)


def test_a_canary_is_compared_with_the_version_beside_it_and_not_with_one_rolled_back_before():
    events = [
        event | ({"version": "5"} if event.get("version") == "7" and event["ts"] < 6 * DAY else {})
        for event in stream(a_day=1_008)
        if event.get("version") != "7" or not 6 * DAY <= event["ts"] < 7 * DAY
    ]
    model = model_of(fed(events))
    live, other = model.versions_now.compared, recorded(events, config_of(), model.mature_until)
    for found, hour in ((live, 7 * 24 + 1), (other, 7 * 24)):  # its first whole hour, and the one
        assert [one.name for one in found.versions] == ["6", "7"]  # in which it began
        assert found.within.opens // 3_600_000 == hour


def test_versions_that_share_but_the_hours_of_a_swap_are_compared_over_time():
    """Version 7 takes all traffic within an hour, and gives it back two days later."""
    began, back = BEGAN + 1_234, BEGAN + 2 * DAY + 2_345
    events = [
        e | {"version": "67"[began <= e["ts"] < back]} if "version" in e else e
        for e in stream(a_day=2_400, days=9)
    ]
    model = model_of(fed(events))
    found = model.versions_now.compared
    assert found.predictions[0] == 0
    assert found.because == "other_times"
    assert "compare two stretches of time with diagnose" in versions_headline(found)


def test_a_stray_prediction_of_another_version_hides_no_canary_that_is_worse():
    events = stream(recall=(0.9, 0.5), a_day=1_008)
    at = 6 * DAY
    stray = [
        {"type": "prediction", "id": "x", "ts": at, "prediction": 1, "version": "dev", "model": "m"}
        | {"segment": {"region": "a"}},
        {"type": "label", "id": "x", "ts": at + HOUR, "label": 0},
    ]
    events = sorted([*events, *stray], key=lambda event: event["ts"])
    model = model_of(fed(events))
    until = model.mature_until // 3_600_000 * 3_600_000
    live, other = model.versions_now.compared, recorded(events, config_of(), until)
    same(live, other)
    for found in (live, other):
        assert [one.name for one in found.versions] == ["6", "7"]
        assert found.comparison.decided_by.found.verdict == "worse"
        assert found.too_new.name == "dev"
        assert "New: version dev began 1970-01-07" in " ".join(versions_text(found).split())
    assert worse_version_in_use(model) is live
    asked = recorded(events, config_of(), until, versions=("6", "dev"))
    assert (asked.versions[1].name, asked.too_new) == ("dev", None)


@pytest.mark.parametrize("ends", [None, 8])
def test_a_worse_canary_stays_named_when_another_begins(ends):
    """Version 8, as good as 6, takes half of its traffic; 7 is worse, until it is rolled back."""
    events = []
    for n, event in enumerate(stream(recall=(0.9, 0.5), a_day=1_008)):
        if event.get("version") == "7" and ends is not None and event["ts"] > ends * DAY:
            continue
        new = event.get("version") == "6" and event["ts"] > 6 * DAY and n % 4 < 2
        new = new or ("version" in event and event["ts"] == 6 * DAY)
        events.append(event | ({"version": "8"} if new else {}))
    monitor = fed(events)
    model = model_of(monitor)
    until = model.mature_until // 3_600_000 * 3_600_000
    live, other = model.versions_now.compared, recorded(events, config_of(), until)
    same(live, other)
    assert [one.name for one in live.versions] == ["6", "8"]
    worse = worse_version_in_use(model)
    text = TextWriter().write(monitor.snapshot()).decode()
    verdict = 'classifier_version_verdict{against="6",model="m",verdict="worse",version="%s"} %s\n'
    assert verdict % ("8", "0.0") in text
    assert (verdict % ("7", "1.0") in text) == (ends is None)
    if ends is not None:
        assert worse is None
        return
    assert [one.name for one in worse.versions] == ["6", "7"]
    same(worse, recorded(events, config_of(), until, versions=("6", "7")))
    assert 'classifier_version_worse{against="6",model="m",version="7"} 1.0\n' in text
    assert 'classifier_version_worse{against="6",model="m",version="8"} 0.0\n' in text
    assert status_answer(monitor.snapshot(), limit=1).models[0].worse_version == "7"


@pytest.mark.parametrize(("on_version", "named"), [("compare", "7"), ("keep", None)])
def test_a_worse_version_is_named_where_the_newest_cannot_be_compared_yet(on_version, named):
    """Version 7 ends at day 9.3 and version 8 begins at 9.4: none of its outcomes is mature."""
    events = []
    for event in stream(recall=(0.9, 0.5), a_day=1_008):
        if event.get("version") == "7" and event["ts"] >= 9.3 * DAY:
            event["version"] = "8" if event["ts"] >= 9.4 * DAY else "6"
        events.append(event)
    config = config_of(
        CONFIG.replace("{segments", f"{{reference: {{on_version: {on_version}}}, segments")
    )
    monitor = fed(events, config)
    model = model_of(monitor)
    assert model.versions_now.compared is None
    assert "outcomes are mature up to" in model.versions_now.not_compared
    worse = worse_version_in_use(model)
    assert (worse and worse.versions[1].name) == named
    assert status_answer(monitor.snapshot(), limit=1).models[0].worse_version == named


def test_a_version_is_in_use_by_the_predictions_however_late_the_labels_come():
    events = stream(recall=(0.9, 0.5), a_day=1_008)
    late = {"type": "label", "id": "i9000", "ts": 12.5 * DAY, "label": 1}
    assert worse_version_in_use(model_of(fed([*events, late]))) is not None
    rolled_back = [
        e | {"version": "6"} if e["ts"] > 8 * DAY and "version" in e else e for e in events
    ]
    assert worse_version_in_use(model_of(fed(rolled_back))) is None


def test_either_version_may_be_the_one_that_is_judged():
    monitor = fed(stream(recall=(0.9, 0.5), a_day=1_008))
    until = model_of(monitor).mature_until
    found = monitor.versions.compare("m", until, ("7", "6")).compared
    assert [one.name for one in found.versions] == ["7", "6"]
    assert found.comparison.strata.found.verdict == "better"


def test_what_cannot_be_compared_is_refused_with_the_reason():
    monitor = fed(stream(until=BEGAN))
    assert "never predicted at the same time" in model_of(monitor).versions_now.not_compared
    until = model_of(monitor).mature_until
    asked = monitor.versions.compare("m", until, ("6", "8"))
    assert asked.not_compared.startswith("version '8' has no prediction yet; known are '6' (")
    young = fed([e for e in stream() if e["ts"] < BEGAN + HOUR])
    now = model_of(young).versions_now
    assert now.compared is None
    assert "outcomes are mature up to 1970-01-03T05:00:00Z alone" in now.not_compared
    old = fed([e for e in stream() if e["ts"] < BEGAN])
    assert "there is only '6'" in model_of(old).versions_now.not_compared


CAPPED = "models: {m: {segments: [version, region], label_timeout: 3d, max_segment_values: 1}}"


def test_versions_that_have_no_series_of_their_own_are_compared_as_those_that_have():
    events, config = stream(), parse_config(CAPPED, "monitor.yaml")
    monitor = fed(events, config)
    names = [one.value for one in monitor.snapshot().series if one.segment == "version"]
    assert names == ["6", OTHER_VALUE]
    assert monitor.snapshot().overflowed_values > 0
    until = model_of(monitor).mature_until // 3_600_000 * 3_600_000
    found = model_of(monitor).versions_now.compared
    assert [one.name for one in found.versions] == ["6", "7"]
    again = Monitor(config, monitor.state())
    same(model_of(again).versions_now.compared, found)
    other = recorded(events, config, until)
    for mine, theirs in zip(found.comparison.counts, other.comparison.counts, strict=True):
        assert mine.cells.tolist() == theirs.cells.tolist()
    change = other.comparison.strata.found.change
    assert found.comparison.strata.found.change == pytest.approx(change, rel=1e-12)


def test_beyond_the_most_names_it_says_where_versions_are_compared(monkeypatch):
    monkeypatch.setattr(counted_values, "MOST_VERSION_NAMES", 1)
    monitor = fed(stream(until=BEGAN), parse_config(CAPPED, "monitor.yaml"))
    model = model_of(monitor)
    advice = "compare recorded events with --feed FILE"
    assert advice in model.versions_now.not_compared
    asked = monitor.versions.compare("m", model.mature_until, ("6", "7"))
    assert asked.not_compared.startswith("no version is counted by the name '7'; ")
    assert advice in asked.not_compared


def test_without_the_version_among_the_segments_nothing_is_compared():
    config = parse_config("models: {m: {segments: [region], label_timeout: 3d}}", "monitor.yaml")
    monitor = fed(stream(days=5), config)
    model = model_of(monitor)
    assert model.versions_now is None
    assert [name for name, _ in model.versions] == ["6", "7"]
    with pytest.raises(UsageError, match=r"segments: \[version\]"):
        monitor.versions.compare("m", model.mature_until)
    assert "version_counts" not in monitor.state()


def test_labels_that_are_a_sample_are_refused():
    text = "models: {m: {segments: [version], label_timeout: 3d, labelling: sampled}}"
    model = model_of(fed(stream(days=6), parse_config(text, "monitor.yaml")))
    assert "cannot be compared under labelling sampled" in model.versions_now.not_compared


def test_a_look_between_batches_changes_no_later_answer():
    events = stream(recall=(0.9, 0.6))
    monitor, config = fed([]), config_of()
    for batch in batches(events, config, 300):
        monitor.apply(batch)
        monitor.snapshot()
    one, other = model_of(monitor).versions_now, model_of(fed(events)).versions_now
    same(one.compared, other.compared)
    assert one.compared.versions == other.compared.versions


def test_where_the_oldest_hours_are_dropped_the_verdict_holds_for_one_look(monkeypatch):
    monkeypatch.setattr(version_counts, "HELD_HOURS", 3 * 24)
    found = model_of(fed(stream())).versions_now.compared
    assert not found.anytime
    assert found.within.opens > BEGAN * 1000
    assert found.within.closes - found.within.opens <= 3 * DAY * 1000
    assert np.isfinite(found.comparison.strata.found.change)


EARLY = """
models: {m: {segments: [version], label_timeout: 3d, maturity: 1d, reference: {first: 7d}}}
windows: [28d]
"""


@pytest.mark.parametrize(
    ("days", "recall", "words"),
    [
        (8, (0.9, 0.5), "Nothing is compared with the reference: "),
        (12, (0.9, 0.5), "Precision "),
        (12, (0.8, 0.8), "Precision "),
    ],
)
def test_beside_a_worse_version_it_is_the_reference_that_nothing_is_compared_with(
    days, recall, words
):
    config = parse_config(EARLY, "monitor.yaml")
    monitor = fed(stream(recall=recall, a_day=1_008, days=days), config)
    found = model_headline(monitor.snapshot(), model_of(monitor), "28d")
    assert found.startswith(words)
    is_worse = "Version 7 is worse than 6 over the same time: recall" in found
    assert is_worse == (recall == (0.9, 0.5))
