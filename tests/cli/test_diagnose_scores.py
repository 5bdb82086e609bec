"""`diagnose` asks the ROC curve of before where scores come."""

import json
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from cli.commands import ran
from exporter.page.pages import plain
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

from monitor import compare

DAY = 86_400


def write_events(path, after):
    """Four weeks of scored outcomes, another model or threshold from the fifteenth day on."""
    rng = np.random.default_rng(3)
    with path.open("w") as lines:
        for number in range(60_000):
            day = number * 28 // 60_000
            gap, cut = (2.2, 1.7) if day < 14 else after
            actual = int(rng.random() < 0.15)
            normal = rng.normal() + gap * actual
            event = {
                "type": "outcome",
                "id": str(number),
                "ts": day * DAY + int(rng.integers(DAY)),
                "prediction": int(normal >= cut),
                "score": float(ndtr(normal - 1)),
                "label": actual,
            }
            lines.write(json.dumps(event) + "\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "verdict"),
    [((2.2, 2.2), "threshold_moved"), ((1.8, 2.2), "model_degraded")],
)
def test_scores_distinguish_a_slide_from_a_worse_model(capsys, tmp_path, after, verdict):
    path = tmp_path / "events.ndjson"
    write_events(path, after)
    words = ("--before", "1970-01-01..1970-01-15", "--after", "1970-01-15..1970-01-29")
    for asked in (words, ("--after", "1970-01-15..1970-01-29"), ()):
        done = ran(capsys, "diagnose", "--feed", path, *asked, "--json")
        found = json.loads(done.out)
        known = {verdict} if asked == words else {verdict, "operating_point_moved"}
        assert found["verdict"] in known, asked
        assert found["below_reference_curve"] is (verdict == "model_degraded")
        parts, skill = found["scores"]["skill"], found["attribution"]["skill"]
        for unit in ("logit", "points"):
            both = parts["threshold"][unit] + parts["curve"][unit]
            assert both == pytest.approx(skill[unit], abs=1e-9)
        worse = parts["curve"]["upper_points"] < 0
        assert worse is (verdict == "model_degraded")
    text = ran(capsys, "diagnose", "--feed", path, *words).out
    assert all(sentence in " ".join(text.split()) for sentence in found_sentences(verdict))


def found_sentences(verdict):
    if verdict == "model_degraded":
        return ["recall lies certainly below the ROC curve of before"]
    return [
        "Recall and the false positive rate fell together: fewer cases are flagged, as with a",
        "recall lies on the ROC curve of before",
        "Is the model worse? No: recall is between",
    ]


def write_segments(path):
    """Four weeks of scored outcomes of two channels and versions; web is worse in the second half.

    Returns:
        The cases, by half, channel or version: labels and scores.
    """
    rng = np.random.default_rng(11)
    cases = defaultdict(list)
    with path.open("w") as lines:
        for number in range(16_000):
            day = number * 28 // 16_000
            channel, version = "web" if number % 2 else "shop", f"v{1 + number // 2 % 2}"
            actual = int(rng.random() < 0.3)
            gap = 1.0 if day >= 14 and channel == "web" else 2.2
            score = float(ndtr(rng.normal() + gap * actual - 1))
            event = {"type": "outcome", "id": str(number), "ts": day * DAY + number % DAY}
            event |= {"prediction": int(score >= 0.5), "score": score, "label": actual}
            event |= {"segment": {"channel": channel}, "version": version}
            lines.write(json.dumps(event) + "\n")
            for value in (channel, version):
                cases[day >= 14, value].append((actual, score))
    return cases


RANGES = ("--before", "1970-01-01..1970-01-15", "--after", "1970-01-15..1970-01-29")


def test_curves_by_segment_value_and_version_are_those_of_their_cases(capsys, tmp_path):
    path, page = tmp_path / "events.ndjson", tmp_path / "report.html"
    cases = write_segments(path)
    words = ("diagnose", "--feed", path, *RANGES, "--segments", "channel,version")
    found = json.loads(ran(capsys, *words, "--json").out)
    curves = {part["value"]: part["curve"] for part in found["segments"]}
    assert {value: curve["moved"] for value, curve in curves.items()} == {
        "web": "fell",
        "shop": None,
        "v1": "fell",
        "v2": "fell",
    }
    for value, curve in curves.items():
        for half, side in ((False, "before"), (True, "after")):
            area = roc_auc_score(*zip(*cases[half, value], strict=True))
            assert curve[side]["estimate"] == pytest.approx(area, abs=1e-3)
            assert curve[f"scores_{side}"] == len(cases[half, value])
    web = curves["web"]
    sentence = (
        f"channel=web: the curve fell: area under the ROC curve {web['before']['estimate']:.3f} → "
        f"{web['after']['estimate']:.3f} "
        f"({web['change']['lower']:+.3f} to {web['change']['upper']:+.3f})"
    )
    assert sentence in found["curves_moved"]
    assert " ".join(ran(capsys, *words).out.split()).count(sentence) == 1
    assert ran(capsys, *words, "--html", page).code == 0
    report = plain(page.read_text(encoding="utf-8"))
    assert sentence in report
    areas = f"{web['before']['estimate']:.2f} → {web['after']['estimate']:.2f} ★"
    assert areas in report


def test_a_table_in_python_has_the_same_curves(capsys, tmp_path):
    path = tmp_path / "events.ndjson"
    write_segments(path)
    words = ("diagnose", "--feed", path, *RANGES, "--segments", "channel,version")
    recorded = json.loads(ran(capsys, *words, "--json").out)
    rows = pd.read_json(path, lines=True)
    rows["channel"] = [segment["channel"] for segment in rows["segment"]]
    report = compare(
        *("1970-01-01..1970-01-15", "1970-01-15..1970-01-29", rows),
        **{name: name for name in ("id", "ts", "score", "prediction", "label")},
        segment={"channel": "channel", "version": "version"},
    )
    found = report.to_dict()
    assert found["curves_moved"] == recorded["curves_moved"]
    by_value = [{part["value"]: part["curve"] for part in d["segments"]} for d in (found, recorded)]
    assert by_value[0] == by_value[1]


def test_without_scores_the_report_has_no_column_of_curves(capsys, tmp_path):
    path, page = tmp_path / "events.ndjson", tmp_path / "report.html"
    write_segments(path)
    events = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**e, "score": None}) + "\n" for e in events))
    words = ("diagnose", "--feed", path, *RANGES, "--segments", "channel,version")
    found = json.loads(ran(capsys, *words, "--json").out)
    assert found["segments"]
    assert not any("curve" in part for part in found["segments"])
    assert "curves_moved" not in found
    assert ran(capsys, *words, "--html", page).code == 0
    assert "ROC area" not in page.read_text(encoding="utf-8")
