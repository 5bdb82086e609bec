"""A real Prometheus scrapes the real commands: its answers are those of `replay`."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import pytest
from exporter.test_exporter_system import prometheus, query, until
from streams import FLIGHTS

pytestmark = pytest.mark.system

MODEL = "delay-hgb-v1"
EVENTS = 30_000
"""The first ones of the flights: March to May."""
SERIES = {
    "precision": "classifier_precision",
    "balanced_precision": "classifier_balanced_precision",
    "recall": "classifier_recall",
    "false_positive_rate": "classifier_false_positive",
    "prevalence": "classifier_prevalence",
}
BOUNDS = {"estimate": "_ratio", "lower": "_lower_ratio", "upper": "_upper_ratio"}
# Panes of an hour: windows stand still while the test runs, though time moves on.
CONFIG = """\
models: {{{model}: {{label_timeout: 2d, maturity: 12h}}}}
pane: 1h
windows: [1d, 7d, 28d]
feeds: [{{type: file, path: {events}}}]
exporter: {{listen: "127.0.0.1:0"}}
state: {{directory: {state}}}
"""


@contextmanager
def serving(*words: object, stream: str) -> Iterator[int]:
    """Run a command that serves; its port, which it prints on one of its streams."""
    command = [sys.executable, "-u", "-m", "monitor", *map(str, words)]
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, text=True, **{**streams, stream: subprocess.PIPE}) as process:
        try:
            lines = getattr(process, stream)
            reported = next(line for line in lines if "http://127.0.0.1:" in line)
            yield int(reported.partition("127.0.0.1:")[2].partition("/")[0])
        finally:
            process.kill()


def value(api: str, expression: str) -> float:
    (row,) = query(api, expression)
    return float(row["value"][1])


@pytest.mark.slow
def test_run_answers_promql_with_the_numbers_of_replay(system_program, tmp_path):
    program, config = system_program("prometheus"), tmp_path / "monitor.yaml"
    events = tmp_path / "events.ndjson"
    with gzip.open(FLIGHTS) as stream:
        events.write_bytes(b"".join(islice(stream, EVENTS)))
    config.write_text(CONFIG.format(model=MODEL, events=events, state=tmp_path / "state"))
    replay = [sys.executable, "-m", "monitor", "replay", events, "-c", config, "--json"]
    done = subprocess.run(replay, capture_output=True, text=True, check=True)
    expected = json.loads(done.stdout)["models"][MODEL]
    with (
        serving("run", "-c", config, stream="stderr") as port,
        prometheus(program, tmp_path, port) as api,
    ):
        counted = sum(expected["outcomes"].values())
        shown = f'sum(classifier_window_outcomes{{window="all",segment=""}}) == {counted}'
        until(lambda: query(api, shown))  # records are told at once, outcomes each second
        for name, window in {"all": expected, **expected["windows"]}.items():
            where = f'{{model="{MODEL}",window="{name}",segment=""}}'
            for cell, count in window["outcomes"].items():
                matcher = where.replace("}", f',outcome="{cell}"}}')
                assert value(api, f"classifier_window_outcomes{matcher}") == count
            for metric, series in SERIES.items():
                for bound, suffix in BOUNDS.items():
                    found = value(api, f"{series}{suffix}{where}")
                    assert found == window["metrics"][metric][bound]
        assert value(api, "sum(classifier_predictions_total)") == expected["predictions"]
        assert value(api, "sum(classifier_labelled_predictions_total)") == expected["labels"]
        # The laws of the books, as PromQL.
        books = "sum(precision_monitor_predictions) == on() sum(precision_monitor_events_total"
        assert query(api, f'{books}{{type="prediction"}})')
        assert query(
            api,
            "sum(precision_monitor_labels) == on() "
            'sum(precision_monitor_events_total{type="label"})',
        )


def test_the_demo_can_be_scraped_while_it_plays(system_program, tmp_path):
    program = system_program("prometheus")
    with (
        serving("demo", "--seconds", "20", "--listen", "127.0.0.1:0", stream="stdout") as port,
        prometheus(program, tmp_path, port) as api,
    ):
        precision = f'classifier_precision_ratio{{model="{MODEL}",window="28d",segment=""}}'
        until(lambda: query(api, precision))
        assert 0.2 < value(api, precision) < 0.6
