import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest
from prometheus.snapshots import snapshot, watched

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.engine import Monitor
from monitor.events.came_expired import CameExpired
from monitor.events.forgotten import Forgotten
from monitor.events.jumps import Jumps
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.announce import announcements
from monitor.verdicts import Detected


def of(found):
    state = snapshot()
    return replace(state, models=tuple(replace(m, watched=found) for m in state.models))


def test_a_verdict_that_changes_is_announced_in_one_line_with_its_causes():
    after = watched()
    quiet = replace(after.verdicts["1d"], verdict=Verdict.NO_CHANGE)
    before = replace(after, verdicts={"1d": quiet})
    (line,) = announcements(of(before), of(after))
    assert line.startswith(f"fraud, 1d: no_change -> {after.verdicts['1d'].verdict}; ")
    assert "precision 0.441 -> 0.208, in points: prevalence -23." in line


@pytest.mark.parametrize("undefined", [("prevalence", "recall"), ("recall",)])
def test_causes_whose_part_is_undefined_are_left_out(undefined):
    after = watched()
    known = after.verdicts["1d"]
    points = {**known.attribution.points, **dict.fromkeys(undefined, math.nan)}
    some = replace(known, attribution=replace(known.attribution, points=points))
    before = {"1d": replace(known, verdict=Verdict.NO_CHANGE)}
    (line,) = announcements(
        of(replace(after, verdicts=before)), of(replace(after, verdicts={"1d": some}))
    )
    assert "nan" not in line
    assert "recall" not in line
    assert ("in points: prevalence -23." in line) == ("prevalence" not in undefined)
    nothing = dict.fromkeys(points, math.nan)
    none = replace(known, attribution=replace(known.attribution, points=nothing))
    (line,) = announcements(
        of(replace(after, verdicts=before)), of(replace(after, verdicts={"1d": none}))
    )
    assert line.endswith("precision 0.441 -> 0.208")


def test_an_unchanged_verdict_is_not_announced_again():
    assert list(announcements(of(watched()), of(watched()))) == []


def test_the_first_verdicts_are_not_news():
    empty = replace(watched(), verdicts={})
    assert list(announcements(of(empty), of(watched()))) == []


def test_each_detection_is_announced_once():
    one = replace(watched(), detections=(Detected(0, "prevalence_shift"),))
    two = replace(one, detections=(*one.detections, Detected(86_400_000, "model_degraded")))
    assert list(announcements(of(one), of(two))) == [
        "fraud: model_degraded detected as of 1970-01-02T00:00:00Z"
    ]


def test_of_many_classes_a_detection_names_its_class_wherever_it_stands_in_time():
    """By their number, one that lies before another was not announced, and that one twice."""
    known = Detected(86_400_000, "prevalence_shift", "loan")
    one = replace(watched(), detections=(known,))
    two = replace(one, detections=(Detected(0, "prevalence_shift", "ca\nrd"), known))
    assert list(announcements(of(one), of(two))) == [
        "fraud: prevalence_shift of ca\\nrd detected as of 1970-01-01T00:00:00Z"
    ]


def test_every_new_reference_is_announced():
    old = watched()
    new = replace(old, reference=replace(old.reference, version=2, source="trailing"))
    assert list(announcements(of(old), of(new))) == [
        (
            "fraud: reference no. 2 (it replaced no. 1), the trailing days, "
            "1970-01-01T00:00:00Z..1970-01-01T01:00:00Z, 28,291 outcomes, r0 = 0.4613"
        )
    ]
    (line,) = announcements(of(replace(old, reference=None)), of(old))
    assert "reference no. 1, the first days" in line


def test_a_class_ratio_far_from_the_references_gives_one_caution():
    before = ConfusionCounts(tp=80_000, fp=45_000, fn=20_000, tn=855_000)
    after = ConfusionCounts(tp=800, fp=4_950, fn=200, tn=94_050)
    old = watched()
    far = replace(old.verdicts["1d"], judgement=judge(before, after))
    new = replace(old, verdicts={"1d": far})
    (line,) = announcements(of(old), of(new))
    assert line.startswith(
        "CAUTION: fraud, 1d: the class ratio is 11.0 times below the reference's; precision at r0 "
        "is an extrapolation"
    )
    assert not list(announcements(of(new), of(new)))


def test_a_reference_of_hardly_any_outcomes_gives_no_caution_of_its_class_ratio():
    before = ConfusionCounts(tp=2, fp=0, fn=1, tn=0)
    few = judge(before, ConfusionCounts(tp=1, fp=2, fn=0, tn=9))
    assert abs(few.change["class_ratio"]) > math.log(5)
    old = watched()
    window = replace(old.verdicts["1d"], judgement=few)
    assert not window.far_from_reference
    assert not list(announcements(of(old), of(replace(old, verdicts={"1d": window}))))


