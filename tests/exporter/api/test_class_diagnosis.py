"""A running monitor compares the classes of a model as `diagnose` of recorded events does."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import jsonschema
import numpy as np
import pytest
from class_streams import CHANGED, ClassStream
from cli.commands import ran

from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer

STREAM = ClassStream(change="confusion", a_day=150)
RANGES = {"before": "1970-01-01..1970-01-29", "after": "1970-02-12..1970-02-26"}
OPTIONS = [part for name, text in RANGES.items() for part in (f"--{name}", text)]


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    """Address of a running monitor that has counted the stream."""
    monitor = STREAM.applied()
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    with BackgroundServer(app) as server:
        yield server.url


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Arguments of `diagnose` that read the same stream from a file."""
    path: Path = tmp_path_factory.mktemp("classes")
    (path / "events.ndjson").write_text("".join(STREAM.lines()))
    names = ", ".join(STREAM.names)
    (path / "monitor.yaml").write_text(
        f"models: {{mail: {{classes: [{names}], label_timeout: 2d, maturity: 1h, "
        "reference: {first: 28d}}}\npane: 6h\nwindows: [1d, 7d, 28d]\n"
    )
    return [str(path / "events.ndjson"), "-c", str(path / "monitor.yaml")]


def asked(url: str, **query: str) -> httpx.Response:
    return httpx.get(f"{url}/api/v1/diagnosis", params=query)


def counted(first: int, end: int) -> np.ndarray:
    """Count the stream from day `first` to `end` anew."""
    cells = np.zeros((STREAM.classes, STREAM.classes), dtype=int)
    for day, (_, predicted, actual) in enumerate(STREAM.by_day()):
        if first <= day < end:
            np.add.at(cells, (predicted, actual), 1)
    return cells


def test_the_answer_is_that_of_the_recorded_events(
    running: str, recorded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(running, **RANGES).json()
    assert answer == json.loads(ran(capsys, "diagnose", *recorded, *OPTIONS, "--json").out)
    assert answer["model_worse"] == "yes"
    (worst, *_) = [c for c in answer["confusions"] if c["actual"] != c["predicted"]]
    assert (worst["actual"], worst["predicted"]) == ("class-0", "class-1")
    for side, days in (("before", (0, 28)), ("after", (CHANGED, STREAM.days))):
        assert answer[side]["classes"]["matrix"] == counted(*days).tolist()


def test_ranges_that_are_left_out_are_the_reference_and_the_window_that_decides(
    running: str, recorded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    live, later = (
        asked(running).json(),
        json.loads(ran(capsys, "diagnose", *recorded, "--json").out),
    )
    status = httpx.get(f"{running}/api/v1/status").json()["models"][0]
    days = int(status["verdict_window"].removesuffix("d"))
    assert (live["before"]["open"], live["before"]["close"]) == (
        "1970-01-01T00:00:00Z",
        "1970-01-29T00:00:00Z",
    )
    # The last day is not mature yet: its last hour is missing.
    assert live["after"]["classes"]["matrix"] == counted(55 - days, 55).tolist()
    assert later["before"] == live["before"]
    assert later["after"]["classes"]["matrix"] == counted(48, 55).tolist()


def test_the_text_and_the_exit_code_of_diagnose_are_those_of_the_running_monitor(
    running: str, recorded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    failing = ["--fail-on", "model_degraded"]
    live = ran(capsys, "diagnose", "--url", running, *OPTIONS, *failing)
    later = ran(capsys, "diagnose", *recorded, *OPTIONS, *failing)
    assert (live.code, live.out) == (later.code, later.out)
    assert live.code == 1
    assert "- class-0 → class-1 confusions rose from" in live.out
    as_json = ran(capsys, "diagnose", "--url", running, *OPTIONS, "--json")
    assert json.loads(as_json.out) == asked(running, **RANGES).json()
    refused = ran(capsys, "diagnose", "--url", running, "--html", "report.html")
    assert refused.code == 2
    assert "--html: shows models of two classes only" in refused.err


def test_the_answer_fits_the_described_schema(running: str) -> None:
    found = SimpleNamespace(**httpx.get(f"{running}/openapi.json").json())
    response = found.paths["/api/v1/diagnosis"]["get"]["responses"]["200"]
    schema = response["content"]["application/json"]["schema"]
    assert {"$ref": "#/components/schemas/ClassDiagnosis"} in schema["anyOf"]
    jsonschema.validate(asked(running).json(), {**schema, "components": found.components})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"after": "1970-02-12..1970-02-13T06:00:00Z"}, "after: must be whole days (UTC)"),
        ({"after": "1970-01-20..1970-02-20"}, "before and after: overlap"),
        ({"after": "1970-02-01..2190-01-01"}, "after: days are stored for 365 days"),
        ({"before": "1960-01-01..1960-02-01"}, "before: days are stored for 365 days"),
        ({"after": "1970-05-01..1970-05-08"}, "after: no outcome of 'mail' lies in"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    running: str, query: dict[str, str], message: str
) -> None:
    answer = asked(running, **query)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


def test_curves_are_refused_with_what_compares_the_classes(running: str) -> None:
    answer = httpx.get(f"{running}/api/v1/curve")
    assert answer.status_code == 400
    assert "`diagnose` and /api/v1/diagnosis compare its classes" in answer.json()["error"]
