"""The list says which models page, in words, in colour and as a filter."""

import re
from dataclasses import replace

import httpx
import pytest
from exporter.page.pages import plain
from prometheus.snapshots import snapshot as made_up
from prometheus.snapshots import watched

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, attribute, judge
from monitor.exporter.app import create_app
from monitor.verdicts import DegeneratePredictions, ReferenceOutcomes, WindowVerdict
from monitor.web.server import BackgroundServer

BEFORE = ConfusionCounts(tp=8_000, fp=1_000, fn=2_000, tn=89_000)
AFTER = ConfusionCounts(tp=5_000, fp=1_000, fn=5_000, tn=89_000)
ALIKE = ConfusionCounts(tp=8_010, fp=1_000, fn=1_990, tn=89_000)


def state_of(after, *, pages):
    judgement = judge(BEFORE, after)
    found = WindowVerdict(
        verdict=judgement.verdict, judgement=judgement, attribution=attribute(BEFORE, after)
    )
    return replace(
        watched(),
        reference=ReferenceOutcomes(source="first", opens=0, closes=3_600_000, counts=BEFORE),
        verdicts={"1d": found},
        degradation_detected=pages,
        predictions=DegeneratePredictions(),
    )


@pytest.fixture(scope="module")
def fleet():
    """One model pages, two are as bad in a window and do not page, one is as before."""
    state = made_up(models=["loud", "quiet", "silent", "well"], segments=())
    states = [state_of(AFTER, pages=pages) for pages in (True, False, False)]
    states.append(state_of(ALIKE, pages=False))
    assert states[1].verdicts["1d"].verdict is Verdict.MODEL_DEGRADED
    pairs = zip(state.models, states, strict=True)
    state = replace(state, models=tuple(replace(model, watched=one) for model, one in pairs))
    with BackgroundServer(create_app(lambda: state, ready=lambda: True)) as server:
        yield server.url


def rows_of(page):
    return dict(re.findall(r'<tr><th scope="row"><a [^>]*>(\w+)</a>(.*?)</tr>', page, re.DOTALL))


def tally_of(page):
    return re.findall(
        r'<a class="key" href="([^"]*)"[^>]*><svg class="sign (\w+)".*?</svg>(.*?)</a>',
        re.search(r'<p class="tally">.*?</p>', page, re.DOTALL)[0],
    )


def test_the_tally_begins_with_what_pages_and_is_red_nowhere_else(fleet):
    pages, degraded, same = tally_of(httpx.get(fleet).text)
    assert pages == ("/?paging=true", "bad", "Pages: 1")
    assert degraded == ("/?verdict=model_degraded", "open", "3 Model degraded")
    assert same[1:] == ("good", "1 No change")


def test_what_pages_is_a_filter_of_the_list_and_leads_back(fleet):
    page = httpx.get(fleet, params={"paging": "true", "sort": "name"}).text
    assert list(rows_of(page)) == ["loud"]
    assert tally_of(page)[0] == ("/?sort=name", "bad", "Pages: 1")
    assert tally_of(page)[1][0] == "/?verdict=model_degraded&amp;sort=name"
    assert '<input type="hidden" name="paging" value="true">' in page
    none = plain(httpx.get(fleet, params={"paging": "true", "q": "well"}).text)
    assert "No such model pages now: show all models" in none


def test_a_row_that_is_certainly_worse_says_whether_it_pages(fleet):
    rows = {name: plain(row) for name, row in rows_of(httpx.get(fleet).text).items()}
    assert "Pages. Is the model worse? Yes" in rows["loud"]
    assert "Does not page. Is the model worse? Yes" in rows["quiet"]
    assert "age. " not in rows["well"]


def test_the_api_answers_the_models_that_page(fleet):
    def asked(**query):
        return httpx.get(f"{fleet}/api/v1/status", params=query)

    found = asked(paging="true").json()
    assert [model["name"] for model in found["models"]] == ["loud"]
    assert (found["total"], found["paging"]) == (1, 1)
    assert asked(paging="false").json()["total"] == 4
    assert asked(paging="true", verdict="no_change").json()["total"] == 0
    wrong = asked(paging="yes")
    assert wrong.status_code == 400
    assert wrong.json()["error"] == "paging: must be one of true, false, got 'yes'"
