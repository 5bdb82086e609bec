import io
import json
import socket
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import pytest
from cli.commands import Ran, ran
from streams import flights as recorded

from monitor.cli import main
from monitor.cli.demo import _Demo, _served
from monitor.clock import ManualClock
from monitor.config import load_config
from monitor.config.quantities import Address, parse_time
from monitor.counts import ConfusionCounts
from monitor.demo import month_rows
from monitor.demo.flights import MODEL, flights, flights_config
from monitor.demo.months import Month, Months
from monitor.demo.playback import playback
from monitor.demo.story import Paged, StoryAnswers, story
from monitor.engine import Monitor

ROOT = Path(__file__).parents[2]
CELLS = {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}


@pytest.fixture(scope="module")
def recount():
    """Outcomes by month, counted by nothing but the standard library."""
    predictions, months = {}, {}
    for event in recorded():
        if event["type"] == "prediction":
            predictions[event["id"]] = event
            continue
        made = predictions[event["id"]]
        month = datetime.fromtimestamp(made["ts"], UTC).strftime("%Y-%m")
        cell = CELLS[made["prediction"], event["label"]]
        months.setdefault(month, Counter())[cell] += 1
    return months


def balanced_precision(cells):
    """TPR / (TPR + FPR) of the counts of a month."""
    tp, fp, fn, tn = (cells[name] for name in ("tp", "fp", "fn", "tn"))
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    return tpr / (tpr + fpr)


def shares_flagged(since, until):
    """Recall and false positive rate of the flights of some days, with three digits."""
    flagged, seen, made = Counter(), Counter(), {}
    for event in recorded():
        if event["type"] == "prediction":
            made[event["id"]] = event
        elif since <= f"{datetime.fromtimestamp(made[event['id']]['ts'], UTC)}" < until:
            seen[event["label"]] += 1
            flagged[event["label"]] += made[event["id"]]["prediction"]
    return [f"{flagged[label] / seen[label]:.3f}".removeprefix("0") for label in (1, 0)]


@pytest.fixture(scope="module")
def events():
    return flights(flights_config())


def played(events, seconds):
    """Months as the demo gives them, with the share of the time at which each came."""
    config, clock = flights_config(), ManualClock()
    monitor = Monitor(config)
    months = Months(monitor, MODEL, config.model(MODEL).label_timeout)
    given = []
    for batch in playback(events, seconds=seconds, clock=clock):
        monitor.apply(batch)
        given += [(month, clock.monotonic()) for month in months.final()]
    given += [(month, clock.monotonic()) for month in months.remaining()]
    return given


@pytest.fixture(scope="module")
def in_a_minute(events):
    return played(events, seconds=60)


@pytest.mark.slow
def test_every_month_is_exactly_the_recount(in_a_minute, recount):
    starts = [f"{month.start:%Y-%m}" for month, _ in in_a_minute]
    assert starts == [f"2013-{number:02}" for number in range(3, 13)]
    for month, _ in in_a_minute:
        counted = {name: int(getattr(month.counts, name)) for name in CELLS.values()}
        assert counted == recount[f"{month.start:%Y-%m}"]


@pytest.mark.slow
def test_months_come_when_their_labels_are_in(in_a_minute):
    moments = [moment for _, moment in in_a_minute]
    assert moments[0] == pytest.approx(60 * 33 / 306, abs=0.5)
    assert moments == sorted(moments)
    assert moments[-1] == pytest.approx(60, abs=0.2)


def test_playback_gives_every_event_once_in_order(events):
    last, records = -1, 0
    for batch in playback(events, seconds=5, clock=ManualClock()):
        times = [*batch.predictions.time.tolist(), *batch.labels.time.tolist()]
        assert not times or min(times) > last
        last = max(times, default=last)
        records += batch.records
    assert records == len(events.predictions) + len(events.labels) == 113_097


def test_its_settings_are_those_of_the_example():
    example, own = load_config(ROOT / "config" / "flights.yaml"), flights_config()
    assert (own.models, own.windows) == (example.models, example.windows)