def test_events_that_are_set_aside_give_one_caution_until_there_are_none():
    def state(*aside):
        known = of(watched())
        return replace(known, models=tuple(replace(m, aside=aside) for m in known.models))

    (line,) = announcements(state(0, 4), state(3, 7))
    assert line.startswith("CAUTION: fraud: 3 events dated far ahead of 2026-11-02T12:00:00Z, ")
    assert "no window until 256 or more agree with them" in line
    assert "after a gap in the predictions that is no fault, otherwise correct the clock" in line
    assert not list(announcements(state(3, 7), state(9, 13)))
    assert not list(announcements(state(3, 7), state(0, 7)))


def of_model(**changes):
    known = of(watched())
    return replace(known, models=tuple(replace(m, **changes) for m in known.models))


def test_each_jump_of_a_time_is_announced_with_its_cause_and_the_way_back():
    jumps = Jumps(2, 1_785_585_600_000, 1_786_795_200_000, 700)
    (line,) = announcements(of_model(jumps=Jumps(1)), of_model(jumps=jumps))
    assert line == (
        "CAUTION: fraud: its time went from 2026-08-01T12:00:00Z to 2026-08-15T12:00:00Z, as 700 "
        "events agreed; after a gap in the predictions that is no fault, otherwise stop the "
        "monitor and set the time back by `precision-monitor state take-back`, see "
        "EventTimesAhead in deploy/README.md"
    )
    assert not list(announcements(of_model(jumps=jumps), of_model(jumps=jumps)))


def test_predictions_that_come_expired_are_announced_by_every_power_of_ten():
    def lines(before, after):
        came = [of_model(came_expired=CameExpired(n, 1_200_000_000)) for n in (before, after)]
        return list(announcements(*came))

    (line,) = lines(0, 7)
    assert line.startswith(
        "CAUTION: fraud: 7 predictions came up to 13.9 days behind the time of the model, after "
        "their horizon: they are expired, and their labels count nowhere; "
    )
    assert "precision-monitor state take-back" in line
    assert (len(lines(7, 9)), len(lines(7, 10)), len(lines(10, 10))) == (0, 1, 0)


def test_each_forgotten_model_is_announced_with_what_it_counted():
    before = snapshot()
    after = replace(before, models=(), forgotten=Forgotten(models=3))
    first, last = announcements(before, after)
    assert first == (
        "fraud: forgotten, as it has been silent for forget_after; "
        "precision_monitor_forgotten_outcomes_total has what it counted: "
        "2,202 tp, 5,865 fp, 4,551 fn, 8,396 tn"
    )
    assert last == "2 models that came and fell silent meanwhile: forgotten"


def test_a_model_that_a_reload_removed_is_not_announced_as_forgotten():
    before = snapshot()
    assert list(announcements(before, replace(before, models=()))) == []


def test_classes_that_a_model_learns_are_announced():
    config = Config(models={"mail": {"classes": "learned"}})
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    states = [monitor.snapshot()]
    for number, (name, label) in enumerate([("card", "card"), ("loan", "spam"), ("card", "loan")]):
        head = {"id": f"p{number}", "ts": number}
        made = {"type": "prediction", **head, "prediction": name}
        rows = [made, {"type": "label", **head, "label": label}]
        block = "\n".join(map(json.dumps, rows)).encode()
        monitor.apply(decoder.decode_lines(block, source="events"))
        states.append(monitor.snapshot())
    assert [list(announcements(*pair)) for pair in pairwise(states)] == [
        ["mail: new among the predicted classes: card"],
        [
            (
                "CAUTION: mail: a label has a class that was never predicted before, or there are "
                "over 49 classes: it counts as __other__"
            ),
            "mail: new among the predicted classes: loan",
        ],
        [],
    ]
    assert list(announcements(Monitor(config).snapshot(), states[0])) == []


@pytest.mark.parametrize("classes", ["learned", ["card", "loan", "other"]])
def test_the_first_classes_of_a_model_that_events_name_are_announced(classes):
    config = Config(defaults={"classes": classes})
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    before = monitor.snapshot()
    made = {"type": "prediction", "model": "mail", "id": "p", "ts": 0, "prediction": "card"}
    monitor.apply(decoder.decode_lines(json.dumps(made).encode(), source="events"))
    lines = ["mail: new among the predicted classes: card"] if classes == "learned" else []
    assert list(announcements(before, monitor.snapshot())) == lines


def test_precision_without_a_flagged_case_is_undefined_in_words():
    after = watched()
    known = after.verdicts["1d"]
    dead = replace(known, attribution=replace(known.attribution, precision_after=math.nan))
    before = replace(after, verdicts={"1d": replace(known, verdict=Verdict.NO_CHANGE)})
    (line,) = announcements(of(before), of(replace(after, verdicts={"1d": dead})))
    assert line.endswith("; precision 0.441 -> undefined, as nothing is flagged")
