"""Labels of sources, by every way in, and what page, API, diagnose and Python show of them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from exporter.page.pages import served
from httpx import get
from sklearn.metrics import cohen_kappa_score

from monitor import Monitor
from monitor.cli.entry import main
from monitor.config import Config
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.sources_now import sources_now
from monitor.feeds.csv_file import read_csv
from monitor.feeds.http.json_bodies import feedback_lines

RATES = {"ann": (0.02, 0.1), "expert": (0.005, 0.02), "rules": (0.05, 0.3)}
"""False positive and false negative rate of each source."""
CASES = 2_000
CONFIG = Config(
    models={"claims": {"label_timeout": None, "label_sources": {"order": ["expert", "ann"]}}},
    windows=["7d"],
)


def tables():
    """Predictions, and the labels of each source, as frames."""
    rng = np.random.default_rng(1)
    actual = rng.random(CASES) < 0.2
    flagged = rng.random(CASES) < np.where(actual, 0.8, 0.05)
    paid = pd.Timestamp("2026-06-01", tz="UTC") + pd.to_timedelta(np.arange(CASES) * 120, unit="s")
    ids = [f"case-{number}" for number in range(CASES)]
    labels = {}
    for source, (false, lost) in RATES.items():
        label = actual ^ (rng.random(CASES) < np.where(actual, lost, false))
        labels[source] = pd.DataFrame({"id": ids, "ts": paid, "label": label.astype(int)})
    return pd.DataFrame({"id": ids, "ts": paid, "prediction": flagged.astype(int)}), labels


PREDICTIONS, LABELS = tables()


def records(frame):
    times = frame["ts"].astype("int64") // 10 ** (9 if frame["ts"].dtype.unit == "ns" else 6)
    return frame.assign(ts=times.astype(float)).to_dict("records")


def by_a_constant(monitor):
    for source, frame in LABELS.items():
        monitor.feed(frame, source={"value": source})


def by_a_column(monitor):
    for source, frame in LABELS.items():
        monitor.feed(frame.assign(who=source), source="who")


def by_arrow(monitor):
    for source, frame in LABELS.items():
        monitor.feed(pa.Table.from_pandas(frame.assign(source=source)))


def by_single_labels(monitor):
    for source, frame in LABELS.items():
        for row in records(frame):
            monitor.label(row["id"], ts=row["ts"], label=row["label"], source=source)


def by_lines(monitor):
    decoder = monitor._events.decoder
    for source, frame in LABELS.items():
        lines = [json.dumps({**row, "source": source}) for row in records(frame)]
        monitor.apply(decoder.decode_lines("\n".join(lines).encode() + b"\n", source="t"))


def by_feedback(monitor):
    for source, frame in LABELS.items():
        body = json.dumps([{**row, "source": source} for row in records(frame)]).encode()
        lines = feedback_lines(body, "application/json", now=0.0)
        monitor.apply(monitor._events.decoder.decode_lines(lines, source="t"))


def by_csv(monitor):
    for source, frame in LABELS.items():
        text = pd.DataFrame(records(frame)).assign(source=source).to_csv(index=False)
        for batch in read_csv([text.encode()], "t", monitor._events.decoder, 1 << 16):
            monitor.apply(batch)


def fed(by):
    monitor = Monitor(CONFIG)
    monitor.feed(PREDICTIONS)
    by(monitor)
    return monitor


@pytest.fixture(scope="module")
def monitor():
    return fed(by_a_constant)


@pytest.mark.parametrize(
    "by", [by_a_column, by_arrow, by_csv, by_feedback, by_lines, by_single_labels]
)
def test_every_way_in_gives_the_same(monitor, by):
    found, expected = fed(by)["claims"].label_sources, monitor["claims"].label_sources
    assert found.to_dict() == expected.to_dict()
    assert found.pairs_to_dict() == expected.pairs_to_dict()
    assert found.found.outranked == expected.found.outranked == CASES


def test_the_tables_hold_the_true_rates(monitor):
    view = monitor["claims"].label_sources
    frame = view.to_frame().set_index("source")
    assert frame["labelled"].tolist() == [CASES] * 3
    for source, rates in RATES.items():
        for name, true in zip(("false_positive", "false_negative"), rates, strict=True):
            row = frame.loc[source]
            assert row[f"{name}_lower"] <= true <= row[f"{name}_upper"], (source, name)
    pairs = view.pairs_to_frame()
    ann, rules = LABELS["ann"]["label"], LABELS["rules"]["label"]
    chosen = pairs[(pairs["first"] == "ann") & (pairs["second"] == "rules")].iloc[0]
    assert chosen["agreement"] == pytest.approx((ann == rules).mean())
    assert "Krippendorff's alpha of all is" in repr(view)


def test_page_api_and_diagnose_say_the_same(monitor):
    status = status_answer(monitor.snapshot(), limit=1).models[0].label_sources
    with served(monitor) as url:
        answer = get(f"{url}/api/v1/status").json()["models"][0]["label_sources"]
        page = get(f"{url}/?model=claims").text
    assert answer["cases"] == status.cases == CASES
    assert answer["sources"][1]["source"] == "expert"
    assert answer["sources"][1]["false_negative"]["estimate"] == pytest.approx(
        status.sources[1].false_negative.estimate
    )
    assert answer["text"] == status.text
    assert "Who labels" in page
    assert "expert, rules" in page


def test_two_sources_have_agreement_and_no_rates():
    two = Monitor(CONFIG)
    two.feed(PREDICTIONS)
    for source in ("ann", "rules"):
        two.feed(LABELS[source], source={"value": source})
    found = two["claims"].label_sources
    assert found.to_dict()["false_positive"] == [None, None]
    assert len(found.pairs_to_dict()["kappa"]) == 1
    assert "takes three sources of which each two share 100 cases" in repr(found)
    page = "".join(map(str, sources_now(found.found)))
    assert "How often each is wrong takes three sources" in page
    assert "False positives" not in page


def test_labels_without_a_source_show_nothing():
    plain = Monitor(CONFIG)
    plain.feed(PREDICTIONS)
    plain.feed(LABELS["ann"])
    view = plain["claims"].label_sources
    assert (bool(view), view.to_dict()["source"]) == (False, [])
    assert sources_now(view.found) is None


def test_diagnose_of_recorded_events_names_the_sources(tmp_path, capsys):
    lines = [json.dumps(row) for row in records(PREDICTIONS)]
    for source, frame in LABELS.items():
        lines += [json.dumps({**row, "source": source}) for row in records(frame)]
    events = tmp_path / "events.ndjson"
    events.write_text("\n".join(lines) + "\n")
    ranges = ["--before", "2026-06-01..2026-06-02", "--after", "2026-06-02..2026-06-03"]
    main(["diagnose", str(events), *ranges])
    told = " ".join(capsys.readouterr().out.split())
    assert "ann and expert agree on" in told
    assert "expert labels" in told
    main(["diagnose", str(events), *ranges, "--json"])
    found = json.loads(capsys.readouterr().out)["label_sources"]
    assert [one["source"] for one in found["sources"]] == [*LABELS]
    assert found["text"] in " ".join(json.dumps(found).split())


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"source": ""}, "source: must be a string that is not empty"),
        ({"source": 1.5}, "source: must be a string that is not empty, or an integer"),
        ({"source": "x" * 257}, "source: must be at most 256 bytes"),
        ({"source": "ann", "audit": True}, "source: is not of an audit"),
    ],
)
def test_a_source_that_cannot_be_used_is_an_error(fields, told):
    with pytest.raises(ValueError, match=told):
        Monitor(CONFIG).label("a", ts=0, label=1, **fields)


def test_an_outcome_without_an_id_counts_and_its_source_says_nothing():
    monitor = Monitor()
    monitor.feed({"ts": [0], "prediction": [1], "label": [1], "source": ["ann"]})
    assert monitor.snapshot().lifetime.counts.tp.tolist() == [1]
    assert not monitor["default"].label_sources


def changing(leaves):
    """Events of four weeks of which the last two have no labels of a source."""
    week = 7 * 86_400
    rng = np.random.default_rng(4)
    for number in range(4_000):
        ts = 2_900 * week + number * 4 * week // 4_000
        actual = int(rng.random() < 0.3)
        yield {"type": "prediction", "id": f"c{number}", "ts": ts, "prediction": actual}
        for source in ("ann", "bob"):
            if source != leaves or number < 2_000:
                label = {"type": "label", "id": f"c{number}", "ts": ts + 1, "label": actual}
                yield {**label, "source": source}


@pytest.mark.parametrize("leaves", ["bob", None])
def test_diagnose_names_a_source_that_left(tmp_path, capsys, leaves):
    path = tmp_path / "events.ndjson"
    path.write_text("".join(json.dumps(event) + "\n" for event in changing(leaves)))
    days = pd.to_datetime((2_900 * 7 + np.array([0, 14, 28])) * 86_400, unit="s").strftime("%F")
    ranges = ["--before", f"{days[0]}..{days[1]}", "--after", f"{days[1]}..{days[2]}"]
    assert main(["diagnose", str(path), *ranges]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert ("source bob 100 % → 0 % (counted by weeks)" in printed) == (leaves == "bob")
    assert ("other sources label now" in printed) == (leaves == "bob")


def test_a_model_of_many_classes_has_agreement_and_says_why_it_has_no_rates():
    names = ["card", "loan", "other"]
    monitor = Monitor(Config(models={"m": {"classes": names}}, windows=["7d"]))
    rng = np.random.default_rng(3)
    actual = rng.integers(0, 3, 400)
    table = {"id": [str(n) for n in range(400)], "ts": np.arange(400) * 60.0}
    monitor.feed({**table, "prediction": [names[n] for n in actual]})
    given = {}
    for source, wrong in (("ann", 0.05), ("bob", 0.1), ("zoe", 0.3)):
        given[source] = np.where(rng.random(400) < wrong, rng.integers(0, 3, 400), actual)
        label = [names[n] for n in given[source]]
        monitor.feed({**table, "label": label}, source={"value": source})
    view = monitor["m"].label_sources
    kappa = {(row.first, row.second): row.kappa.estimate for row in view.found.pairs}
    for first, second in (("ann", "bob"), ("ann", "zoe"), ("bob", "zoe")):
        expected = cohen_kappa_score(given[first], given[second])
        assert kappa[first, second] == pytest.approx(expected)
    assert 0 < view.found.alpha < 1
    assert view.found.rates_undefined.endswith("for models of two classes only")
    with served(monitor) as url:
        page = get(f"{url}/?model=m").text
    assert "How often each is wrong is estimated for models of two classes only." in page
    assert "ann, zoe" in page
