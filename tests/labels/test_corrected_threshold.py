"""Thresholds are corrected for wrong labels of known rates, or are not given."""

import json

import numpy as np
import pytest
from cli.commands import ran
from labels.wrongly_labelled import (
    CORRECTED,
    DAY,
    RANGES,
    RATES,
    START,
    TOO_HIGH,
    UNKNOWN,
    WIDE,
    configured,
)
from scipy.special import expit

from monitor.metrics import ScoreHistogram, best_threshold


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ("audit", (UNKNOWN, "Audit cases")),
        (TOO_HIGH, ("label_errors says that more labels are wrong than can be", "Lower the rates")),
    ],
)
def test_the_command_gives_no_number_where_the_truth_behind_the_labels_is_undefined(
    recorded, capsys, tmp_path, errors, said
):
    config = configured(tmp_path, f"label_errors: {errors}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    for more in ((), ("--class-ratio", "0.1"), ("--json",)):
        shown = ran(capsys, "threshold", *words, *more)
        assert (shown.code, shown.out) == (2, "")
        assert f"threshold: m: {said[0]}" in shown.err
        assert said[1] in shown.err


@pytest.mark.parametrize("errors", [RATES, RANGES])
@pytest.mark.parametrize("more", [(), ("--class-ratio", str(0.15 / 0.85))])
def test_the_command_gives_the_threshold_of_right_labels_where_rates_are_known(
    recorded, capsys, tmp_path, errors, more
):
    score, actual = recorded[-1]
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[actual], negative=score[~actual]),
        "precision>=0.5",
    )
    config = configured(tmp_path, f"label_errors: {errors}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", *more]
    found = json.loads(ran(capsys, "threshold", *words, "--json").out)
    assert found["corrected"] is True
    assert found["threshold"] == pytest.approx(right.threshold, abs=0.03)
    for name in ("precision", "recall"):
        limits = found[name]
        assert limits["lower"] < getattr(right, name).value < limits["upper"]
        assert limits["estimate"] == pytest.approx(getattr(right, name).value, abs=0.03)
    plain = configured(tmp_path, "")
    words[words.index("-c") + 1] = plain
    as_labelled = json.loads(ran(capsys, "threshold", *words, "--json").out)
    assert as_labelled["corrected"] is False
    assert as_labelled["recall"]["upper"] < right.recall.lower


def test_the_command_says_that_it_is_corrected(recorded, capsys, tmp_path):
    config = configured(tmp_path, f"label_errors: {RATES}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    assert CORRECTED in ran(capsys, "threshold", *words).out
    words[3] = configured(tmp_path, "")
    assert CORRECTED not in ran(capsys, "threshold", *words).out


def test_the_command_finds_a_threshold_where_labels_are_right(recorded, capsys, tmp_path):
    config = configured(tmp_path, "")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5", "--json"]
    assert json.loads(ran(capsys, "threshold", *words).out)["threshold"] is not None


def test_the_command_leaves_out_what_labels_exclude_of_a_range(recorded, capsys, tmp_path):
    """Labels of 3 % of the actual negatives are wrong, and of the configured range 30 % at most."""
    score, actual = recorded[-1]
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[actual], negative=score[~actual]),
        "precision>=0.5",
    )
    config = configured(tmp_path, f"label_errors: {WIDE}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    found = json.loads(ran(capsys, "threshold", *words, "--json").out)
    most = found["label_error_ranges"]["false_positive"][1]
    assert 0.03 < most < 0.05
    assert found["label_errors_excluded"] == {"false_positive": [most, 0.3]}
    assert 0 < found["label_errors"]["false_positive"] < most
    assert found["recall"]["lower"] < right.recall.value < found["recall"]["upper"] < 1
    said = "label_errors allows up to 30 % of actual negatives, but more than"
    assert said in ran(capsys, "threshold", *words).out


@pytest.mark.parametrize("changed", [20, 36])
def test_scores_before_a_change_of_the_rates_do_not_count(tmp_path, capsys, changed):
    """Of 40 days; the last 7 open before the second change.

    Labels of 1 % of actual negatives are wrong before it, and then of 20 %.
    """
    rng, days, a_day = np.random.default_rng(5), 40, 240
    day = np.repeat(np.arange(days), a_day)
    actual, later = rng.random(len(day)) < 0.2, day >= changed
    score = expit(rng.normal(-2, 1, len(day)) + 3.0 * actual)
    wrong = rng.random(len(day)) < np.where(actual, 0.02, np.where(later, 0.2, 0.01))
    feed = tmp_path / "events.ndjson"
    with feed.open("w") as written:
        for place, (at, s) in enumerate(zip(START + day * DAY, score, strict=True)):
            moment = {"id": f"{place}", "ts": float(at + place % a_day)}
            label = int(actual[place] ^ wrong[place])
            case = {"type": "outcome", "model": "m", "score": float(s), "label": label}
            print(json.dumps(moment | case | {"prediction": int(s >= 0.5)}), file=written)
            if place % 2:
                audit = {"type": "label", "label": int(actual[place]), "audit": True}
                print(json.dumps(moment | audit), file=written)
    words = ["--feed", feed, "-c", configured(tmp_path, "label_errors: audit, ")]
    words += ["--objective", "precision>=0.8", "--json"]
    found = json.loads(ran(capsys, "threshold", *words).out)
    cases = sum(found["observed"].values())
    assert cases == pytest.approx((days - changed) * a_day, abs=2 * a_day)
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[later & actual], negative=score[later & ~actual]),
        "precision>=0.8",
    )
    for name in ("precision", "recall"):
        assert found[name]["lower"] < getattr(right, name).value < found[name]["upper"]
    assert found["class_ratio"] == pytest.approx(0.25, abs=0.05)


