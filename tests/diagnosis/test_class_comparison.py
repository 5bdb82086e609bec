"""A classifier of handwritten digits, from its events to what moved the precision of a class."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

from monitor.cli.entry import main
from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.diagnosis.class_comparison import (
    ClassComparison,
    compare_classes,
    counted_days,
)
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.drift import Verdict
from monitor.drift.class_attribution import attribute_classes
from monitor.engine import CountingMonitor, Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.report.class_comparison_text import class_comparison_text

DAY = 86_400
WEEKS = ("usual", "shifted", "confused")
A_DAY = 700
CONFIG = Config(
    models={"digits": {"classes": list(range(10)), "label_timeout": "3d"}}, windows=["1d", "7d"]
)


@pytest.fixture(scope="module")
def pairs() -> np.ndarray:
    """Predicted and actual digits of images that the classifier has not seen."""
    images, digits = load_digits(return_X_y=True)
    model = LogisticRegression(C=1e-5, max_iter=200).fit(images[:900], digits[:900])
    return np.stack([model.predict(images[900:]), digits[900:]], axis=1)


@pytest.fixture(scope="module")
def weeks(pairs: np.ndarray) -> dict[str, np.ndarray]:
    """A week of predicted and actual digits each, (days, cases, 2)."""
    rng = np.random.default_rng(11)
    actual = pairs[:, 1]
    shifted = np.where(np.isin(actual, (3, 8)), 4.0, 1.0)
    found = {}
    for week, weight in zip(WEEKS, (np.ones(len(pairs)), shifted, shifted), strict=True):
        rows = rng.choice(len(pairs), size=(7, A_DAY), p=weight / weight.sum())
        found[week] = pairs[rows]
    confused = found["confused"]
    fours = (confused[..., 1] == 4) & (confused[..., 0] == 4) & (rng.random((7, A_DAY)) < 0.12)
    confused[..., 0][fours] = 9
    return found


@pytest.fixture(scope="module")
def events(weeks: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Predictions with scores, and labels up to two days later, in the order of their times."""
    rng = np.random.default_rng(12)
    found = []
    for week, name in enumerate(WEEKS):
        for day, cases in enumerate(weeks[name]):
            for number, (predicted, actual) in enumerate(cases.tolist()):
                time = (7 * week + day) * DAY + number * DAY // A_DAY
                one = {"id": f"{week}-{day}-{number}", "ts": time}
                scores = [0.9 if digit == predicted else 0.01 for digit in range(10)]
                found.append({"type": "prediction", **one, "scores": scores})
                delay = int(rng.integers(1, 2 * DAY))
                found.append({"type": "label", **one, "ts": time + delay, "label": actual})
    return sorted(found, key=lambda event: event["ts"])


@pytest.fixture(scope="module")
def monitor(events: list[dict[str, Any]]) -> Monitor:
    decoder, found = Decoder(DecodeSettings.from_config(CONFIG)), CountingMonitor(CONFIG)
    lines = [json.dumps(event) for event in events]
    for first in range(0, len(lines), 5000):
        block = "\n".join(lines[first : first + 5000]).encode()
        found.apply(decoder.decode_lines(block, source="events"))
    return found


@pytest.fixture(scope="module")
def compared(monitor: Monitor) -> Callable[[str], ClassComparison]:
    def compare(week: str) -> ClassComparison:
        first = 7 * WEEKS.index(week)
        after = f"1970-01-{first + 1:02}..1970-01-{first + 8:02}"
        (model,) = monitor.snapshot().models
        asked = ClassRanges.asked(model, "1970-01-01..1970-01-08", after, DAY_MS)
        return compare_classes(model, asked, counted_days(monitor, "digits", asked))

    return compare


def test_counts_equal_those_of_scikit_learn(
    compared: Callable[[str], ClassComparison], weeks: dict[str, np.ndarray]
) -> None:
    for week in WEEKS[1:]:
        for side, name in zip(compared(week).sides, ("usual", week), strict=True):
            predicted, actual = weeks[name].reshape(-1, 2).T
            assert (side.matrix == confusion_matrix(actual, predicted).T).all()


def test_shifted_class_ratios_alone_are_no_worse_model(
    compared: Callable[[str], ClassComparison],
) -> None:
    found = compared("shifted")
    fell = np.flatnonzero(found.attribution.change.upper_points < -0.02)
    assert len(fell) > 1  # the precision of some digits certainly falls
    for digit in fell.tolist():
        parts = found.attribution
        assert parts.prevalence.upper_points[digit] < 0
        assert parts.prevalence.points[digit] < 0.6 * parts.change.points[digit]
    assert not found.changes.cells
    assert found.verdict.verdict in (Verdict.PREVALENCE_SHIFT, Verdict.INSUFFICIENT_EVIDENCE)
    said = " ".join(class_comparison_text(found).split())
    assert "Is the model worse? Nothing points to it: within the actual classes nothing " in said
    rows = (side.matrix.sum(axis=0) / side.matrix.sum() for side in found.sides)
    shares = [
        f"{digit} ({100 * before:.1f} → {100 * after:.1f} %)"
        for digit, (before, after) in enumerate(zip(*rows, strict=True))
        if digit in (3, 8)
    ]
    assert f"; shares changed of {', '.join(shares)}. " in said
    most = np.nanargmax(np.abs(parts.change.points))
    verb = "rose" if parts.change.points[most] > 0 else "fell"
    size = f"{100 * abs(parts.change.points[most]):.1f}"
    mix = f"{100 * parts.prevalence.points[most]:+.1f}"
    answer = f"That of {most} {verb} most, by {size} points: prevalence of all"
    assert f"{answer} classes {mix}, " in said


