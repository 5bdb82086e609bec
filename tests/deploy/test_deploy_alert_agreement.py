"""What an alert says of a moment is what the API says of it."""

import re

import pytest
from deploy.expressions import RULES
from deploy.fired import texts, written
from report.one_moment import THEN, at

from monitor.exporter.api.status import status_answer
from monitor.prometheus.text import TextWriter

pytestmark = pytest.mark.system

ASKED = (
    "ModelDegraded",
    "PrevalenceShift",
    "OperatingPointMoved",
    "PredictionsDegenerate",
    "LabelsNotTrustworthy",
)
WITHOUT_A_CHANGE = ("one bad day", "an hour alone compared", "reference incomplete", "first hours")
LASTING = "pages after the fault"
"""Moment of a page at which no window is degraded."""
AT_ITS_LEVEL = "worse at another threshold"
"""Moment of a page at which the windows are degraded against the level of the model."""
_SAMPLE = re.compile(r"([a-z_]\S*) (\S+)")


def fired(promtool, folder, snapshot):
    """Summaries of the alerts about a model, by name, after two hours of one snapshot."""
    lines = TextWriter().write(snapshot).decode().splitlines()
    samples = [_SAMPLE.match(line) for line in lines if line.startswith("classifier_")]
    series = [{"series": found[1], "values": values(found[2])} for found in samples]
    asked = [{"eval_time": "2h", "alertname": name, "exp_alerts": []} for name in ASKED]
    test = {"interval": "5m", "input_series": series, "alert_rule_test": asked}
    path = written(folder, RULES.read_text(), [test], every="5m")
    return {name: found["summary"] for name, found in texts(promtool, path)}


def values(value):
    """A value for two hours; promtool has no short form for an infinite one."""
    return " ".join([value] * 25) if "Inf" in value else f"{value}x24"


def from_to(status, part, other):
    """A share of cases before and in the deciding window, as a summary has it.

    Before is the reference, or the level. The cells are of the outcomes that are counted, and of
    those that complete them.
    """
    if status.reference is None:
        return "nothing to compare with"
    window = status.windows[status.verdict_window]
    sides = ((window.level or status.reference).outcomes, window.outcomes)
    shares = []
    for side in sides:
        counted, others = (sum(getattr(side, cell) for cell in cells) for cells in (part, other))
        shares.append(f"{100 * counted / (counted + others):.3g}")
    return f"{' → '.join(shares)} %"


@pytest.mark.parametrize(
    "then", [*THEN, *WITHOUT_A_CHANGE, LASTING, AT_ITS_LEVEL, "died before its labels"]
)
def test_alerts_say_of_a_model_what_the_answers_say(system_program, tmp_path, then):
    snapshot = at(then).snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    found = fired(system_program("promtool"), tmp_path, snapshot)
    recall, false = from_to(status, ["tp"], ["fn"]), from_to(status, ["fp"], ["tn"])
    expected = {}
    if status.worse.answer == "yes":
        expected["ModelDegraded"] = f"m: model worse, recall fell {recall}"
        if then == "a worse model":
            expected["ModelDegraded"] += f", false positives rose {false}"
        if then == LASTING:
            expected["ModelDegraded"] = f"m: model worse; recall {recall}, false positives {false}"
    if status.moved_precision.cause == "prevalence" and status.moved_precision.certain:
        direction = status.moved_precision.text.partition(" positives")[0].lower()
        expected["PrevalenceShift"] = (
            f"m: positives became {direction}, {from_to(status, ['tp', 'fn'], ['fp', 'tn'])}; "
            f"precision fell {from_to(status, ['tp'], ['fp'])}"
        )
    if status.verdict == "operating_point_moved":
        assert status.worse.answer == "not_shown"
        expected["OperatingPointMoved"] = (
            f"m: flags fewer cases: recall {recall}, false positives {false}"
        )
    if status.predictions_degenerate.text:
        expected["PredictionsDegenerate"] = f"m: {status.predictions_degenerate.text}"
    assert found == expected
    assert bool(expected) == (then not in {"as ever", "a better model", *WITHOUT_A_CHANGE})
