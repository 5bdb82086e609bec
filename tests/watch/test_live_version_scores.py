"""Scores of two versions in a running monitor: those of the recorded events of the same days."""

import re

import httpx
import numpy as np
import pytest
from exporter.page.pages import plain, served
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from watch.recorded_versions import recorded
from watch.versioned import DAY, config_of, fed, model_of

from monitor.clock import DAY_MS
from monitor.engine import Monitor
from monitor.prometheus.text import TextWriter
from monitor.report.versions_answer import versions_answer
from monitor.report.versions_now import shadow_text, versions_reading
from monitor.report.versions_text import versions_text
from monitor.windows import days_then_weeks
from monitor.windows.value_scores import ValueScores

CONFIG = """
models:
  m: {segments: [region, version], label_timeout: 1d}
windows: [1d, 7d]
"""
SILENT = CONFIG.replace("1d}", "1d, labelling: negatives_by_timeout}")
DAYS, A_DAY = 8, 2_400
SHADOW, LOWER = "7-shadow", float(expit(1.1 - 1.6))
SHADOWED = CONFIG.replace("1d}", '1d, maturity: 1d, shadow_versions: ["*-shadow"]}')
SPREAD = 2.0
"""Standard deviation of the positives: the log odds ratio changes along such a curve."""


def cases(seed=1, *, threshold=1.1, shift=0.0, began=1.4):
    """Events of version 6 with a threshold of 1.6, and of version 7 for half of the traffic.

    Args:
        seed: of the cases.
        threshold: of version 7.
        shift: of the positives of version 7.
        began: day on which version 7 begins.
    """
    rng, found = np.random.default_rng(seed), []
    for number in range(DAYS * A_DAY):
        ts = number * DAY / A_DAY
        new = bool(rng.random() < 0.5) and ts >= began * DAY
        positive = bool(rng.random() < 0.15)
        value = rng.normal(2 + shift * new, SPREAD) if positive else rng.normal(0, 1)
        at = {
            "ts": ts,
            "model": "m",
            "version": "67"[new],
            "segment": {"region": "ab"[number % 2]},
            "score": round(float(expit(value - 1.6)), 5),
            "prediction": int(value > (threshold if new else 1.6)),
            "label": int(positive),
        }
        found.append({"type": "outcome", **at})
    return found


def live(events, config=CONFIG):
    """Return the comparison of a running monitor, with its maturity."""
    model = model_of(fed(events, config_of(config)))
    return model.versions_now.compared, model.mature_until


