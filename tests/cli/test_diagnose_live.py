"""`diagnose --url` of a running monitor whose model cannot be compared yet."""

import pytest
from cli.commands import ran
from streams import batch_of

from monitor import Monitor
from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer

DAY = 86_400


def without_labels(model: str) -> list[dict]:
    return [
        {"type": "prediction", "id": f"{model}{n}", "ts": n * DAY // 10, "model": model}
        | {"prediction": int(n % 5 == 0)}
        for n in range(100)
    ]


@pytest.fixture(scope="module")
def url():
    monitor = Monitor()
    for model in ("m", "other"):
        monitor.apply(batch_of(without_labels(model)))
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    with BackgroundServer(app) as server:
        yield server.url


def test_what_is_known_of_it_stands_before_the_error(capsys, url):
    done = ran(capsys, "diagnose", "--url", url, "--model", "m")
    assert done.code == 2
    assert "no outcome is mature yet" in done.err
    assert done.out.startswith("  What moved precision? Not known: no labels yet.\n")
    assert "Is the model worse? Cannot be known: no labels yet." in done.out
    assert "Share of flagged cases: .200" in done.out
    assert 'Send: {"type": "label"' in done.out


@pytest.mark.parametrize(
    "asked",
    [
        ("--model", "m", "--json"),
        ("--model", "m", "--before", "1970-01-01..1970-01-02"),
        ("--model", "absent"),
        (),
    ],
)
def test_nothing_stands_there_for_other_forms_ranges_and_models(capsys, url, asked):
    done = ran(capsys, "diagnose", "--url", url, *asked)
    assert (done.code, done.out) == (2, "")
    assert done.err
