"""The past of the bundled flights, imported into a real Prometheus and asked for."""

import gzip
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from exporter.test_exporter_system import until
from ports import free_port
from streams import FLIGHTS

from monitor import ConfusionCounts, metrics

pytestmark = pytest.mark.system

MODEL = "delay-hgb-v1"
MATURITY = timedelta(days=2)
SPRING, YEAR = datetime(2013, 4, 7, tzinfo=UTC), datetime(2014, 1, 1, tzinfo=UTC)
CONFIG = f"""\
models: {{{MODEL}: {{label_timeout: 2d, maturity: 2d}}}}
pane: 1d
windows: [30d, 31d]
"""
TRUTH = Path(__file__).parents[2] / "engine" / "flights_by_month.json"
SERIES = {
    "precision": "classifier_precision",
    "balanced_precision": "classifier_balanced_precision",
}
BOUNDS = {"estimate": "_ratio", "lower": "_lower_ratio", "upper": "_upper_ratio"}


def replay(*words):
    command = [sys.executable, "-m", "monitor", "replay", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def asked(api, expr, at):
    answer = httpx.get(f"{api}/query", params={"query": expr, "time": at.timestamp()}, timeout=60)
    return answer.json()["data"]["result"]


def number(api, expr, at):
    (row,) = asked(api, expr, at)
    return float(row["value"][1])


def closed(month):
    """First moment after a month, and the window that is as long."""
    opens = datetime.fromisoformat(f"{month}-01").replace(tzinfo=UTC)
    closes = (opens + timedelta(days=32)).replace(day=1)
    return closes, f"{(closes - opens).days}d"


def flights_before(moment, path):
    """The flights and the labels that came before a moment, as a file."""
    with gzip.open(FLIGHTS, "rt") as lines:
        path.write_text("".join(x for x in lines if json.loads(x)["ts"] < moment.timestamp()))
    return path


@pytest.fixture(
    scope="module",
    params=[SPRING, pytest.param(YEAR, marks=pytest.mark.slow)],
    ids=["spring", "the year"],
)
def end(request):
    """The day before which the flights end."""
    return request.param


@pytest.fixture(scope="module")
def imported(system_program, tmp_path_factory, end):
    promtool, prometheus = system_program("promtool"), system_program("prometheus")
    folder = tmp_path_factory.mktemp("backfill")
    config, past, data = folder / "monitor.yaml", folder / "past.om", folder / "data"
    config.write_text(CONFIG)
    events = flights_before(end, folder / "events.ndjson")
    replay(events, "-c", config, "--openmetrics", past)
    command = [promtool, "tsdb", "create-blocks-from", "--max-block-duration=720h", "openmetrics"]
    done = subprocess.run([*command, past, data], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    empty, port = folder / "prometheus.yml", free_port()
    empty.write_text("global: {}\n")
    command = [prometheus, f"--config.file={empty}", f"--storage.tsdb.path={data}"]
    command += ["--storage.tsdb.retention.time=100y", "--log.level=error"]
    command += [f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        api = f"http://127.0.0.1:{port}/api/v1"

        def ready():
            try:
                return httpx.get(f"http://127.0.0.1:{port}/-/ready").status_code == 200
            except httpx.TransportError:
                return False

        try:
            until(ready)
            yield api, config
        finally:
            process.terminate()
            process.wait(20)


@pytest.mark.xdist_group("backfill")
def test_months_asked_of_prometheus_are_the_truth(imported, end):
    api, _ = imported
    truth = json.loads(TRUTH.read_text())
    # Later ones end with the recording.
    months = [month for month in truth if closed(month)[0] + MATURITY < end]
    assert len(months) == (1 if end == SPRING else 9)
    for month in months:
        closes, window = closed(month)
        at = closes + MATURITY
        where = f'{{model="{MODEL}",window="{window}"}}'
        counts = ConfusionCounts(**truth[month])
        for name, series in SERIES.items():
            expected = float(getattr(metrics, name)(counts))
            assert number(api, f"{series}_ratio{where}", at) == pytest.approx(expected, rel=1e-12)
        for cell, count in truth[month].items():
            outcomes = where.replace("}", f',outcome="{cell}"}}')
            assert number(api, f"classifier_window_outcomes{outcomes}", at) == count
        assert number(api, f"classifier_window_close_timestamp_seconds{where}", at) == (
            closes.timestamp()
        )


@pytest.mark.slow
@pytest.mark.xdist_group("backfill")
@pytest.mark.parametrize("end", [YEAR], indirect=True, ids=["the year"], scope="module")
@pytest.mark.parametrize("month", ["2013-07", "2013-09"])
def test_a_month_equals_that_of_a_replay_that_ends_there(imported, tmp_path, month):
    api, config = imported
    closes, window = closed(month)
    at = closes + MATURITY
    # An hour more, so that the replay too has come to the moment; in it nothing changes, since
    # labels of the month are in.
    events = flights_before(at + timedelta(hours=8), tmp_path / "events.ndjson")
    model = json.loads(replay(events, "-c", config, "--json"))["models"][MODEL]
    expected = model["windows"][window]
    assert expected["close"] == closes.strftime("%Y-%m-%dT%H:%M:%SZ")
    where = f'{{model="{MODEL}",window="{window}"}}'
    for name, series in SERIES.items():
        for bound, suffix in BOUNDS.items():
            assert number(api, f"{series}{suffix}{where}", at) == expected["metrics"][name][bound]
    verdict = where.replace("}", f',verdict="{expected["verdict"]}"}}')
    assert number(api, f"classifier_verdict{verdict}", at) == 1


@pytest.mark.xdist_group("backfill")
def test_counters_and_histograms_are_there_over_all_months(imported, end):
    api, _ = imported
    at = end - timedelta(days=2)
    span, least, most = ("245d", 40_000, 57_286) if end == YEAR else ("30d", 4_000, 8_500)
    grown = f"sum(increase(classifier_predictions_total[{span}]))"
    assert least < number(api, grown, at) < most
    buckets = f"sum by (le) (increase(classifier_label_delay_seconds_bucket[{span}]))"
    assert 3600 < number(api, f"histogram_quantile(0.5, {buckets})", at) < 12 * 3600
    (job,) = asked(api, "count by (job, instance) (precision_monitor_build_info)", at)
    assert job["metric"] == {"job": "precision-monitor", "instance": "127.0.0.1:9108"}