def told():
    """What the demo prints, at once."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["demo", "--seconds", "0", "--no-serve"])
    return Ran(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def shown():
    """The whole story."""
    return told()


@pytest.fixture
def shown_months(request, events, recount, monkeypatch):
    """The story of some months, and these."""
    months = [month for month in recount if month in request.param]
    if len(months) == len(recount) - 1:
        return request.getfixturevalue("shown"), months
    since, until = (parse_time(day) for day in (f"{months[0]}-01", "2013-10-04"))
    rows = [
        one.take(np.flatnonzero((one.time >= since) & (one.time < until)))
        for one in (events.predictions, events.labels)
    ]
    some = replace(events, predictions=rows[0], labels=rows[1], records=sum(map(len, rows)))
    monkeypatch.setattr("monitor.cli.demo.flights", lambda _: some)
    return told(), months


WHOLE = [f"2013-{month:02}" for month in range(3, 13)]


@pytest.mark.parametrize(
    "shown_months", [WHOLE[4:7], pytest.param(WHOLE, marks=pytest.mark.slow)], indirect=True
)
def test_it_says_what_a_person_should_see(shown_months, recount):
    shown, months = shown_months
    assert (shown.code, shown.err) == (0, "")
    text = " ".join(shown.out.split())
    for month, cells in recount.items():
        if month in months:
            tp, fp, fn, tn = (cells[name] for name in ("tp", "fp", "fn", "tn"))
            total, tpr, fpr = tp + fp + fn + tn, tp / (tp + fn), fp / (fp + tn)
            numbers = (
                (tp + fn) / total,
                (tp + fn) / (fp + tn),
                tpr,
                fpr,
                tp / (tp + fp),
                tpr / (tpr + fpr),
            )
            assert f"{month} {total:,} " + " ".join(f"{n:.3f}" for n in numbers) in text
    assert "precision halves, .457 → .223" in text
    assert "holds: .641 → .639" in text
    assert "Fewer flights were late, .320 → .139" in text
    assert "fell together, .713 → .534 and .399 → .302" in text
    parts = "prevalence -1.07, recall -0.29, false positives +0.28"
    assert f"change of logit(precision) -1.08 = {parts}" in text
    lowest = min(months, key=lambda month: balanced_precision(recount[month]))
    assert lowest == ("2013-12" if months == WHOLE else "2013-08")
    least = f"{balanced_precision(recount[lowest]):.3f}".removeprefix("0")
    assert f"lowest in {datetime.fromisoformat(f'{lowest}-01'):%B}, {least}" in text
    assert "worse there than in its first four weeks? Nothing points to it: " in text
    assert ("The monitor paged" in text) is (months == WHOLE)
    if months == WHOLE:
        recall, false_positive_rate = shares_flagged("2013-09-24", "2013-10-01")
        flagged = f"flagged {recall} of the late flights and {false_positive_rate} of the punctual"
        assert f"paged once: on 1 October. In the 7 days before, the model {flagged}" in text
        assert "The page is over: the model recovered." in text
    assert max(map(len, shown.out.splitlines())) <= 84


@pytest.mark.slow
def test_its_answer_is_that_of_diagnose(capsys, shown):
    months = ("--before", "2013-07", "--after", "2013-09")
    file = str(ROOT / "monitor" / "demo" / "flights.ndjson.gz")
    settings = ("-c", str(ROOT / "config" / "flights.yaml"))
    found = json.loads(ran(capsys, "diagnose", "--feed", file, *settings, *months, "--json").out)
    story = " ".join(shown.out.split())
    assert found["moved_precision"]["cause"] == "prevalence"
    assert f"What moved precision? {found['moved_precision']['text']}." in story
    assert found["worse"]["answer"] == "not_shown"
    assert f"Is the model worse? {found['worse']['text']}." in story


def test_a_page_that_lasts_is_named_with_the_days_before_the_last_one():
    july, august, september = (
        Month(datetime(2013, number, 1, tzinfo=UTC), ConfusionCounts(tp=4, fp=6, fn=1, tn=9))
        for number in (7, 8, 9)
    )
    days = [
        Paged(datetime(2013, month, 5, tzinfo=UTC), ConfusionCounts(tp=tp, fp=5, fn=5, tn=15))
        for month, tp in ((8, 5), (9, 15))
    ]
    answers = StoryAnswers(moved="no", worse="no", worse_at_lowest="no", paged=days, pages=True)
    text = " ".join(story([july, august, september], answers).split())
    assert "paged 2 times: on 5 August, on 5 September. In the 7 days before the last," in text
    assert "flagged .750 of the late flights and .250 of the punctual ones" in text
    assert "balanced precision was .750. The page lasts." in text


def test_a_wide_terminal_gets_a_picture_that_fits():
    july = Month(datetime(2013, 7, 1, tzinfo=UTC), ConfusionCounts(tp=4, fp=6, fn=1, tn=9))
    lines = [month_rows.header(picture=True), month_rows.row(july, picture=True)]
    assert all(line.count("●") == line.count("○") == 1 for line in lines)
    assert max(map(len, lines)) <= month_rows.PICTURE_NEEDS_COLUMNS
    assert lines[1].index("●") < lines[1].index("○")


def test_a_taken_port_is_no_obstacle(capsys):
    demo = _Demo(flights_config(), ManualClock())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address(*taken.getsockname())
        with _served(demo, address):
            out, err = capsys.readouterr()
            _, page, _, url = out.split()
            assert f"{page}metrics" == url
            assert httpx.get(url).status_code == 200
    assert "serving on a free port instead" in err
    assert f":{address.port}/" not in url


def test_first_lines_come_while_it_is_still_counting():
    command = [sys.executable, "-m", "monitor", "demo", "--seconds", "600", "--no-serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        line = demo.stdout.readline()
        assert demo.poll() is None
        demo.terminate()
    assert "flight" in line


@pytest.mark.slow
def test_stuck_clients_do_not_spoil_its_end():
    command = [sys.executable, "-m", "monitor", "demo", "--seconds", "1", "--listen", "127.0.0.1:0"]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as demo,
        ExitStack() as stuck,
    ):
        reported = iter(demo.stdout.readline, "")
        line = next(line for line in reported if "Page:" in line)
        port = int(line.partition("127.0.0.1:")[2].partition("/")[0])
        for _ in range(10):
            client = stuck.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        _, complaints = demo.communicate(timeout=600)
    assert (demo.returncode, complaints) == (0, "")
