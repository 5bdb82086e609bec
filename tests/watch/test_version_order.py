"""In which order versions stand, and which is judged as a canary grows."""

import pytest
from watch.recorded_versions import recorded
from watch.versioned import BEGAN, DAY, batches, config_of, fed, model_of, stream

from monitor.diagnosis.version_events import VersionEvents
from monitor.engine import Monitor

SHARES = (0.02, 0.1, 0.5, 0.9, 0.98, 0.98, 0.98)


def growing(recall, a_day=480):
    """A record that begins with a prediction of the canary, whose share grows by the day."""
    grown = stream(recall=recall, a_day=a_day, share=lambda ts: SHARES[int((ts - BEGAN) // DAY)])
    events = [e for e in grown if e["ts"] >= BEGAN]
    assert [e["version"] for e in events if "version" in e][:2] == ["7", "6"]
    return events


@pytest.mark.parametrize(("recall", "verdict"), [((0.9, 0.4), "worse"), ((0.4, 0.9), "better")])
def test_the_canary_is_judged_while_it_outgrows_the_version_beside_it(recall, verdict):
    events, config, verdicts = growing(recall), config_of(), []
    for step in range(1, len(SHARES) + 1):
        some = [e for e in events if e["ts"] < BEGAN + step * DAY]
        model = model_of(fed(some, config))
        live, new = model.versions_now.compared, model.watched.new_version
        assert new.name == "7"
        if live is not None:
            for found in (live, recorded(some, config, model.mature_until)):
                assert [one.name for one in found.versions] == ["6", "7"]
                verdicts.append(found.comparison.decided_by.found.verdict)
    assert len(verdicts) >= 10
    assert set(verdicts) == {"not_shown", verdict}
    assert verdicts[-2:] == [verdict, verdict]
    old, new = live.versions
    assert new.predictions > 1.25 * old.predictions


def test_a_rollout_within_the_first_hour_of_the_record_keeps_its_order():
    """All steps lie within 42 minutes; then version 7 has nearly all of the traffic."""
    minutes = [
        e | {"ts": BEGAN + (e["ts"] - BEGAN) / 240}
        for e in growing((0.9, 0.4))
        if e["type"] == "prediction"
    ]
    times = model_of(fed(minutes)).watched.new_version
    assert times.name == "7"
    traffic = VersionEvents([*batches(minutes, config_of())], "m", config_of().models["m"])
    assert [one.name for one in traffic.versions] == ["6", "7"]


def test_where_times_are_days_the_version_with_most_on_the_first_day_comes_first():
    days = [e | {"ts": e["ts"] // DAY * DAY} for e in growing((0.9, 0.4), a_day=2_400)]
    monitor, config = fed(days), config_of()
    assert model_of(monitor).watched.new_version.name == "7"
    traffic = VersionEvents([*batches(days, config)], "m", config.models["m"])
    assert [one.name for one in traffic.versions] == ["6", "7"]


def test_the_order_of_versions_survives_a_restart():
    events, config = growing((0.9, 0.4)), config_of()
    cut = next(i for i, e in enumerate(events) if e["ts"] >= BEGAN + 600)
    again = Monitor(config, fed(events[:cut], config).state())
    for batch in batches(events[cut:], config):
        again.apply(batch)
    names = [one.name for one in model_of(again).versions_now.compared.versions]
    assert names == ["6", "7"]
