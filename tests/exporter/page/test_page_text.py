"""The page and the report without a browser: what is shown, and what where nothing is known."""

import json
import re

import httpx
import pytest
from cli.commands import ran
from exporter.page.pages import HOUR, MODEL, all_flights, counts, fed, served
from prometheus.snapshots import nothing
from starlette.responses import JSONResponse
from streams import flights_of

from monitor.config import Config
from monitor.config.quantities import parse_time
from monitor.engine import Monitor
from monitor.exporter.app import create_app
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.metrics.means import g
from monitor.web.server import BackgroundServer

DAY = 86_400
JULY, SEPTEMBER = "2013-07", "2013-09"
FAMILIES = [IsoCurves(*of) for of in ((), (2.0,), (0.5,), (1.0, -1.0), (2.0, 0.0), (1.5, 1.0))]
RANGES = ("--before", JULY, "--after", SEPTEMBER)


@pytest.fixture(scope="module")
def september():
    with served(all_flights("2013-10-03")) as url:
        yield url


def page(url, **query):
    answer = httpx.get(url, params=query)
    return answer.status_code, answer.text


def test_the_page_carries_a_policy_without_anything_inline(september):
    answer = httpx.get(september)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "style=" not in answer.text
    for name in ("page.css", "page.js", "icon.svg"):
        assert httpx.get(f"{september}/static/{name}").status_code == 200


def test_every_section_is_there(september):
    _, text = page(september)
    for section in ("now", "when", "why", "where", "plane"):
        assert f'<section id="{section}"' in text


@pytest.mark.parametrize(
    ("query", "status", "reported"),
    [
        ({"model": "nobody"}, 404, "no such model"),
        ({"before": "x", "after": "2013-09"}, 200, "must be a range"),
        ({"before": "2013-09", "after": "2013-08"}, 200, "lies after"),
        ({"beta": "0"}, 400, "beta: must be a number from 0.01 to 100"),
        ({"where-page": "x"}, 400, "must be a whole number"),
    ],
)
def test_a_question_that_does_not_fit_is_answered_in_words(september, query, status, reported):
    code, text = page(september, **{"model": MODEL, **query})
    assert code == status
    assert reported in text


def test_an_unknown_model_leads_to_the_nearest_name_and_to_the_list(september):
    _, text = page(september, model=MODEL.replace("delay", "dealy"))
    assert f"did you mean &#39;{MODEL}&#39;?" in text
    assert f'Open <a href="/?model={MODEL}">{MODEL}</a>, or <a href="/">show all models</a>' in text
    _, text = page(september, model="nobody")
    assert f"there are {MODEL}" in text
    assert '<p><a href="/">show all models</a>.</p>' in text


def test_a_monitor_that_has_seen_nothing_has_a_page():
    state = nothing()
    with BackgroundServer(create_app(lambda: state, ready=lambda: True)) as server:
        code, text = page(server.url)
    assert code == 200
    assert "Models, last 1h" in text
    assert "No model yet." in text


def test_a_list_without_rows_says_why(september):
    _, text = page(september, q="nobody")
    assert "No model has this text in its name." in text
    for query in ({"q": "h"}, {}):
        code, text = page(september, **query, **{"models-page": 9})
        assert code == 200
        assert "This page has no models" in text


def test_the_list_is_filtered_by_verdict():
    config = Config(
        models={name: {"maturity": "1h"} for name in ("as-ever", "dead")},
        windows=["1d", "7d", "28d"],
    )
    records = [
        counts(name, day * DAY + hour * HOUR, cells)
        for day in range(40)
        for hour in range(0, 24, 6)
        for name in ("as-ever", "dead")
        for cells in [(0, 0, 50, 450) if name == "dead" and day > 32 else (40, 20, 10, 430)]
    ]
    with served(fed(Monitor(config), records)) as url:
        _, everything = page(url)
        (address,) = re.findall(r'href="/(\?verdict=model_degraded)"', everything)
        found = httpx.get(f"{url}/{address}").text
        _, none = page(url, verdict="prevalence_shift")
        code, refused = page(url, verdict="dead")
        names = [
            [model["name"] for model in httpx.get(f"{url}/api/v1/status{query}").json()["models"]]
            for query in ("", address)
        ]
    assert names == [["dead", "as-ever"], ["dead"]]
    assert 'href="/?model=as-ever"' in everything
    assert "Models, last 28d" in everything
    assert "Model degraded, last 7d" in found, "the window that decides is another"
    assert 'href="/?model=dead"' in found
    assert 'href="/?model=as-ever"' not in found
    assert "No such model has this verdict now" in none
    first = "verdict: must be one of prevalence_shift_and_model_degraded, "
    assert (code, first in refused) == (400, True)


def test_segments_that_are_left_out_are_not_called_unconfigured():
    config = Config(models={"m": {"segments": ["region"], "maturity": "1h"}}, windows=["7d"])
    records = [counts("m", day * DAY, (80, 40, 20, 860), region="n") for day in range(40, 160)]
    with served(fed(Monitor(config), records)) as url:
        _, text = page(url, before="1970-02-12..1970-02-20", after="1970-05-01..1970-05-25")
    assert "Segments are left out: so long ago they are stored by the day" in text
    assert "No segments: name keys" not in text


