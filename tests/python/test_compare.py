"""Two tables, ranges or pairs of arrays are diagnosed as recorded events are."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.commands import ran
from streams import FLIGHTS

from monitor import ConfusionCounts, Monitor, compare
from monitor.drift import Verdict

COLUMNS = {"id": "flight", "ts": "made", "score": "proba", "label": "late", "label_ts": "landed"}
SEGMENT = {"origin": "origin"}


@pytest.fixture(scope="module")
def events():
    """The bundled flights: each event and its line."""
    with gzip.open(FLIGHTS) as stream:
        return [(json.loads(line), line) for line in stream]


@pytest.fixture(scope="module")
def frame(events):
    """The bundled flights, a row for each, with a label where one came."""
    events = [event for event, _ in events]
    labels = {e["id"]: (e["label"], e["ts"]) for e in events if e["type"] == "label"}
    made = [event for event in events if event["type"] == "prediction"]
    came = [labels.get(event["id"], (None, None)) for event in made]
    return pd.DataFrame(
        {
            "flight": [event["id"] for event in made],
            "made": [event["ts"] for event in made],
            "proba": [event.get("score") for event in made],
            "decided": [event["prediction"] for event in made],
            "late": [label for label, _ in came],
            "landed": [ts for _, ts in came],
            "origin": [event["segment"]["origin"] for event in made],
        }
    )


def of_month(frame, month):
    first = pd.Timestamp(month)
    return of_days(frame, first, first + pd.DateOffset(months=1))


def of_days(frame, first, end):
    made = frame["made"]
    return frame[(pd.Timestamp(first).timestamp() <= made) & (made < pd.Timestamp(end).timestamp())]


def between(frame, asked):
    """The rows of a month, or of days A..B."""
    first, _, end = asked.partition("..")
    return of_days(frame, first, end) if end else of_month(frame, asked)


def lines_of(events, chosen):
    """The lines of flights by their ids."""
    return b"".join(line for event, line in events if event["id"] in chosen)


@pytest.fixture(scope="module")
def summer(frame):
    """July to September: a third of the flights."""
    return pd.concat([of_month(frame, f"2013-{month}") for month in ("07", "08", "09")])


@pytest.fixture(scope="module")
def feed(events, summer, tmp_path_factory):
    """The same as recorded events."""
    path = tmp_path_factory.mktemp("flights") / "summer.ndjson"
    path.write_bytes(lines_of(events, {*summer["flight"]}))
    return path


@pytest.fixture(scope="module")
def report(summer):
    return compare("2013-07", "2013-09", summer, prediction="decided", segment=SEGMENT, **COLUMNS)


def printed(capsys, feed, *words):
    done = ran(
        capsys, "diagnose", "--feed", feed, "--before", "2013-07", "--after", "2013-09", *words
    )
    assert done.code == 0
    return done.out


@pytest.mark.slow
def test_two_ranges_of_a_frame_are_diagnosed_as_recorded_events_are(capsys, feed, report):
    expected = json.loads(printed(capsys, feed, "--segments", "origin", "--json"))
    found = report.to_dict()
    for key in ("before", "after", "change", "verdict"):
        assert found[key] == expected[key]
    for cause, part in found["attribution"].items():
        assert part == expected["attribution"][cause]


def test_two_frames_count_as_the_two_ranges_do(frame, report):
    parts = [of_month(frame, month) for month in ("2013-07", "2013-09")]
    found = compare(*parts, prediction="decided", segment=SEGMENT, **COLUMNS)
    assert found.verdict is report.verdict
    for cause, part in found.causes.items():
        assert part.points == pytest.approx(report.causes[cause].points, abs=1e-12)
    assert repr(found.before.counts) == repr(report.before.counts)


@pytest.mark.parametrize(
    "months",
    [
        pytest.param(("2013-04", "2013-12"), marks=pytest.mark.slow),
        pytest.param(("2013-07", "2013-08"), marks=pytest.mark.slow),
        pytest.param(("2013-07", "2013-09"), marks=pytest.mark.slow),
        ("2013-12", "2014-01"),
        ("2013-07-01..2013-07-11", "2013-09-01..2013-09-11"),
    ],
)
def test_two_frames_are_diagnosed_as_a_file_of_their_rows_is(
    capsys, tmp_path, events, frame, months
):
    parts = [between(frame, month) for month in months]
    found = compare(*parts, prediction="decided", **COLUMNS).to_dict()
    chosen = {flight for part in parts for flight in part["flight"]}
    path = tmp_path / "two-months.ndjson"
    path.write_bytes(lines_of(events, chosen))
    before, after = months
    words = ("--feed", str(path), "--before", before, "--after", after, "--json")
    expected = json.loads(ran(capsys, "diagnose", *words).out)
    assert found["verdict"] == expected["verdict"]
    for cause, part in expected["attribution"].items():
        # Rows come with their labels, lines before them: some days are learned without these.
        for bound in ("points", "lower_points", "upper_points"):
            assert found["attribution"][cause][bound] == pytest.approx(part[bound], abs=0.001)


def test_frames_of_one_time_are_compared_by_their_own_days(frame):
    july = of_month(frame, "2013-07")
    halves = [july[july.index % 2 == half] for half in (0, 1)]
    found = compare(*halves, prediction="decided", **COLUMNS)
    assert str(found.verdict) in {"no_change", "insufficient_evidence"}
    assert found.causes["recall"].lower_points < 0 < found.causes["recall"].upper_points


def test_arrow_tables_and_arrays_say_the_same_as_frames(frame):
    weeks = ("2013-07-01..2013-07-08", "2013-09-01..2013-09-08")
    parts = [between(frame, week).dropna() for week in weeks]
    expected = compare(*parts, prediction="decided", **COLUMNS).to_dict()
    for kind in (pa.Table.from_pandas, lambda t: {name: t[name].to_numpy() for name in t}):
        assert compare(*map(kind, parts), prediction="decided", **COLUMNS).to_dict() == expected


def test_pairs_counts_and_frames_without_a_time_come_to_the_same(frame):
    parts = [of_month(frame, month).dropna() for month in ("2013-07", "2013-09")]
    by_frames = compare(*parts, prediction="decided", label="late")
    pairs = [(part["late"], part["decided"]) for part in parts]
    by_pairs = compare(*pairs)
    by_counts = compare(*(ConfusionCounts.from_labels(*pair) for pair in pairs))
    for other in (by_pairs, by_counts):
        assert other.causes == by_frames.causes
        assert other.verdict is by_frames.verdict
    assert by_frames.before.opens is None


def test_a_frame_of_scores_alone_is_cut_at_the_threshold():
    rng = np.random.default_rng(2)
    score = rng.random(4_000).round(4)
    label = (rng.random(4_000) < score).astype(int)
    table = {"proba": score, "y_true": label}
    found = compare(table, table, score="proba", threshold=0.7)
    assert found.before.counts == ConfusionCounts.from_labels(label, score >= 0.7)
    assert found.before.counts.total == 4_000


@pytest.mark.slow
def test_the_text_is_that_of_the_command(capsys, feed, report):
    lines = printed(capsys, feed, "--segments", "origin").splitlines()
    assert str(report).splitlines()[0] == lines[0]


def test_its_repr_is_short(report):
    lines = repr(report).splitlines()
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("Precision fell .457 → .223")
    assert lines[1] == f"verdict    {report.verdict}"


def test_precision_whose_interval_holds_0_did_not_fall_and_the_repr_has_the_words_of_the_text():
    before = ([1] * 532 + [0] * 2_468, [1] * 1_000 + [0] * 2_000)
    after = ([1] * 525 + [0] * 2_475, [1] * 1_000 + [0] * 2_000)
    report = compare(before, after)
    assert report.headline == "Precision .532 → .525: neither prevalence nor the model changed."
    causes = [line.split(", ")[-1] for line in repr(report).splitlines()[3:7]]
    assert causes == ["as before", "not certain", "as before", "as before"]
    table = str(report).partition("What moved precision      log-odds")[2].splitlines()[1:5]
    assert all(row.endswith(status) for row, status in zip(table, causes, strict=True))


def test_a_notebook_shows_pictures_and_runs_no_script(report):
    html = report._repr_html_()
    assert html.startswith('<iframe sandbox=""')
    assert html.count("&lt;svg") >= 3
    assert "&amp;lt;svg" not in html
    page = report.to_html()
    assert page.count("<svg") >= 3
    assert "<script" not in page
    assert not re.search(r"\son\w+=", page)
    assert 'id="when"' in page


def test_without_a_time_the_page_has_no_chart_over_time():
    counts = ConfusionCounts(tp=1303, fp=1551, fn=525, tn=2333)
    page = compare(counts, counts).to_html()
    assert 'id="why"' in page
    assert 'id="when"' not in page
    assert "#when" not in page


def test_tables_of_causes_and_segments(report):
    causes = report.to_frame()
    assert causes["cause"].tolist() == ["prevalence", "recall", "false_positives", "skill"]
    assert causes["points"].tolist()[0] == report.causes["prevalence"].points
    assert set(report.segments_to_frame()["value"]) == {"EWR", "JFK", "LGA"}


@pytest.mark.slow
def test_the_past_of_a_monitor_is_compared_as_its_page_does(summer):
    monitor = Monitor()
    monitor.feed(summer, prediction="decided", **COLUMNS)
    found = monitor.compare("2013-07", "2013-09")
    months = compare("2013-07", "2013-09", summer, prediction="decided", **COLUMNS)
    assert found.before.counts == months.before.counts
    assert found.verdict is months.verdict
    with pytest.raises(ValueError, match="there is no such model"):
        monitor.compare("2013-07", "2013-09", model="x")


ROWS = {"prediction": [1, 0], "label": [1, 0]}


def test_most_rows_of_a_side_rejected_is_a_warning_with_what_to_write():
    after = {
        "prediction": [1, 0, 1, 1],
        "label": [1, 0, 0, 1],
        "type": ["card", "?", "?", "outcome"],
    }
    message = (
        "after: 3 of 4 rows cannot be used; row:1: type: must be one of prediction, label, "
        'outcome, counts, got "card"; leave `type` out where it is no type of event, '
        "type={'value': ''}"
    )
    with pytest.warns(UserWarning, match="^after: 3 of 4 rows") as warned:
        compare(ROWS, after)
    assert [str(one.message) for one in warned] == [message]
    assert warned[0].filename == __file__
    with pytest.raises(ValueError, match=r"none of 4 rows can be used; .*type=\{'value': ''\}$"):
        compare(ROWS, {**after, "type": ["card"] * 4})
    assert (
        compare(ROWS, after, type={"value": ""}).verdict
        == compare(ROWS, {**after, "type": [None] * 4}).verdict
    )


@pytest.mark.parametrize(
    ("sides", "columns", "message"),
    [
        (("2013-07", "2013-09"), {}, "table: is missing"),
        (("2013-07", "2013"), {"table": ROWS}, "after: must be a range"),
        (("2013-07", "2013-07"), {"table": {**ROWS, "ts": [0, 1]}}, "before and after: overlap"),
        (("2013-07", ROWS), {}, "before: must be a table, or both must be ranges"),
        ((ROWS, ROWS), {"table": ROWS}, "table: is for two ranges"),
        ((ROWS, {"prediction": [], "label": []}), {}, "after: has no rows"),
        ((ROWS, {"prediction": ["x"], "label": [1]}), {}, "after: none of 1 row can be used"),
        (
            (ROWS, {"a": [1]}),
            {},
            "^after: .* the prediction and the label, got a; write prediction='COLUMN', label=",
        ),
        (({"a": [1], "label": [1]}, ROWS), {}, "^before: .* the prediction, .*; write prediction="),
        (({"a": [1], "prediction": [1]}, ROWS), {}, "^before: .* the label, .*; write label="),
        (
            ({"proba": [0.7], "label": [1]}, ROWS),
            {},
            "^before: has scores and no predictions; write .* threshold=0.5, or prediction=",
        ),
        ((ROWS, {**ROWS, "label": [None, None]}), {}, "^after: has no label in column 'label'"),
        (
            (ROWS, {**ROWS, "label": [None, None], "id": [1, 2]}),
            {},
            "^after: has no label in column 'label'; give cases .* label='COLUMN'",
        ),
        (({**ROWS, "prediction": [0.2, 0.3]}, ROWS), {}, "='prediction', and write threshold=0.5$"),
        ((ROWS, ROWS), {"label": "fraud"}, "label: there is no column 'fraud'"),
        (([1, 0], ROWS), {}, "a list of dicts or arrays by name, got a list of int"),
        ((({"y": 1}, [1]), ROWS), {}, "y_true: must be one-dimensional"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_its_name(sides, columns, message):
    with pytest.raises(ValueError, match=message):
        compare(*sides, **columns)


def test_verdicts_of_simulated_changes():
    rng = np.random.default_rng(9)

    def side(prevalence, recall):
        actual = rng.random(60_000) < prevalence
        return actual, rng.random(60_000) < np.where(actual, recall, 0.05)

    assert compare(side(0.2, 0.8), side(0.05, 0.8)).verdict is Verdict.PREVALENCE_SHIFT
    assert compare(side(0.2, 0.8), side(0.2, 0.5)).verdict is Verdict.MODEL_DEGRADED


@pytest.mark.parametrize(
    ("before", "after", "side"), [("2012-07", "2013-09", "before"), ("2013-07", "2015-01", "after")]
)
def test_a_range_without_rows_is_named_beside_what_the_table_has(frame, before, after, side):
    with pytest.raises(ValueError, match=rf"^{side}: no row is in 201[25]-.*; the table has 2013-"):
        compare(before, after, frame, prediction="decided", **COLUMNS)


@pytest.mark.parametrize("timed", [False, True])
def test_a_report_links_to_the_sections_that_it_has_in_their_order(timed):
    rows = {"prediction": [1, 0, 1, 0] * 60, "label": [1, 0, 0, 1] * 60}
    first, second = ({**rows, "ts": range(d * 86_400, d * 86_400 + 24_000, 100)} for d in (0, 30))
    page = (compare(first, second) if timed else compare(rows, rows)).to_html()
    links = re.findall(r'href="#([a-z]+)"', page.split("<nav")[1].split("</nav>")[0])
    assert links == re.findall(r'<section id="([a-z]+)"', page)
    assert ("when" in links) == timed


def test_positive_values_that_contradict_the_rows_are_a_warning():
    side = {"flagged": [1, 0] * 50, "fraud": ["F", "ok", "F", "F"] * 25}
    with pytest.warns(UserWarning, match="no record has the positive value 'f'") as found:
        compare(
            side,
            side,
            prediction="flagged",
            label="fraud",
            values={"label": {"positive": ["f"]}},
        )
    assert [str(one.message).partition(":")[0] for one in found] == ["before", "after"]
    assert {one.filename for one in found} == {__file__}
