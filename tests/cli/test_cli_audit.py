"""`audit` draws labelled cases by stratum, the same for the same seed, from every format."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran

ROWS = [
    {"id": f"id-{n}", "ts": 1_700_000_000 + 60 * n, "prediction": int(n % 3 == 0), "label": n % 2}
    for n in range(120)
]
STRATA = {
    (called, label): {
        row["id"] for row in ROWS if (row["prediction"], row["label"]) == (called, label)
    }
    for called in (0, 1)
    for label in (0, 1)
}


def ndjson(rows, path):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def table(rows, path):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def parquet(rows, path):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


WRITTEN = {"a.ndjson": ndjson, "a.csv": table, "a.parquet": parquet}


@pytest.fixture
def command(capsys):
    return lambda *words: ran(capsys, *words)


@pytest.fixture(params=WRITTEN)
def path(request, tmp_path):
    return WRITTEN[request.param](ROWS, tmp_path / request.param)


def test_ids_are_drawn_by_stratum_and_the_same_in_every_format(command, path, tmp_path):
    found = json.loads(command("audit", path, "--sample", "20", "--json").out)
    assert found["model"] == "default"
    for one in found["strata"]:
        stratum = STRATA[one["predicted"], one["label"]]
        assert one["cases"] == len(stratum)
        assert len(one["ids"]) == len(set(one["ids"])) == 10
        assert set(one["ids"]) < stratum
    lines = command("audit", ndjson(ROWS, tmp_path / "b.ndjson"), "--sample", "20", "--json").out
    assert json.loads(lines) == found


def test_ids_alone_are_printed_in_random_order_and_strata_apart(command, path):
    found = command("audit", path, "--sample", "20")
    ids = found.out.split()
    assert len(ids) == len(set(ids)) == 40
    assert "predicted 1, labelled 0: 10 of 20 cases" in found.err
    places = [
        next(number for number, one in enumerate(STRATA.values()) if name in one) for name in ids
    ]
    assert places != sorted(places)
    assert command("audit", path, "--sample", "20").out == found.out
    assert command("audit", path, "--sample", "20", "--seed", "1").out != found.out


def test_a_stratum_with_too_few_cases_is_filled_up_from_the_other(command, path):
    found = json.loads(command("audit", path, "--sample", "50", "--json").out)
    sizes = {(one["predicted"], one["label"]): len(one["ids"]) for one in found["strata"]}
    assert sizes == {(1, 0): 20, (0, 0): 30, (1, 1): 20, (0, 1): 30}
    every = json.loads(command("audit", path, "--sample", "500", "--json").out)
    assert {i for one in every["strata"] for i in one["ids"]} == {row["id"] for row in ROWS}


@pytest.mark.parametrize(("sample", "fewer"), [(1, 0), (5, 2)])
def test_the_odd_case_of_a_label_is_of_the_predicted_class_with_more_cases(
    command, tmp_path, sample, fewer
):
    """Unflagged cases of label 0, and flagged ones of label 1."""
    few = {*sorted(STRATA[0, 1])[10:]}
    path = ndjson([row for row in ROWS if row["id"] not in few], tmp_path / "a.ndjson")
    found = json.loads(command("audit", path, "--sample", str(sample), "--json").out)
    sizes = {(one["predicted"], one["label"]): len(one["ids"]) for one in found["strata"]}
    more = sample - fewer
    assert sizes == {(0, 0): more, (1, 0): fewer, (0, 1): fewer, (1, 1): more}


def test_each_case_of_a_stratum_is_as_likely_as_the_others(command, tmp_path):
    path, drawn = ndjson(ROWS, tmp_path / "a.ndjson"), dict.fromkeys(STRATA[0, 1], 0)
    for seed in range(30):
        out = command("audit", path, "--sample", "20", "--seed", seed, "--json").out
        for one in json.loads(out)["strata"]:
            if (one["predicted"], one["label"]) == (0, 1):
                for name in one["ids"]:
                    drawn[name] += 1
    counts = np.array([*drawn.values()])
    assert counts.sum() == 300
    assert ((counts - 7.5) ** 2 / 7.5).sum() < 80  # 39 degrees of freedom; p = 1e-4


@pytest.mark.parametrize("predicted", [0, 1])
def test_so_many_cases_of_one_predicted_class_are_drawn_whatever_their_label(
    command, path, predicted
):
    words = ("audit", path, "--predicted", predicted, "--sample", "15")
    found = command(*words)
    ids = found.out.split()
    of_class = {row["id"] for row in ROWS if row["prediction"] == predicted}
    assert len(ids) == len(set(ids)) == 15
    assert set(ids) < of_class
    strata = json.loads(command(*words, "--json").out)["strata"]
    assert {i for one in strata for i in one["ids"]} == {*ids}
    assert [(one["predicted"], one["label"]) for one in strata] == [(predicted, 0), (predicted, 1)]
    assert all(set(one["ids"]) <= STRATA[predicted, one["label"]] for one in strata)
    every = command("audit", path, "--predicted", predicted, "--sample", "500").out.split()
    assert {*every} == of_class


def test_each_case_of_a_predicted_class_is_as_likely_as_the_others(command, tmp_path):
    path, drawn = ndjson(ROWS, tmp_path / "a.ndjson"), dict.fromkeys(STRATA[0, 1] | STRATA[0, 0], 0)
    for seed in range(40):
        words = ("audit", path, "--predicted", "0", "--sample", "20", "--seed", seed)
        for name in command(*words).out.split():
            drawn[name] += 1
    counts = np.array([*drawn.values()])
    assert counts.sum() == 800
    assert ((counts - 10) ** 2 / 10).sum() < 140  # 79 degrees of freedom, fewer as of a finite set


def test_revised_labels_ranges_and_audits_decide_what_is_drawn_from(command, tmp_path):
    events = [
        {"type": "prediction", "id": name, "ts": ts, "prediction": 1}
        for name, ts in (("a", 0), ("b", 0), ("c", 0), ("late", 86_400))
    ]
    events += [{"type": "label", "id": name, "ts": 10, "label": 1} for name in ("a", "b", "c")]
    events += [{"type": "label", "id": "late", "ts": 90_000, "label": 1}]
    events += [{"type": "label", "id": "b", "ts": 20, "label": 0}]
    events += [{"type": "label", "id": "c", "ts": 30, "label": 0, "audit": True}]
    path = ndjson(events, tmp_path / "a.ndjson")
    found = json.loads(command("audit", path, "--range", "1970-01-01", "--json").out)
    assert {(one["predicted"], one["label"]): one["ids"] for one in found["strata"]} == {
        (0, 0): [],
        (1, 0): ["b"],
        (0, 1): [],
        (1, 1): ["a"],
    }


@pytest.mark.parametrize(
    "model",
    [
        "{label_sources: {order: [expert, rules]}}",
        "{label_timeout: 90s, horizon: 2d}",
        "{shadow_versions: ['*-shadow'], segments: [version]}",
    ],
)
def test_strata_are_those_that_replay_counts_with_the_same_configuration(command, tmp_path, model):
    rng, events = np.random.default_rng(3), []
    for n in range(200):
        called, label = (int(one) for one in rng.integers(0, 2, 2))
        base = {"type": "prediction", "id": f"id-{n}", "ts": 60 * n}
        events.append({**base, "prediction": called, "version": "a"})
        events.append({**base, "prediction": 1 - called, "version": "b-shadow"})
        first = {"type": "label", "id": f"id-{n}", "ts": 60 * n + 30}
        events.append({**first, "label": label, "source": "expert"})
        events.append({**first, "ts": 60 * n + 5_000, "label": 1 - label, "source": "rules"})
    path = ndjson(events, tmp_path / "a.ndjson")
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{default: {model}}}\n")
    (counted,) = json.loads(command("replay", "--json", "-c", config, path).out)["models"].values()
    drawn = json.loads(command("audit", path, "-c", config, "--sample", "5", "--json").out)
    cells = {(0, 0): "tn", (1, 0): "fp", (0, 1): "fn", (1, 1): "tp"}
    strata = {cells[one["predicted"], one["label"]]: one["cases"] for one in drawn["strata"]}
    assert strata == {name: counted["outcomes"][name] for name in strata}
    assert sum(strata.values()) == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "0"], "--sample: must be at least 1, got 0"),
        (["--model", "x"], "no such model, got 'x'; the feed has default"),
        (
            ["--range", "1999-01"],
            "got '1999-01'; such cases are of 2023-11-14T22:13:20Z to 2023-11-15T00:12:20Z",
        ),
    ],
)
def test_what_cannot_be_drawn_is_an_error(command, tmp_path, options, message):
    found = command("audit", ndjson(ROWS, tmp_path / "a.ndjson"), *options)
    assert found.code == 2
    assert message in found.err


def test_standard_input_cannot_be_read_twice(command):
    assert "write them to a file" in command("audit", "-").err
