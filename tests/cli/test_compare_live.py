"""`compare --url`: a running monitor compares what it holds, for people and for gates."""

import json

import pytest
from cli.commands import ran
from watch.versioned import BEGAN, config_of, fed, stream

from monitor import Monitor
from monitor.config import Config
from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer


def running(**made):
    monitor = fed(stream(**made))
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    return BackgroundServer(app)


@pytest.fixture(scope="module")
def worse():
    with running(recall=(0.9, 0.5), a_day=1_008) as server:
        yield server.url


@pytest.fixture(scope="module")
def same():
    with running(a_day=240) as server:
        yield server.url


def test_the_text_is_that_of_the_monitor(capsys, worse):
    done = ran(capsys, "compare", "--url", worse)
    assert done.code == 0
    assert done.out.startswith("Version 7 is worse than 6: recall .")
    assert "Versions, last" in done.out


def test_json_is_the_answer_of_the_api(capsys, worse):
    done = ran(capsys, "compare", "--url", worse, "--versions", "7,6", "--json")
    found = json.loads(done.out)
    assert found["comparison"]["verdict"] == "better"
    assert (found["model"], found["not_compared"]) == ("m", None)


@pytest.mark.parametrize(
    ("server", "failing", "code"),
    [
        ("worse", "worse", 1),
        ("worse", "not_shown", 0),
        ("same", "worse", 0),
        ("same", "not_shown", 1),
    ],
)
def test_a_gate_fails_on_the_verdicts_that_it_names(capsys, request, server, failing, code):
    url = request.getfixturevalue(server)
    assert ran(capsys, "compare", "--url", url, "--fail-on", failing).code == code


def test_while_there_is_nothing_to_compare_the_verdict_is_not_shown(capsys):
    with running(until=BEGAN) as server:
        done = ran(capsys, "compare", "--url", server.url, "--fail-on", "not_shown")
        passed = ran(capsys, "compare", "--url", server.url, "--fail-on", "worse")
    assert (done.code, passed.code) == (1, 0)
    assert done.out.startswith("Nothing is compared: '6' and '7' never predicted")
    text = " ".join(done.out.split())
    assert "9Z" not in text
    start = (
        f"`precision-monitor diagnose --url {server.url} --model m --before 1970-01-01T00:00:00Z"
    )
    assert f"{start}..1970-01-04T05:00:00Z --after" in text


def test_segments_are_advised_where_they_can_be_given(capsys):
    monitor = fed(stream(), config_of("models: {m: {segments: [version], label_timeout: 3d}}"))
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    with BackgroundServer(app) as server:
        done = ran(capsys, "compare", "--url", server.url)
    text = " ".join(done.out.split())
    first = " ".join(done.out.partition("\n\n")[0].split())
    assert "The comparison holds if both versions get alike cases" in first
    assert first.endswith("configure segments beside the version.")
    assert "--segments" not in text


@pytest.mark.parametrize("option", ["--feed", "--config", "--segments"])
def test_options_of_recorded_events_are_refused(capsys, worse, option):
    done = ran(capsys, "compare", "--url", worse, option, "x")
    assert done.code == 2
    assert f"{option}: cannot be combined with --url" in done.err
    assert "FILE: cannot be combined" in ran(capsys, "compare", "x", "--url", worse).err


def test_a_version_that_has_not_predicted_yet_is_not_shown_and_named(capsys, worse):
    asked = ("compare", "--url", worse, "--versions", "6,77", "--fail-on")
    assert [ran(capsys, *asked, failing).code for failing in ("not_shown", "worse")] == [1, 0]
    done = ran(capsys, *asked, "worse")
    assert done.out.startswith(
        "Nothing is compared: version '77' has no prediction yet; did you mean"
    )


@pytest.mark.parametrize("options", [[], ["--versions", "1,2"]])
def test_a_model_of_many_classes_is_refused_with_what_compares_its_classes(capsys, options):
    monitor = Monitor(Config(models={"m": {"classes": ["card", "loan", "other"]}}))
    names = ["card", "loan", "other"] * 4
    rows = [{"ts": 3_600 * n, "prediction": name, "label": name} for n, name in enumerate(names)]
    monitor.feed([{**row, "version": str(1 + n // 6)} for n, row in enumerate(rows)])
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    with BackgroundServer(app) as server:
        done = ran(capsys, "compare", "--url", server.url, *options)
    said = " ".join((done.out + done.err).split())
    assert "versions are compared of models of two classes only; diagnose --before A..B" in said
    assert done.code == (2 if options else 0)
