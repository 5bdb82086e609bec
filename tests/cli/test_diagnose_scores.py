"""`diagnose` asks the ROC curve of before where scores come."""

import json

import numpy as np
import pytest
from cli.commands import ran
from scipy.special import ndtr

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