@pytest.mark.parametrize(("error", "named"), [(0.025, False), (0.02, True)])
def test_of_ten_classes_one_that_alone_would_be_certain_may_have_moved_by_chance(
    compared: Callable[[str], ClassComparison], error: float, *, named: bool
) -> None:
    """Of thirty unchanged classes, one was said to have fallen most."""
    found = compared("shifted")
    points = np.zeros(10)
    points[5] = -0.03  # 2.35 and 2.94 standard errors; 2.81 is certain of one of ten
    change = found.attribution.change._replace(
        points=points, lower_points=points - error, upper_points=points + error
    )
    moved = replace(found, attribution=found.attribution._replace(change=change))
    text = " ".join(class_comparison_text(moved).split())
    assert (" That of 5 fell most, by 3.0 " in text) is named


def test_a_real_confusion_names_the_pair(compared: Callable[[str], ClassComparison]) -> None:
    found = compared("confused")
    assert np.argwhere(found.changes.rose).tolist() == [[9, 4]]
    text = class_comparison_text(found)
    assert "Is the model worse? Yes, 2 of 10 classes degraded (4, 9): 4 → 9 confusions " in text
    assert "- 4 → 9 confusions rose from " in text
    before = found.sides[0].matrix
    after = before.copy()
    after[[4, 9], 4] += [-300, 300]
    of_one = replace(found, attribution=attribute_classes(before, after))
    leak = f", of 4 most ({100 * of_one.attribution.leaks.points[9, 4]:+.1f})."
    assert [leak in " ".join(class_comparison_text(one).split()) for one in (of_one, found)] == [
        True,
        False,
    ]
    assert all(line == line.rstrip() for line in text.splitlines())
    of = found.attribution
    for part in (of.change, of.prevalence, of.recall, of.leaked):
        lower, upper = (100 * float(end[9]) for end in (part.lower_points, part.upper_points))
        assert f"{lower:+.1f} to {upper:+.1f}" in text
    assert found.attribution.leaks.upper_points[9, 4] < 0


def test_diagnose_says_so_in_text_json_and_its_exit_code(
    events: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, recorded = tmp_path / "monitor.yaml", tmp_path / "events.ndjson"
    config.write_text("models: {digits: {classes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}}\n")

    def diagnosed(week: str, after: str, *options: str) -> int:
        """Diagnose the usual week and another one."""
        weeks = {"0", str(WEEKS.index(week))}
        chosen = [event for event in events if event["id"].partition("-")[0] in weeks]
        recorded.write_text("".join(json.dumps(event) + "\n" for event in chosen))
        given = ["diagnose", str(recorded), "-c", str(config), "--before", "1970-01-01..1970-01-08"]
        failing = ("model_degraded", "prevalence_shift_and_model_degraded")
        given += [option for verdict in failing for option in ("--fail-on", verdict)]
        return main([*given, "--after", after, *options])

    assert diagnosed("shifted", "1970-01-08..1970-01-15") == 0
    capsys.readouterr()
    assert diagnosed("confused", "1970-01-15..1970-01-22", "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["model_worse"] == "yes"
    assert answer["verdict"] == "prevalence_shift_and_model_degraded"
    degraded = [name for name, one in answer["verdicts"].items() if "degraded" in one["verdict"]]
    assert degraded == ["4", "9"]
    assert {(one["actual"], one["predicted"]) for one in answer["confusions"]} >= {("4", "9")}
    assert not any(one["actual"] == one["predicted"] for one in answer["confusions"])
    assert [one["class"] for one in answer["recalls"]] == ["4"]
    for one in answer["attribution"].values():
        parts = [one["prevalence"], one["recall"], *one["leaks"].values()]
        if one["change"]["logit"] is not None:
            added = sum(part["logit"] for part in parts)
            assert added == pytest.approx(one["change"]["logit"], abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--before: must be given, since there is no reference that is complete"),
        (["--before", "1970-01-01T06:00:00Z..1970-01-02"], "--before: must be whole days (UTC)"),
        (["--html", "report.html"], "--html: shows models of two classes only"),
        (["--segments", "region"], "--segments: are those of models of two classes only"),
        (
            ["--before", "1970-01-01..1970-01-03", "--after", "1971-01-01..1971-01-02"],
            "--after: no outcome of 'm' lies in",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_do(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, recorded = tmp_path / "monitor.yaml", tmp_path / "events.ndjson"
    config.write_text("models: {m: {classes: [a, b, c]}}\n")
    outcome = {"type": "outcome", "prediction": "a", "label": "b"}
    recorded.write_text("".join(json.dumps({**outcome, "ts": t * DAY}) + "\n" for t in range(3)))
    assert main(["diagnose", str(recorded), "-c", str(config), *options]) == 2
    assert message in capsys.readouterr().err