def test_links_inside_a_page_lead_somewhere(september):
    for query in ({}, {"before": "x", "after": SEPTEMBER}):
        _, text = page(september, model=MODEL, **query)
        for name in re.findall(r'href="#([^"]+)"', text):
            assert f'id="{name}"' in text


def test_a_model_without_any_event_has_a_page():
    with served(Monitor(Config(models={"m": {}}))) as url:
        code, text = page(url)
    assert code == 200
    assert "no predictions yet" in text
    assert "Nothing is compared: no predictions yet." in text


def test_refusals_of_a_regime_are_named_and_not_drawn():
    config = Config(models={"m": {"labelling": "flagged_only", "maturity": "1h"}}, windows=["7d"])
    records = [counts("m", (40 + day) * DAY, (80, 40, 0, 0, 120, 900)) for day in range(30)]
    with served(fed(Monitor(config), records)) as url:
        code, text = page(url, before="1970-02-10..1970-02-20", after="1970-02-25..1970-03-05")
    assert code == 200
    assert "precision alone can be known" in text
    assert "Precision or recall of one side is not known." in text
    assert "nan" not in text.lower().replace("finance", "")


def test_curves_of_equal_score_are_those_of_the_family():
    for iso in FAMILIES:
        for score in (0.2, 0.5, 0.8):
            for recall in (0.3, 0.7, 1.0):
                precision = iso.precision(score, recall)
                if precision is not None:
                    found = g(precision, recall, beta=iso.beta, rho=iso.rho)
                    assert found == pytest.approx(score, abs=1e-9)


@pytest.mark.slow
def test_a_report_of_recorded_events_is_the_same_each_time(capsys, tmp_path):
    first, end = (parse_time(day) / 1000 for day in ("2013-07-01", "2013-10-03"))
    summer = tmp_path / "summer.ndjson"
    summer.write_text("".join(f"{json.dumps(one)}\n" for one in flights_of(first, end)))
    texts = []
    for name in ("one.html", "two.html"):
        path = tmp_path / name
        words = ["--feed", summer, "-c", "config/flights.yaml", *RANGES, "--html", path]
        done = ran(capsys, "diagnose", *words)
        assert (done.code, done.out) == (0, "")
        assert f"{path}: written" in done.err
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert len(texts[0].encode()) < 1_000_000
    assert "<script" not in texts[0]
    assert "No threshold is shown to reach a precision of" in texts[0]
    assert "origin = JFK" in texts[0]


def test_a_running_monitor_is_asked_by_url(capsys, tmp_path, september):
    asked = ["diagnose", "--url", september, *RANGES]
    assert ran(capsys, *asked).out.startswith("Precision fell .441 → .208: positives became rarer.")
    assert '"verdict": "prevalence_shift"' in ran(capsys, *asked, "--json").out
    assert ran(capsys, *asked, "--fail-on", "prevalence_shift").code == 1
    path = tmp_path / "report.html"
    assert ran(capsys, *asked, "--html", path).code == 0
    assert "The model is not at fault." in path.read_text()


@pytest.mark.parametrize(
    ("words", "code", "reported"),
    [
        (["--before", "2013-09", "--after", "2013-08"], 2, "lies after"),
        (["--model", "nobody"], 2, "no such model"),
        (["-c", "config/flights.yaml"], 2, "cannot be combined with --url"),
        (["--html", "/nowhere/report.html", *RANGES], 2, "--html: cannot be written"),
    ],
)
def test_what_a_running_monitor_refuses_is_a_usage_error(capsys, september, words, code, reported):
    done = ran(capsys, "diagnose", "--url", september, *words)
    assert done.code == code
    assert reported in done.err


def test_what_is_no_monitor_is_an_unreadable_feed(capsys):
    done = ran(capsys, "diagnose", "--url", "http://127.0.0.1:1", *RANGES)
    assert done.code == 3
    assert "http://127.0.0.1:1: cannot be reached" in done.err
    assert ran(capsys, "top", "--url", "ftp://x").code == 2


def test_a_monitor_of_another_version_is_named_as_such(capsys, tmp_path):
    async def answer(scope, receive, send):
        await JSONResponse({"verdict": "no_change", "headline": "As before."})(scope, receive, send)

    with BackgroundServer(answer) as server:
        for words in (["top"], ["diagnose", "--html", tmp_path / "report.html"]):
            done = ran(capsys, *words, "--url", server.url)
            assert done.code == 3
            assert "answered otherwise than expected" in done.err
            assert "is it a precision-monitor" in done.err


def test_top_prints_plain_text_where_no_terminal_is(capsys, september):
    done = ran(capsys, "top", "--url", september)
    lines = done.out.splitlines()
    assert done.code == 0
    assert "\x1b" not in done.out
    assert lines[0].startswith("event time 2013-09-30T01:00:00Z   last 28d   1 ")
    assert lines[2].split()[:3] == ["model", "precision", "balanced"]
    assert lines[3].startswith(MODEL)
    assert "fewer positives" in lines[4] or "rarer" in lines[4]
    assert "  What moved precision? Rarer positives: " in done.out
    assert "  Is the model worse? " in done.out
    assert max(map(len, lines)) <= 80
    assert ran(capsys, "top", "--url", september, "--filter", "nobody").out.count("\n") == 3
