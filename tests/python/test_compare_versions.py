"""`compare_versions`: tables of cases, with and without times, ids and segments."""

import math
from html import escape

import numpy as np
import pytest
from watch import versioned

from monitor import Monitor, compare_versions

FIELDS = {"version": "v", "prediction": "flagged", "label": "fraud"}


def cases(rows, recall, *, seed=0, start=0):
    """So many cases of each version, a minute apart, at these recalls and one FPR."""
    rng = np.random.default_rng(seed)
    version = rng.integers(0, len(recall), rows)
    fraud = rng.random(rows) < 0.3
    flagged = rng.random(rows) < np.where(fraud, np.array(recall)[version], 0.1)
    return {
        "v": [str(6 + one) for one in version],
        "flagged": flagged.astype(int).tolist(),
        "fraud": fraud.astype(int).tolist(),
        "when": [start + 60 * i for i in range(rows)],
    }


def test_a_worse_version_is_called_worse_with_and_without_times():
    table = cases(20_000, (0.8, 0.6))
    timed = compare_versions(table, ("6", "7"), ts="when", **FIELDS)
    plain = compare_versions(
        {name: column for name, column in table.items() if name != "when"}, **FIELDS
    )
    assert (timed.verdict, plain.verdict) == ("worse", "worse")
    assert timed.headline.startswith("Version 7 is worse than 6: recall .")
    before, after = (report.to_dict()["a"]["outcomes"]["tp"] for report in (timed, plain))
    assert before == pytest.approx(after, abs=5)  # with times, only while both predict
    assert str(timed).startswith("Version 7 is worse than 6")
    assert "worse" in repr(timed)


def test_the_last_days_alone_may_be_compared():
    early, late = cases(20_000, (0.8, 0.6)), cases(20_000, (0.8, 0.8), start=60 * 20_000)
    table = {name: early[name] + late[name] for name in early}
    whole = compare_versions(table, ("6", "7"), ts="when", **FIELDS)
    last = compare_versions(table, ("6", "7"), last="13d", ts="when", **FIELDS)
    assert whole.verdict == "worse"
    assert last.verdict in ("equal", "not_shown")


def test_rows_of_one_id_are_one_case_that_both_scored():
    table = cases(3_000, (0.8,))
    ids = [f"i{i}" for i in range(3_000)]
    twice = {name: column + column for name, column in table.items()}
    twice["v"] = ["6"] * 3_000 + ["7"] * 3_000
    found = compare_versions(twice | {"id": ids + ids}, ts="when", id="id", **FIELDS).to_dict()
    assert (found["decided_by"], found["verdict"]) == ("pairs", "equal")
    assert found["paired"]["positives"]["only_a"] == found["paired"]["positives"]["only_b"] == 0


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"versions": ("6", "9")}, "version '9' has no prediction yet; known are "),
        ({"segment": {"version": "v"}}, "segment: the version is compared"),
        ({"last": "soon"}, "last: must be a duration"),
        ({"last": "0"}, "last: must be a duration above 0, got '0'; write it like 7d"),
        ({"label": "missing"}, "there is no column 'missing'"),
    ],
)
def test_what_cannot_be_compared_is_a_value_error(given, text):
    with pytest.raises(ValueError, match=text):
        compare_versions(cases(100, (0.8, 0.8)), **{"ts": "when", **FIELDS, **given})


@pytest.mark.parametrize("versions", [("6",), "6,7", ("6", "6"), ("6", 7.5), (6, None), 6])
def test_versions_that_are_no_pair_are_a_value_error(versions):
    with pytest.raises(ValueError, match="versions: must be two different versions"):
        compare_versions(cases(100, (0.8, 0.8)), versions, ts="when", **FIELDS)


def test_two_models_are_refused():
    table = cases(100, (0.8, 0.8)) | {"m": ["a", "b"] * 50}
    with pytest.raises(ValueError, match="one at a time is compared, got a, b"):
        compare_versions(table, ts="when", model="m", **FIELDS)


def live(**made):
    monitor = Monitor(versioned.config_of())
    for batch in versioned.batches(versioned.stream(**made), monitor.config):
        monitor.apply(batch)
    return monitor


def test_a_live_monitor_compares_the_versions_that_it_holds():
    monitor = live(recall=(0.9, 0.5), a_day=1_008)
    report = monitor.compare_versions()
    assert report.verdict == "worse"
    assert report.headline.startswith("Version 7 is worse than 6")
    assert report.to_dict()["anytime"]
    assert monitor.compare_versions(("7", "6"), last="2d", model="m").verdict == "better"


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"model": "other"}, "there is no such model"),
        ({"versions": ("6", "9")}, "version '9' has no prediction yet; known are "),
        ({"last": "soon"}, "last: "),
    ],
)
def test_what_a_live_monitor_cannot_compare_raises(asked, fault):
    with pytest.raises(ValueError, match=fault):
        live(days=6).compare_versions(**asked)


def test_before_both_versions_are_mature_a_live_monitor_says_what_is_missing():
    with pytest.raises(ValueError, match=r"m: nothing is compared: .* never predicted"):
        live(until=versioned.BEGAN).compare_versions()


@pytest.fixture(scope="module")
def report():
    return compare_versions(cases(4_000, (0.9, 0.6)), ("6", "7"), ts="when", **FIELDS)


def test_a_frame_has_a_row_for_each_metric(report):
    table, found = report.to_frame(), report.to_dict()
    assert table["metric"].tolist() == list(found["a"]["at_equal_mix"])
    recall = table[table["metric"] == "recall"].iloc[0]
    assert recall["b_lower"] == found["b"]["at_equal_mix"]["recall"]["lower"]
    assert recall["difference_estimate"] == found["differences"]["recall"]["estimate"] < -0.2
    ratio = table[table["metric"] == "balanced_precision"].iloc[0]
    assert math.isnan(ratio["difference_estimate"])


def test_without_times_the_page_names_none():
    table = {name: column for name, column in cases(400, (0.9, 0.6)).items() if name != "when"}
    page = compare_versions(table, ("6", "7"), **FIELDS).to_html()
    assert "Compared at the mix as it was: neither segments nor times are known." in page
    assert "1970" not in page


def test_a_notebook_shows_the_comparison_without_a_script(report):
    page, shown = report.to_html(), report._repr_html_()
    assert report.headline.split(" (")[0] in page
    assert page.count('<th scope="row">') == 8
    assert "<script" not in page
    assert "Content-Security-Policy" in page
    assert shown.startswith('<iframe sandbox=""')
    assert escape(page.partition("<head>")[2]) in shown
