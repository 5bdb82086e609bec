"""The speed benchmarks at tiny sizes: they run, and what they compare counts the same."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from benchmarks import (
    audited_changes,
    canaries,
    changed_labels,
    feeds,
    forgetting,
    frames,
    kernel_fuzz,
    label_errors,
    label_sources,
    pending,
    recorded_label_errors,
    sampled_pages,
    score_intervals,
    scored_fleet,
    scrape,
    served,
    slopes,
    spark_stages,
    speed,
    stages,
    turns,
    version_cost,
)
from benchmarks.__main__ import PARTS
from benchmarks.made import Made
from benchmarks.peers import PlainWindows

from monitor.drift.verdict import DEGRADED
from monitor.feeds.decode import Decoder
from monitor.join import Join
from monitor.join.table import CHUNK
from monitor.kernel import compiled_module
from monitor.kernel.choice import VARIABLE

EVENTS = 2_000
NEEDED = {
    "lines": ("orjson",),
    "careful": ("orjson",),
    "pandas": ("pandas",),
    "duckdb": ("duckdb", "pandas"),
}
VARIANTS = [
    pytest.param(name, marks=pytest.mark.dev(*NEEDED[name])) if name in NEEDED else name
    for name in speed.NAMES
    if name not in speed.OPTIONAL
]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def events():
    return Made(rate=2).events(EVENTS)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_counts_what_the_monitor_counts(events, name, tmp_path):
    counted = speed.Table(events, Made().waiting(100), tmp_path, speed.streamed)
    found = counted.measured(sorted({name, "monitor"}), 1)
    assert all(spent > 0 for spent in found.values())
    assert sum(counted.counts.pop()) > EVENTS / 10


def test_versions_change_no_count_of_a_stream():
    found = version_cost.measured(EVENTS, 2)
    assert {kind: len(spent) for kind, spent in found.items()} == dict.fromkeys(
        version_cost.KINDS, 2
    )
    assert 0 < version_cost.share_inside(EVENTS) < 0.5


@pytest.mark.slow
def test_a_variant_runs_in_a_process_of_its_own(events, tmp_path):
    counted = speed.Table(events, [], tmp_path)
    assert counted.measured(["monitor"], 1)["monitor"] > 0
    assert sum(counted.counts.pop()) > EVENTS / 10


def test_variants_that_disagree_are_refused(events, monkeypatch, tmp_path):
    monkeypatch.setattr(PlainWindows, "cells", lambda _: dict.fromkeys(speed.CELLS, 1))
    with pytest.raises(SystemExit, match="disagree"):
        speed.Table(events, [], tmp_path, speed.streamed).measured(["windows", "monitor"], 1)


@pytest.mark.slow
def test_what_is_pending_changes_no_count():
    assert set(speed.growth(EVENTS, [10_000, 20_000], 1)) == {10_000, 20_000}


@pytest.mark.parametrize("kernel", ["python", "c"])
def test_every_stage_of_a_run_is_timed_and_left_as_it_was(monkeypatch, kernel):
    if kernel == "c" and compiled_module() is None:
        pytest.skip("the compiled kernel is not installed")
    monkeypatch.setenv(VARIABLE, kernel)
    before = (Decoder.decode_lines, Join.steps)
    found = stages.profile(EVENTS, 1_000)
    by_kernel = {
        "c": ["decode: scan"],
        "python": ["decode: lines to records", "decode: records to columns"],
    }
    others = {stage for one, names in by_kernel.items() if one != kernel for stage in names}
    assert list(found) == [stage for stage in stages.STAGES if stage not in others]
    assert all(found.values())
    assert (Decoder.decode_lines, Join.steps) == before


def test_the_feeds_are_distinct_and_agree(capsys):
    pytest.importorskip("pyarrow")
    feeds.report(EVENTS, 1)
    reported = capsys.readouterr().out
    assert all(f"\n{name}" in reported for name in ("NDJSON", "CSV", "Parquet", "Arrow"))


def test_frames_count_as_lines_do(capsys):
    frames.report(1_000, 1)
    reported = capsys.readouterr().out
    assert all(f"\n{name}" in reported for name in ("NDJSON", "pandas", "Arrow", "arrays"))
    assert "One call of predict or label, 2,000 calls in one process, least of 1: " in reported


@pytest.mark.parametrize(
    "kind",
    [
        kind
        if kind in {"predictions", "early labels"}
        else pytest.param(kind, marks=pytest.mark.slow)
        for kind in forgetting.KINDS
    ],
)
def test_a_day_is_forgotten_chunk_by_chunk(kind):
    found = forgetting.longest_step(kind, 8 * forgetting.BATCH)
    assert found.cpu > 0
    assert found.most <= CHUNK
    assert found.most > CHUNK // 2 or kind == "early labels"


def test_pending_predictions_are_measured_and_stored():
    grown = pending.Grown(30_000)
    assert 24 < grown.steady < 250
    assert 0 < grown.mean <= grown.longest
    assert all(spent > 0 for spent in pending.stored(grown.monitor, 30_000, 1))


@pytest.mark.slow
def test_posted_and_followed_events_count_the_same(capsys):
    served.report(EVENTS, 2, 1)
    reported = capsys.readouterr().out
    assert "HTTP" in reported
    assert "Kafka" in reported


def test_a_slope_is_the_exponent_of_the_cost():
    cases = [slopes.Case(size, Made(models=size), pending=100) for size in (1, 10)]
    assert slopes.slope(cases, [5.0, 50.0]) == pytest.approx(1.0)
    assert slopes.slope(cases, [5.0, 5.0]) == 0
    assert all(slopes.nanoseconds(case, 500)() > 0 for case in cases)


def test_a_scrape_is_compared(capsys):
    scrape.main(["--samples", "90", "--repetitions", "1"])
    assert "gzip" in capsys.readouterr().out


def test_a_library_that_is_missing_is_named_with_its_extra():
    with pytest.raises(SystemExit, match=r"no_such_peer is needed.*precision-monitor\[bench\]"):
        turns.wanted("no_such_peer")


def test_one_command_runs_the_parts_that_are_asked_for():
    command = [sys.executable, "-m", "tests.benchmarks", "--quick", "stages"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "## stages: where the time goes" in done.stdout
    assert "ns an event" in done.stdout
    refused = subprocess.run(
        [*command[:3], "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "no such part: nothing; there are speed, stages" in refused.stderr


def test_the_stages_of_the_job_on_spark_count_every_row():
    found = spark_stages.measured(300, 2, 4, 100)
    assert [*found.spent] == ["decode", "clocks", "packets", "pages", "merge", "events"]
    assert 0 < found.counts < found.rows
    assert found.moved["written"] > 300 * 24


def test_every_part_is_a_module():
    assert [part for part in PARTS if not find_spec(f"benchmarks.{part}")] == []


def test_a_page_begins_more_than_a_day_after_the_last():
    paging = np.zeros(60, bool)
    paging[[*range(5, 9), *range(17, 32), *range(39, 59)]] = True
    assert sampled_pages.pages(paging).tolist() == [5, 17]


@pytest.mark.slow
def test_sampled_models_go_through_the_engine():
    setting = sampled_pages.Setting("weighted", "worse", 2_000, 0.2)
    counted = sampled_pages.counted((setting, 1, 18, 3))
    assert counted.model_days == 18
    assert counted.pages == counted.models_paged == counted.by_verdict == 1
    assert 0 < counted.until[0] < 12


@pytest.fixture(scope="module")
def summer():
    return canaries.summer(canaries.config())


@pytest.mark.parametrize(
    "canary",
    [
        one if one.other_traffic and one.named else pytest.param(one, marks=pytest.mark.slow)
        for one in canaries.CANARIES
    ],
    ids=lambda canary: canary.name,
)
def test_a_canary_of_the_flights_is_called_worse_where_it_is_worse(summer, canary):
    drawn = canaries.with_canary(summer, canary, 0)
    outcomes = canaries.outcomes_of(drawn)
    assert int(outcomes.cells.sum()) == len(summer.predictions)
    assert ("worse" in canaries.verdicts(outcomes)) == ("worse" in canary.name)


@pytest.mark.slow
def test_a_canary_that_gets_other_traffic_is_compared_at_equal_mix(summer):
    drawn = canaries.with_canary(summer, canaries.CANARIES[1], 0)
    assert "at equal class ratio and mix" in canaries.words(drawn, named=True)


def test_intervals_of_corrected_labels_cover_in_every_row():
    rows = label_errors.stated(300)
    assert len(rows) == len(label_errors.PREVALENCES) * len(label_errors.FLIPS)
    assert min(float(row[column]) for row in rows for column in (6, 11)) > 0.9


def test_intervals_of_labels_corrected_for_ranges_of_rates_cover_in_every_row():
    rows = label_errors.ranged(300)
    assert len(rows) == len(label_errors.PREVALENCES) * (len(label_errors.FLIPS) - 1)
    assert min(float(row[column]) for row in rows for column in (4, 8)) > 0.93


def test_intervals_of_metrics_of_scores_hold_the_truth():
    found = score_intervals.coverage(score_intervals.WORLDS["days differ"], days=7, draws=20)
    assert min(held for held, _ in found.values()) >= 0.85
    assert {there for _, there in found.values()} == {1.0}


def test_intervals_at_rates_learned_from_audits_cover_in_every_row():
    rows = label_errors.learned(5)
    assert len(rows) == len(label_errors.PREVALENCES) * len(label_errors.FLIPS)
    assert min(float(row[column]) for row in rows for column in (8, 11)) >= 0.8


@pytest.fixture(scope="module")
def flights():
    return recorded_label_errors.Recorded.read(recorded_label_errors.FLIGHTS)


def test_metrics_of_recorded_streams_are_those_of_unflipped_labels_where_rates_are_known(flights):
    rows = {
        row[:3]: [float(one) for one in row[3:]]
        for row in recorded_label_errors.stated(flights, 2, 1)
    }
    assert len(rows) == 2 * (2 + 4 * len(label_errors.FLIPS[1:]))
    for (flips, _, known), (recall, _, held, anew, missing, *_) in rows.items():
        assert missing == 0
        if known != "as labelled":
            assert abs(recall) < 0.02
            assert held > 0.95
            assert anew > 0.8
        elif flips == "5 %":
            assert recall < -0.03


@pytest.mark.slow
def test_models_of_recorded_weeks_are_not_called_worse_where_labels_are_flipped(flights):
    rows = recorded_label_errors.verdicts(flights, 1, 1, flips=(0.01,), known=("none",), weeks=10)
    assert [row[:3] for row in rows] == [("1 %", "start", "none"), ("1 %", "middle", "none")]
    assert {row[-1] for row in rows} == {"0 of 1"}


@pytest.mark.slow
def test_a_model_of_recorded_weeks_that_loses_half_of_its_true_positives_is_called_worse(flights):
    weeks = recorded_label_errors.WEEKS
    rng = np.random.default_rng([500, 5])
    cases = recorded_label_errors.FlippedCases(flights.drawn(rng, weeks), 0.0, 0, 500)
    lost = cases.called & cases.actual & (cases.day >= weeks * 7 // 2)
    lost &= rng.random(len(lost)) < 0.5
    cases.called, cases.score = cases.called & ~lost, np.where(lost, 0.05, cases.score)
    found = recorded_label_errors.followed(cases, {}, weeks * 7)
    assert found.worse > 0.5
    assert found.paged


def test_every_model_of_a_scored_fleet_is_counted_apart(monkeypatch):
    monkeypatch.setattr(scored_fleet, "A_DAY", 2)
    monkeypatch.setattr(scored_fleet, "SCRAPES", 1)
    few, many = (scored_fleet.cost(models, 2, scored=True).samples for models in (110, 130))
    assert many - few > 20


def test_recall_by_stretches_that_audits_show_is_right_and_by_all_together_is_not():
    rows = {row[0]: [float(cell) for cell in row[1:]] for row in audited_changes.rows(2, 1)}
    assert rows["as ever"][0] == 0
    found, first, covered, first_by, covered_by, *_ = rows["4 % of negatives"]
    assert (found, covered, covered_by) == (1, 0, 1)
    assert abs(first_by - audited_changes.RECALL) < 0.03 < first - audited_changes.RECALL


@pytest.mark.parametrize("world", label_sources.WORLDS[:3])
def test_rates_and_kappa_of_sources_hold_the_truth(world):
    found = label_sources.scores(world, 30, first_seed=0)
    assert found.stated == 1
    assert found.covered > 0.88
    assert found.kappa_covered > 0.8


def test_sources_that_copy_each_other_look_better_than_they_are_and_the_other_worse():
    world = label_sources.WORLDS[-1]
    errors = label_sources.drawn(world, seed=0).errors
    found = np.array([[rate.rate for rate in one[:2]] for one in errors])
    off = found - np.array(label_sources.true_rates(world))
    assert (off[0] > 0).all()
    assert (off[1:] < 0).all()


@pytest.mark.slow
def test_other_labels_are_no_worse_model_and_a_worse_model_beside_wrong_labels_is_found():
    rows = {
        row[1:3]: [float(cell) for cell in row[3:]] for row in changed_labels.verdicts(2, 1, (0,))
    }
    falls = ("recall .8 to .6, a slide", "recall .8 to .6, spread")
    for (prevalence, change), (_, without, _, scored, _, named) in rows.items():
        if "flipped" in change:
            assert (without, scored, named) == (0, 0, 1)
        elif change in falls:
            assert (without, scored, named) == (1, 1, 0)
        elif change.startswith("none") and prevalence == "1 %":  # elsewhere log r need not rise
            assert scored == 0


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
def test_the_fuzzer_of_the_kernel_finds_nothing_in_a_few_lines(capsys):
    kernel_fuzz.main(["--quick"])
    counted = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in counted] == ["as installed", "2", "20", "20", "20", "20"]
    nothing = (" 0 taken", " 0 found", " 0 plain")
    assert not [line for line in counted if any(one in line for one in nothing)]


@pytest.mark.parametrize("rarer", [1.0, 0.9])
def test_more_new_false_positives_than_labels_can_miss_are_of_the_model(rarer):
    worlds = changed_labels.World(), changed_labels.World(alike=0.03, rarer=rarer)
    rng = np.random.default_rng(1)
    before, after = (changed_labels.days_of(rng, 0.1, world, 0.0) for world in worlds)
    assert changed_labels.judged(before, after, worlds, scored=True).verdict in DEGRADED
