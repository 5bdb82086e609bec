import gzip
import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest
from cli.commands import label, lines_of, prediction, ran
from report import one_moment
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)
from streams import FLIGHTS

from monitor import metrics
from monitor.cli.replay_text import replay_text
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.checked_estimate import CheckedEstimate, WindowEstimates
from monitor.engine import Monitor
from monitor.verdicts import (
    LABEL_SHIFT,
    Detected,
    ReferenceOutcomes,
    Watched,
    WindowVerdict,
)

MODEL = "delay-hgb-v1"
TRUTH = {"tp": 8738, "fp": 15304, "fn": 4503, "tn": 27266}
CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))
"""Prediction and label of tp, fp, fn and tn."""


def replayed(capsys, *words):
    done = ran(capsys, "replay", *words, "--json")
    assert done.code == 0
    return json.loads(done.out)


def replayed_apart(path):
    """What `replay --json` prints in a process of its own."""
    command = [sys.executable, "-m", "monitor", "replay", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def flights_lines():
    with gzip.open(FLIGHTS) as stream:
        return stream.read().splitlines(keepends=True)


@pytest.fixture(scope="module")
def two_months(flights_lines, tmp_path_factory):
    """The first 20,000 events, as a file: some two months."""
    path = tmp_path_factory.mktemp("flights") / "two_months.ndjson"
    path.write_bytes(b"".join(flights_lines[:20_000]))
    return path


@pytest.fixture(scope="module")
def counted_months(two_months):
    """What is counted of these."""
    return json.loads(replayed_apart(two_months))


def recounted(path):
    """True positives, false positives, false negatives, true negatives, one by one."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    predicted = {e["id"]: e["prediction"] for e in events if e["type"] == "prediction"}
    pairs = [(predicted[e["id"]], e["label"]) for e in events if e["type"] == "label"]
    return [pairs.count(cell) for cell in CELLS]


@pytest.mark.slow
def test_the_bundled_flights_come_to_exactly_the_truth():
    flights = json.loads(replayed_apart(FLIGHTS))
    assert (flights["events"], flights["events_rejected"]) == (113_097, {})
    assert list(flights["models"]) == [MODEL]
    model = flights["models"][MODEL]
    assert model["outcomes"] == TRUTH
    assert (model["predictions"], model["labels"]) == (57_286, 55_811)
    assert (model["pending"], model["expired"]) == (57_286 - 55_811, 0)
    assert model["verdict"] in set(Verdict)


def test_every_metric_has_its_estimate_and_its_interval(two_months, counted_months):
    (model,) = counted_months["models"].values()
    tp, fp, fn, tn = recounted(two_months)
    assert model["outcomes"] == {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    expected = {
        "precision": tp / (tp + fp),
        "balanced_precision": tpr / (tpr + fpr),
        "recall": tpr,
        "false_positive_rate": fpr,
        "prevalence": (tp + fn) / sum((tp, fp, fn, tn)),
        "class_ratio": (tp + fn) / (fp + tn),
    }
    assert {name: m["estimate"] for name, m in model["metrics"].items()} == pytest.approx(
        expected, rel=1e-12
    )
    for metric in model["metrics"].values():
        assert metric["lower"] < metric["estimate"] < metric["upper"]
        assert metric["upper"] - metric["lower"] < 0.04


def test_windows_have_bounds_in_utc_and_numbers_of_their_own(counted_months):
    windows = counted_months["models"][MODEL]["windows"]
    assert list(windows) == ["1h", "1d", "7d", "28d"]
    assert all(w["open"].endswith("Z") and w["open"] < w["close"] for w in windows.values())
    totals = [sum(window["outcomes"].values()) for window in windows.values()]
    assert totals == sorted(totals)
    assert totals[-1] > 1000


def test_order_and_duplicates_change_nothing(capsys, tmp_path, two_months, counted_months):
    chance, lines = random.Random(7), two_months.read_bytes().splitlines(keepends=True)
    shuffled = lines + chance.sample(lines, len(lines) * 3 // 10)
    chance.shuffle(shuffled)
    path = tmp_path / "shuffled.ndjson"
    path.write_bytes(b"".join(shuffled))
    assert counted(replayed(capsys, path)) == counted(counted_months)


def counted(found):
    """Return a model's counts without what depends on when labels came to be known.

    The reference stays as it was when it matured, and detectors step as days mature. By the
    volume of the reference a model has a window of 28 days, which then decides.
    """
    (model,) = found["models"].values()
    windows = {
        name: {
            key: value
            for key, value in window.items()
            if "reference" not in key and key != "verdict_because"
        }
        for name, window in model["windows"].items()
        if name != "28d"
    }
    for window in windows.values():
        if "scores" in window:
            at_reference = ("mean_recall", "recall_at_reference", "average_precision_at_reference")
            kept = {k: v for k, v in window["scores"].items() if k not in at_reference}
            window["scores"] = kept
    # `change_began` is there while the model pages.
    later = ("reference", "detections", "paging", "change_began", "verdict_window")
    later += ("verdict_because", "answers", "excluded", "moved_precision", "worse")
    return {key: value for key, value in model.items() if key not in later} | {"windows": windows}


def test_the_reference_is_shown_beside_its_class_ratio(counted_months):
    (model,) = counted_months["models"].values()
    reference = model["reference"]
    assert (reference["source"], reference["version"]) == ("first", 2), "a week came before"
    assert reference["open"] < reference["close"]
    outcomes = reference["outcomes"]
    ratio = (outcomes["tp"] + outcomes["fn"]) / (outcomes["fp"] + outcomes["tn"])
    assert reference["class_ratio"] == pytest.approx(ratio)
    week = model["windows"]["7d"]
    counts = ConfusionCounts(**week["outcomes"])
    expected = metrics.precision_at(counts, class_ratio=ratio)
    assert week["precision_at_reference"]["estimate"] == pytest.approx(float(expected))
    assert week["far_from_reference"] is False


def test_several_files_are_merged(capsys, tmp_path, two_months, counted_months):
    flights_lines = two_months.read_bytes().splitlines(keepends=True)
    for name, kind in (("predictions", b'"prediction",'), ("labels", b'"label",')):
        chosen = [line for line in flights_lines if line.startswith(b'{"type":' + kind)]
        (tmp_path / name).write_bytes(b"".join(chosen))
    assert replayed(capsys, tmp_path / "labels", tmp_path / "predictions") == counted_months


def test_a_configuration_decides_what_is_taken(capsys, tmp_path, two_months):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{{MODEL}: {{label_timeout: 2h}}}}\nwindows: [28d]\n")
    model = replayed(capsys, two_months, "-c", config)["models"][MODEL]
    assert list(model["windows"]) == ["28d"]
    assert 0 < model["labels"] < model["predictions"] / 3
    assert model["expired"] > model["predictions"] / 2


def test_undefined_is_null_in_an_object(capsys, tmp_path):
    path = tmp_path / "one.ndjson"
    path.write_text(lines_of(prediction(1)))
    model = replayed(capsys, path)["models"]["default"]
    assert model["metrics"]["precision"] == {"estimate": None, "lower": None, "upper": None}
    assert model["windows"]["1h"]["open"] is None
    assert model["pending"] == 1


def test_people_get_books_windows_and_intervals(capsys, two_months, counted_months):
    shown = ran(capsys, "replay", two_months)
    assert (shown.code, shown.err) == (0, "")
    cells = recounted(two_months)
    labels = sum(cells)
    books = f"{20_000 - labels:,} predictions; {labels:,} labelled, {20_000 - 2 * labels:,} pending"
    assert "20,000 events read, 0 rejected." in shown.out
    assert f"{MODEL}: {books}." in shown.out
    found = counted_months["models"][MODEL]["metrics"]["precision"]
    precision = f"{found['estimate']:.3f}", f"{found['lower']:.3f}-{found['upper']:.3f}"
    for word in (*(f"{cell:,}" for cell in cells), *precision, "everything"):
        assert word in shown.out
    *lines, command = shown.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert command.startswith("Next: ")
    assert f"precision-monitor diagnose {two_months}" in command


def test_people_get_verdicts_and_detections():
    found = Watched(
        reference=ReferenceOutcomes(
            source="first", opens=0, closes=1, counts=ConfusionCounts.zeros()
        ),
        verdicts={"7d": WindowVerdict(verdict=Verdict.PREVALENCE_SHIFT)},
        detections=(Detected(1_378_000_000_000, "prevalence_shift"),),
    )
    monitor = Monitor()
    monitor.predict("a", ts=1, prediction=True)
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    assert "Is the model worse? Cannot be known: no labels yet." in replay_text(snapshot)
    shown = replay_text(replace(snapshot, models=(replace(model, watched=found),)))
    assert "\n  7d      prevalence_shift\n" in shown
    assert "\n  2013-09-01 01:46  detected: prevalence_shift" in shown


def test_people_see_why_a_certain_cause_is_not_a_verdict():
    """Rarer positives certainly moved precision; whether recall fell as well is open."""
    monitor = one_moment.counted([one_moment.USUAL] * 28 + [(3, 6, 1, 124)] * 7)
    shown = " ".join(replay_text(monitor.snapshot()).split())
    assert "(moved, not settled)" in shown
    assert (
        "Moved, not settled. Precision or one of its causes certainly changed; whether the model "
        "got worse is not shown."
    ) in shown


def test_people_see_a_dash_where_nothing_is_defined(capsys, tmp_path):
    path = tmp_path / "one.ndjson"
    path.write_text(lines_of(prediction(1), label(1)))
    shown = ran(capsys, "replay", path).out
    assert "—" in shown
    assert "nan" not in shown


def test_a_model_without_labels_has_no_table_of_zeros_before_its_answers(capsys, tmp_path):
    path = tmp_path / "one.ndjson"
    path.write_text(lines_of(prediction(1)))
    shown = ran(capsys, "replay", path).out
    assert "precision     balanced" not in shown
    assert shown.splitlines()[2].startswith("  What moved precision? ")


def test_refusals_of_a_labelling_regime_are_reported_in_one_line(capsys, tmp_path):
    events, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    events.write_text(lines_of(prediction(1)))
    config.write_text("models: {default: {labelling: flagged_only}}\n")
    done = ran(capsys, "replay", events, "-c", config)
    assert done.code == 0
    assert "default: labelling flagged_only: only predicted positives are ever" in done.err
    assert done.err.count("labelling flagged_only") == 1


def test_an_estimate_ahead_of_the_labels_is_told_with_what_it_rests_on():
    precision = CheckedEstimate(
        estimate=0.41,
        lower=0.38,
        upper=0.44,
        method=LABEL_SHIFT,
        weight=0.8,
        comparisons=38,
        days=40,
        median_error=0.021,
        withheld=None,
    )
    estimates = WindowEstimates(CheckedEstimate(), precision, close=20_000 * 86_400_000)
    found = Watched(verdicts={"7d": WindowVerdict(verdict=Verdict.NO_CHANGE, nowcast=estimates)})
    snapshot = one_moment.counted([one_moment.USUAL] * 9).snapshot()
    model = replace(snapshot.models[0], watched=found)
    shown = " ".join(replay_text(replace(snapshot, models=(model,))).split())
    assert (
        "7d to 2024-10-04 00:00, precision 0.410 (0.380-0.440): estimated from mature labels, and "
        "for younger cases 80 % from their predictions, as if only prevalence had changed; over "
        "the last 40 days such estimates were off by 2.1 points in the median"
    ) in shown
    assert "prevalence 0" not in shown


def test_a_model_of_many_classes_shows_what_is_defined_for_all_of_them(capsys, tmp_path):
    """Recall, balanced precision and the like are of two classes, and were dashes and zeros."""
    events, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    config.write_text("models: {mail: {classes: [a, b, c]}}\nwindows: [1d]\n")
    actual, predicted = "aaaabbbccc" * 9, "aaabbbbcca" * 9
    lines = [
        {"ts": 60 * at, "prediction": p, "label": a, "model": "mail"}
        for at, (a, p) in enumerate(zip(actual, predicted, strict=True))
    ]
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, _ = ran(capsys, "replay", events, "-c", config)
    assert code == 0
    for absent in ("balanced", "FPR", "prevalence  ", "  fn", "more than two classes"):
        assert absent not in out
    lines = [line.split() for line in out.splitlines()]
    assert ["window", "right", "wrong", "from,", "to", "(UTC)"] in lines
    assert ["all", "72", "18", "everything"] in lines
    heads = ["accuracy", "macro", "prec.", "macro", "recall", "macro", "F1", "kappa"]
    found = lines[lines.index(heads) + 1]
    averaged = (precision_score, recall_score, f1_score)
    assert found == [
        "all",
        f"{accuracy_score([*actual], [*predicted]):.3f}",
        *(f"{score([*actual], [*predicted], average='macro'):.3f}" for score in averaged),
        f"{cohen_kappa_score([*actual], [*predicted]):.3f}",
    ]
    lower, upper = map(float, lines[lines.index(heads) + 2][0].split("-"))
    assert lower < float(found[1]) < upper
