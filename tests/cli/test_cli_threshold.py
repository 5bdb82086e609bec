import json
from math import inf

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve
from streams import FLIGHTS, flights_of

from monitor.cli import main
from monitor.config.quantities import parse_time
from monitor.report.score_words import SCORE_WORDS


def run(capsys, *words):
    code = main([*words])
    return code, capsys.readouterr()


@pytest.fixture(scope="module")
def autumn():
    """The flights of the last three months, which have the 62 days of scores that count."""
    return flights_of(parse_time("2013-10-01") / 1000, inf)


@pytest.fixture(scope="module")
def feed(autumn, tmp_path_factory):
    path = tmp_path_factory.mktemp("flights") / "autumn.ndjson"
    path.write_text("".join(f"{json.dumps(event)}\n" for event in autumn))
    return str(path)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """The last weeks of the year as a file."""
    path = tmp_path_factory.mktemp("flights") / "weeks.ndjson"
    events = flights_of(parse_time("2013-12-10") / 1000, inf)
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return str(path)


@pytest.fixture(scope="module")
def december(autumn):
    """Scores and labels of the labelled predictions of the last 62 days (UTC)."""
    events = autumn
    labels = {e["id"]: e["label"] for e in events if e["type"] == "label"}
    last = sorted({e["ts"] for e in events})[-3]
    first = (last // 86_400 + 1) * 86_400 - 62 * 86_400
    pairs = [
        (e["score"], labels[e["id"]])
        for e in events
        if e["type"] == "prediction" and e["id"] in labels and e["ts"] >= first
    ]
    return np.array(pairs).T


def test_the_threshold_is_the_one_that_scikit_learn_finds(capsys, feed, december):
    score, label = december
    ratio = label.sum() / (1 - label).sum()
    code, out = run(
        capsys,
        *("threshold", "--feed", feed, "--objective", "recall>=0.8", "--json"),
        *("--class-ratio", str(ratio)),
    )
    found = json.loads(out.out)
    precision, recall, thresholds = precision_recall_curve(label, np.floor(score * 1000) / 1000)
    enough = recall[:-1] >= 0.8
    assert code == 0
    assert found["precision"]["estimate"] == pytest.approx(precision[:-1][enough].max())
    assert found["threshold"] in thresholds[enough]
    assert sum(found["observed"].values()) == len(score)


def test_by_default_it_works_at_the_live_class_ratio_and_shows_its_intervals(capsys, weeks):
    words = ("threshold", "--feed", weeks, "--objective", "precision>=0.6")
    code, out = run(capsys, *words)
    assert code == 0
    for reported in (
        "predict positive at scores of",
        "precision>=0.6, and within it the highest recall:",
        "95 % interval",
        "positives per negative",
        "based on",
        "by the point estimate, not the whole 95 % interval",
    ):
        assert reported in out.out


def test_the_live_class_ratio_given_as_a_number_finds_the_same(capsys, weeks):
    """A given ratio needs no verdicts, and nothing is judged for it."""
    words = ("threshold", "--feed", weeks, "--objective", "precision>=0.6", "--json")
    live = json.loads(run(capsys, *words)[1].out)
    given = json.loads(run(capsys, *words, "--class-ratio", str(live["class_ratio"]))[1].out)
    assert given == live


def test_an_objective_out_of_reach_is_a_finding(capsys, tmp_path):
    feed = tmp_path / "events.ndjson"
    rows = [
        {"type": "outcome", "id": f"{i}", "ts": i, "score": 0.5, "prediction": 1, "label": i % 2}
        for i in range(100)
    ]
    feed.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("threshold", "--feed", str(feed), "--objective", "precision>=0.9")
    code, out = run(capsys, *words, "--class-ratio", "1")
    assert code == 1
    assert "no threshold reaches precision>=0.9" in out.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--objective", "precisoin>=0.9"), "precisoin"),
        (("--objective", "precision>=0.9", "--class-ratio", "-1"), "--class-ratio"),
        (("--objective", "precision>=0.9", "--model", "fraud"), "no such model, got 'fraud'"),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(capsys, weeks, words, message):
    code, out = run(capsys, "threshold", "--feed", weeks, *words)
    assert code == 2
    assert message in out.err
    assert out.err.count("\n") == 1


def test_events_without_scores_are_reported(capsys, tmp_path):
    feed = tmp_path / "events.ndjson"
    rows = [
        {"type": "outcome", "id": f"{i}", "ts": i, "prediction": i % 2, "label": i % 3 % 2}
        for i in range(100)
    ]
    feed.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("threshold", "--feed", str(feed), "--objective", "accuracy", "--class-ratio", "1")
    code, out = run(capsys, *words)
    assert code == 2
    assert "no labelled prediction has a score" in out.err


def test_rejected_records_are_named(capsys, tmp_path):
    path = tmp_path / "events.ndjson"
    good = '{"type":"outcome","ts":%d,"prediction":1,"score":0.9,"label":%d}\n'
    bad = '{"type":"outcome","ts":9,"prediction":1,"score":0.9,"label":7}\n'
    asked = ("threshold", str(path), "--objective", "recall>=0.5", "--class-ratio", "1")
    path.write_text("".join(good % (ts, ts % 2) for ts in range(8)) + bad)
    code, out = run(capsys, *asked)
    assert code == 0
    assert "1 of 9 records was rejected: 1 bad_value" in out.err
    path.write_text(bad)
    code, out = run(capsys, *asked)
    assert code == 3
    assert "1 of 1 record was rejected: 1 bad_value" in out.err


def test_replay_summary_prints_the_metrics_of_scores_by_window(capsys, tmp_path):
    path, rng = tmp_path / "scored.ndjson", np.random.default_rng(4)
    rows = [
        {
            "type": "outcome",
            "id": f"{i}",
            "ts": 864 * i,
            "score": round(float(np.clip(rng.normal(0.4 + 0.2 * (i % 3 == 0), 0.15), 0, 1)), 3),
            "prediction": i % 2,
            "label": int(i % 3 == 0),
        }
        for i in range(1_000)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out = run(capsys, "replay", str(path), "--summary")
    table = out.out.split("The scores, of whole days (UTC)")[1].split("\n\n")[0].splitlines()
    assert table[0].split() == ["7d", "28d"]
    assert [line[2:33].strip() for line in table[2:]] == [w.words for w in SCORE_WORDS.values()]
    _, found = run(capsys, "replay", str(path), "--json")
    (model,) = json.loads(found.out)["models"].values()
    areas = [model["windows"][name]["scores"]["roc_auc"] for name in ("7d", "28d")]
    expected = ["{estimate:.4f} {lower:.4f} to {upper:.4f}".format(**area) for area in areas]
    assert " ".join(table[2][33:].split()) == " ".join(expected)
    assert "in bins of .001" not in out.out
    for row in rows:
        row["score"] = round(row["score"] / 100, 5)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out = run(capsys, "replay", str(path), "--summary")
    assert "the area under the ROC curve of 7d may be" in " ".join(out.out.split())
    for row in rows:
        del row["score"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out = run(capsys, "replay", str(path), "--summary")
    assert "The scores" not in out.out


@pytest.mark.slow
def test_replay_summary_prints_every_metric_with_its_interval(capsys):
    code, out = run(capsys, "replay", str(FLIGHTS), "--summary")
    assert code == 0
    for reported in ("balanced precision", "Cohen's kappa", "0.3634", "McNemar", "95 % interval"):
        assert reported in out.out
