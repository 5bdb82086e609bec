"""Lists of classes that grow, are learned, or are others after a restart."""

from __future__ import annotations

import json

import pytest
from class_streams import CHANGED, DAY, ClassStream, classes_of, only_model
from same import differences, through_disk

from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings


@pytest.mark.slow
def test_a_class_that_is_added_at_the_end_keeps_the_counts_and_the_reference() -> None:
    stream = ClassStream(change="confusion")
    monitor = Monitor(stream.config())
    for day, batch in enumerate(stream.batches(stream.config())):
        if day == CHANGED + 7:
            break
        monitor.apply(batch)
    names = [*stream.names, "new"]
    grown = stream.config(classes=names)
    restored, always = Monitor(grown, monitor.state()), stream.applied(classes=names)
    stopped, resumed = only_model(monitor).watched, only_model(restored).watched
    assert resumed.degradation_detected is stopped.degradation_detected is True
    assert resumed.detections == stopped.detections
    restored = Monitor(grown, restored.state())
    for day, batch in enumerate(stream.batches(grown)):
        if day >= CHANGED + 7:
            restored.apply(batch)
    lines = (
        json.dumps({"ts": 56 * DAY + n, "prediction": "new", "label": "class-0", "model": "mail"})
        for n in range(40)
    )
    later = Decoder(DecodeSettings.from_config(grown)).decode_lines(
        "\n".join([*lines, ""]).encode(), source="events"
    )
    found = []
    for one in (restored, always):
        one.apply(later)
        found.append(only_model(one))
    grown_one, from_the_start = found
    assert grown_one.classes["all"].names == tuple(names)
    assert (grown_one.classes["all"].matrix == from_the_start.classes["all"].matrix).all()
    assert grown_one.classes["all"].matrix[4].sum() == 40
    same, other = classes_of(grown_one), classes_of(from_the_start)
    assert (same.reference == other.reference).all()
    assert same.changes.keys() == other.changes.keys()
    for window, pairs in same.changes.items():
        assert [pair.text for pair in pairs] == [pair.text for pair in other.changes[window]]
    for name, one in same.by_class.items():
        verdicts = {window: verdict.verdict for window, verdict in one.verdicts.items()}
        known = {w: verdict.verdict for w, verdict in other.by_class[name].verdicts.items()}
        assert verdicts == known
        assert one.degradation_detected == other.by_class[name].degradation_detected


@pytest.mark.parametrize("names", [["class-1", "class-0"], ["class-0", "class-2", "class-3"]])
def test_any_other_list_of_classes_starts_the_model_empty(names: list[str]) -> None:
    stream = ClassStream(days=3)
    given = [*names, *(n for n in stream.names if n not in names), "new"]
    restored = Monitor(stream.config(classes=given), stream.applied().state())
    assert not only_model(restored).classes["all"].matrix.any()


@pytest.mark.slow
def test_learned_classes_are_watched_as_listed_ones() -> None:
    stream = ClassStream(change="confusion")
    learned = stream.applied(classes="learned")
    (saved,) = learned.state()["catalogue"]["models"]
    assert sorted(saved["classes"]) == stream.names
    listed = stream.applied(classes=saved["classes"])
    assert [*differences(through_disk(learned.state()), through_disk(listed.state()))] == []
    assert only_model(learned).watched.degradation_detected


@pytest.mark.slow
def test_a_class_that_is_learned_after_the_reference_is_watched_from_then_on() -> None:
    stream = ClassStream(a_day=900, days=16)
    config = stream.config(classes="learned", reference={"first": "7d"})
    states = []
    for size, looks, restarts in ((500, False, False), (90, True, False), (200, False, True)):
        rows = [row for day in stream.lines() for row in day.splitlines()]
        late = [row for row in rows if json.loads(row)["ts"] >= 10 * DAY or "class-3" not in row]
        monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
        for start in range(0, len(late), size):
            block = "\n".join(late[start : start + size]).encode()
            monitor.apply(decoder.decode_lines(block, source="events"))
            if looks:
                monitor.snapshot()
            if restarts:
                monitor = Monitor(config, through_disk(monitor.state()))
        found = only_model(monitor)
        assert found.classes["7d"].names[-1] == "class-3"
        assert found.classes["7d"].counts.tp[-1] > 100
        assert [*classes_of(found).by_class] == [*found.classes["7d"].names]
        assert classes_of(found).reference.shape == (4, 4)
        states.append(through_disk(monitor.state()["watch"]))
    assert [*differences(states[0], states[1])] == []
    assert [*differences(states[0], states[2])] == []