def of_whole_days(events, within):
    """Return the events of the whole days (UTC) of a stretch, on which both versions predict."""
    opens, closes = -(-within.opens // DAY_MS), within.closes // DAY_MS
    return [one for one in events if opens * DAY <= one["ts"] < closes * DAY]


def test_areas_are_those_of_scikit_learn_over_the_whole_days():
    events = cases(shift=-1.0)
    found, _ = live(events)
    compared = versions_answer(found)
    answer = compared.scores
    whole = of_whole_days(events, found.within)
    for name, area in (("6", answer.roc_auc_a), ("7", answer.roc_auc_b)):
        mine = [one for one in whole if one["version"] == name]
        known = roc_auc_score([one["label"] for one in mine], [one["score"] for one in mine])
        assert area.estimate == pytest.approx(known, abs=3e-3)
        assert area.lower < known < area.upper
    assert compared.from_roc_curve.position == "below"
    assert answer.roc_auc_difference.upper < 0


def test_another_threshold_is_named_as_of_recorded_events():
    events = cases()
    found, until = live(events)
    assert found.because == "another_threshold"
    assert "differ in their threshold: " in versions_text(found)
    known = recorded(of_whole_days(events, found.within), config_of(CONFIG), until)
    assert known.because == "another_threshold"
    for one, other in zip(found.scores.versions, known.scores.versions, strict=True):
        assert one.roc_auc.estimate == pytest.approx(other.roc_auc.estimate, abs=3e-3)
    for part in ("threshold", "curve"):
        one, other = (getattr(each.scores.parts, part).points for each in (found, known))
        assert one == pytest.approx(other, abs=2e-3)


def test_scores_are_the_same_after_a_restart():
    events, config = cases(), config_of(CONFIG)
    monitor = fed(events, config)
    again = Monitor(config, monitor.state())
    answers = [versions_answer(model_of(one).versions_now.compared) for one in (monitor, again)]
    assert answers[0].scores == answers[1].scores
    assert answers[0].scores.skill is not None


@pytest.mark.parametrize(
    ("events", "config"),
    [
        ([{k: v for k, v in one.items() if k != "score"} for one in cases()], CONFIG),
        (cases(began=DAYS - 1.2), CONFIG),
        (cases(), SILENT),
    ],
    ids=["without scores", "no whole day", "silence is a label"],
)
def test_there_are_none(events, config):
    assert live(events, config)[0].scores is None


def test_the_curve_is_that_of_days_before_the_new_version_too():
    """No whole day has both versions, and the curve decides from the first hours on."""
    found, until = live(cases(began=DAYS - 1.2))
    assert found.scores is None
    assert found.comparison.decided_by.found.from_curve is not None
    known = recorded(cases(began=DAYS - 1.2), config_of(CONFIG), until)
    assert known.comparison.decided_by.found.from_curve is not None


def test_the_page_shows_the_areas_and_what_the_threshold_did():
    with served(fed(cases(), config_of(CONFIG))) as url:
        page = httpx.get(f"{url}/?model=m").text
    text = plain(re.search(r'<section id="versions".*?</section>', page, re.DOTALL)[0])
    assert text.startswith("Versions Another threshold Versions 7 and 6")
    assert "Area under the ROC curve: 0.8" in text
    assert "Of the model and the mix together, movement along the ROC curve accounts for -" in text


def test_no_days_are_read_that_lie_before_those_stored(monkeypatch):
    """Before a model has a time none are stored, and the stretch would begin in 1970."""
    found, blocks = [], ValueScores.blocks

    def read(self, model, opens, closes):
        found.append((closes - opens) // DAY_MS)
        return blocks(self, model, opens, closes)

    monkeypatch.setattr(ValueScores, "blocks", read)
    monkeypatch.setattr(ValueScores, "by_day_since", lambda *_: 0)
    compared, _ = live([event | {"ts": event["ts"] + 20_000 * DAY} for event in cases()])
    assert compared.because == "another_threshold"
    assert DAYS - 2 <= max(found) <= days_then_weeks.DAYS


def with_shadow(events):
    """Return the cases of version 6, and those of a shadow version with a lower threshold."""
    found = []
    for number, event in enumerate(events):
        case = {name: value for name, value in event.items() if name != "label"}
        case |= {"id": f"i{number}", "type": "prediction", "version": "6"}
        found.append(case)
        found.append(case | {"version": SHADOW, "prediction": int(event["score"] > LOWER)})
        label = {"type": "label", "id": case["id"], "label": event["label"]}
        found.append(label | {"ts": event["ts"] + 60})
    return found


def test_a_shadow_at_another_threshold_is_named_in_rows_and_series():
    monitor = fed(with_shadow(cases(began=DAYS)), config_of(SHADOWED))
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    found = model.versions_now.compared
    assert found.because == "another_threshold"
    answer, _ = versions_reading(snapshot, model, model.versions_now)
    (one,) = (version for version in answer.versions if version.shadow)
    assert (one.verdict, one.because) == ("not_shown", "another_threshold")
    assert shadow_text(one).endswith(" mature cases: another threshold than 6")
    distance = found.comparison.decided_by.found.from_curve
    text = TextWriter().write(snapshot).decode()
    for part in ("", "_lower", "_upper"):
        (value,) = re.findall(rf"classifier_version_roc_distance{part}_ratio{{.*}} (.*)", text)
        assert float(value) == getattr(distance, part[1:] or "recall")
    (change,) = re.findall(r"classifier_version_log_odds_ratio_upper{.*} (.*)", text)
    assert float(change) < 0