def test_the_command_says_why_there_is_no_live_class_ratio(tmp_path, capsys):
    """Of 40 days; in the last 8 no label is wrong, and before a fifth of those of negatives."""
    rng, days, a_day = np.random.default_rng(6), 40, 240
    day = np.repeat(np.arange(days), a_day)
    actual = rng.random(len(day)) < 0.2
    score = expit(rng.normal(-3, 1, len(day)) + 4.0 * actual)
    label = actual | ((rng.random(len(day)) < 0.2) & (day < days - 8))
    feed = tmp_path / "events.ndjson"
    with feed.open("w") as written:
        for place, (at, s) in enumerate(zip(START + day * DAY, score, strict=True)):
            case = {"type": "outcome", "model": "m", "score": float(s), "label": int(label[place])}
            moment = {"ts": float(at + place % a_day), "prediction": int(s >= 0.5)}
            print(json.dumps(case | moment), file=written)
    config = configured(tmp_path, "label_errors: {false_positive: 0.16}, ")
    words = ["threshold", "--feed", feed, "-c", config, "--objective", "precision>=0.5"]
    shown = ran(capsys, *words)
    said = "the live class ratio is undefined in window 7d: label_errors says that more labels are"
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err
    assert ran(capsys, *words, "--class-ratio", "0.2").code == 0


def test_the_threshold_that_diagnose_advises_is_corrected(recorded, tmp_path, capsys):
    feed, _, ranges, *_ = recorded
    score, actual = recorded[-1]
    later = np.arange(len(score)) >= len(score) // 2
    right = best_threshold(
        ScoreHistogram.from_scores(positive=score[later & actual], negative=score[later & ~actual]),
        "precision>=0.9",
    )
    setting = f"label_errors: {RATES}, objective: {{precision: 0.9}}, "
    words = ["--feed", feed, "-c", configured(tmp_path, setting)]
    words += ["--before", ranges[0], "--after", ranges[1]]
    found = json.loads(ran(capsys, "diagnose", *words, "--json").out)["scores"]["threshold"]
    assert found["corrected"] is True
    assert found["threshold"] == pytest.approx(right.threshold, abs=0.06)
    assert found["recall"]["lower"] < right.recall.value < found["recall"]["upper"]
    assert f"now, c{CORRECTED}." in " ".join(ran(capsys, "diagnose", *words).out.split())


@pytest.mark.parametrize("rate", ["0.05", "[0.05, 0.06]"])
def test_the_command_names_a_rate_that_labels_of_some_scores_exclude(
    recorded, capsys, tmp_path, rate
):
    """Of unflagged cases 6 % are labelled 1, of the lowest scores 3 % (true: 3 %)."""
    config = configured(tmp_path, f"label_errors: {{false_positive: {rate}}}, ")
    words = ["--feed", recorded[0], "-c", config, "--objective", "precision>=0.5"]
    found = ran(capsys, "threshold", *words)
    assert (found.code, found.out) == (2, "")
    assert "m: label_errors.false_positive is 5 %" in found.err
    assert "labels of some range of scores allow" in found.err


@pytest.mark.parametrize(("rate", "advised"), [("0.03", True), ("0.07", False)])
def test_diagnose_advises_no_threshold_where_labels_of_some_scores_exclude_the_rate(
    recorded, tmp_path, capsys, rate, advised
):
    feed, _, ranges, *_ = recorded
    errors = f"{{false_positive: {rate}, false_negative: 0.1}}"
    setting = f"label_errors: {errors}, objective: {{precision: 0.9}}, "
    words = ["--feed", feed, "-c", configured(tmp_path, setting), "--json"]
    words += ["--before", ranges[0], "--after", ranges[1]]
    scores = json.loads(ran(capsys, "diagnose", *words).out)["scores"]
    assert (scores.get("threshold") is not None) is advised
