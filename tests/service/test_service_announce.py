from dataclasses import replace

from exporters.snapshots import snapshot, watched

from monitor.drift import Verdict
from monitor.service.announce import announcements
from monitor.snapshot import Detected


def of(found):
    state = snapshot()
    return replace(state, models=tuple(replace(m, watched=found) for m in state.models))


def test_a_verdict_that_changes_is_said_in_one_line_with_its_causes():
    after = watched()
    quiet = replace(after.verdicts["1d"], verdict=Verdict.NO_CHANGE)
    before = replace(after, verdicts={"1d": quiet})
    (line,) = announcements(of(before), of(after))
    assert line.startswith(f"fraud, 1d: no_change -> {after.verdicts['1d'].verdict}; ")
    assert "precision 0.441 -> 0.208, in points: prevalence -23." in line


def test_what_has_not_changed_is_not_said_again():
    assert list(announcements(of(watched()), of(watched()))) == []


def test_the_first_verdicts_are_not_news():
    empty = replace(watched(), verdicts={})
    assert list(announcements(of(empty), of(watched()))) == []


def test_each_detection_is_said_once():
    one = replace(watched(), detections=(Detected(0, "prevalence_shift"),))
    two = replace(one, detections=(*one.detections, Detected(86_400_000, "model_degraded")))
    assert list(announcements(of(one), of(two))) == [
        "fraud: model_degraded detected as of 1970-01-02T00:00:00Z"
    ]
