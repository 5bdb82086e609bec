"""Labels that get worse within the limits of their error rates, against a model that does."""

import json

import numpy as np
import pytest
from cli.commands import ran

from monitor.config.quantities import format_time

DAYS, CASES, CHANGE, DAY_MS = 28, 1_000, 14, 86_400_000
RANGES = "--before", "1970-01-01..1970-01-15", "--after", "1970-01-15..1970-01-29"
RANGED = "{false_positive: [0.005, 0.02], false_negative: [0, 0.1]}"
KNOWN = "{false_positive: 0.01, false_negative: 0.05}"


@pytest.fixture
def found(capsys, tmp_path):
    """Diagnose a stream of which recall, prevalence or wrong labels change half-way."""

    def of(errors, *options, prevalence=(0.01,) * 2, recall=(0.62,) * 2, wrong=(0.0,) * 2):
        rng, rows = np.random.default_rng(3), []
        for day in range(DAYS):
            later = day >= CHANGE
            actual = rng.random(CASES) < prevalence[later]
            flagged = rng.random(CASES) < np.where(actual, recall[later], 0.05)
            label = np.where(rng.random(CASES) < np.where(actual, 0.0, wrong[later]), 1, actual)
            for i in range(CASES):
                time = format_time(day * DAY_MS + i * DAY_MS // CASES)
                case = {"prediction": int(flagged[i]), "label": int(label[i]), "model": "m"}
                rows.append({"type": "outcome", "ts": time, **case})
        path, config = tmp_path / "events.ndjson", tmp_path / "c.yaml"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        config.write_text(f"models: {{m: {{label_errors: {errors}}}}}\n")
        return ran(capsys, "diagnose", path, "-c", config, *RANGES, *options).out

    return of


@pytest.mark.parametrize(
    ("errors", "wrong"),
    [(RANGED, (0.0, 0.01)), (RANGED, (0.004, 0.018)), (KNOWN, (0.004, 0.016))],
    ids=["before they are right", "ranges", "known rates that leave no missed positive before"],
)
def test_labels_are_named_where_they_may_have_got_worse(found, errors, wrong):
    """The corrected cells before are cut off at 0, so that how far recall fell is not known."""
    text = " ".join(found(errors, wrong=wrong).split())
    assert "more missed positives: more wrong labels, or a worse model? Open." in text
    assert "missed positives and prevalence rose together" in text
    assert "Nothing points to it" not in text
    assert "certainly more positives." not in text
    assert "odds ratio" not in text


def test_a_worse_model_stays_one_within_ranges(found):
    changed = {"prevalence": (0.05,) * 2, "recall": (0.65, 0.3), "wrong": (0.01,) * 2}
    for errors in (RANGED, KNOWN):
        answer = json.loads(found(errors, "--json", **changed))
        assert answer["verdict"] == "model_degraded"
        assert not answer["labels_may_explain"]


@pytest.mark.parametrize("prevalence", [(0.01, 0.01), (0.01, 0.025)])
def test_labels_are_no_candidate_where_they_are_as_before(found, prevalence):
    """Also beside positives that are certainly more frequent."""
    answer = json.loads(found(RANGED, "--json", prevalence=prevalence, wrong=(0.01,) * 2))
    assert not answer["labels_may_explain"]
    more = prevalence[0] != prevalence[1]
    assert answer["verdict"] == "insufficient_evidence"
    assert (answer["headline"].count("certainly more positives") == 1) is more
