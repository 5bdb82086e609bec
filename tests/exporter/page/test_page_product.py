"""The page at every volume, without a browser: no labels, first day, objectives, marks, sorting."""

import re

import httpx
import numpy as np
import pytest
from exporter.page import pictures
from exporter.page.pages import counts, fed, served

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.score_shares import RANGES

DAY = 86_400
START = 20_000 * DAY


def scored(model, days, a_day, seed, *, labelled=True, versions=("v1", "v2")):
    """Scored predictions with a label two hours later; the version changes half-way."""
    rng = np.random.default_rng(seed)
    for number in range(days * a_day):
        ts = START + DAY * number / a_day
        positive = rng.random() < 0.2
        score = float(rng.beta(6, 3) if positive else rng.beta(2, 8))
        name = f"{model}-{number}"
        yield {
            "type": "prediction",
            "id": name,
            "ts": ts,
            "model": model,
            "score": score,
            "prediction": int(score >= 0.5),
            "version": versions[number * 2 // (days * a_day)],
            "segment": {"region": "north" if number % 3 else "south"},
        }
        if labelled and number < (days * a_day) - a_day // 12:
            yield {"type": "label", "id": name, "ts": ts + 7200, "label": int(positive)}


def in_order(*streams):
    return sorted((event for stream in streams for event in stream), key=lambda one: one["ts"])


@pytest.fixture(scope="module")
def three():
    """A healthy model, one without labels, and one whose first day it is."""
    config = Config(
        defaults={
            "label_timeout": "3d",
            "maturity": "6h",
            "segments": ["region"],
            "objective": {"precision": 0.99, "recall": 0.2},
        },
        windows=["1d", "7d"],
    )
    events = in_order(
        scored("healthy", 21, 100, 1),
        scored("silent", 21, 40, 2, labelled=False, versions=("", "")),
        [one | {"ts": one["ts"] + 20.9 * DAY} for one in scored("young", 1, 50, 3)][:9],
    )
    with served(fed(Monitor(config), events)) as url:
        yield url


def page(url, **query):
    return httpx.get(url, params=query).text


def status_of(url, model):
    return httpx.get(f"{url}/api/v1/status", params={"model": model}).json()["models"][0]


def section(text, name):
    return re.search(rf'<section id="{name}".*?</section>', text, re.DOTALL)[0]


def test_a_model_without_labels_shows_its_predictions_instead_of_dashes(three):
    text = page(three, model="silent")
    now = section(text, "now")
    assert "Balanced precision" not in now.split("<details")[0]
    assert "No label has come: of 840 predictions" in text
    assert "{&#34;type&#34;: &#34;label&#34;" in text
    assert "Scores, with and without a label" in now
    known = status_of(three, "silent")
    for window in known["windows"].values():
        assert f"<strong>{window['predicted_positive_rate']:.3f}</strong>" in now
    head = text.split("<section")[0]
    for question, answer in zip(
        ("What moved precision?", "Is the model worse?"), known["answers"]["said"], strict=True
    ):
        assert question in head
        assert f"{answer}." in head
    assert "Rests on" not in head
    assert "flagged cases, share of the predictions" in section(text, "when")
    assert "panel-name" in section(text, "when")
    assert 'class="line precision"' not in section(text, "when")


def test_a_model_on_its_first_day_shows_what_there_is_so_far(three):
    text = page(three, model="young")
    assert "Windows show predictions that are" in text or "predictions wait for one" in text
    assert "so far" in section(text, "now")
    assert "Nothing is compared" in section(text, "why")
    scores = httpx.get(f"{three}/api/v1/scores", params={"model": "young"}).json()
    last = status_of(three, "young")["last_prediction"]
    assert scores["now"]["open"] == f"{last[:10]}T00:00:00Z"
    assert "5 scored, 24 Oct to " in text


def test_a_window_that_holds_time_of_the_reference_is_not_said_to_lack_one():
    hours = range(0, 10 * DAY, DAY // 4)
    records = [counts("m", hour, [40, 20, 10, 430, 60, 440]) for hour in hours]
    config = Config(models={"m": {"maturity": "1h"}}, windows=["1d", "7d"])
    with served(fed(Monitor(config), records)) as url:
        now = section(page(url, model="m"), "now")
    assert "Reaches into the reference" in now
    assert "No reference yet" not in now


def test_the_list_shows_flagged_cases_of_every_model(three):
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page(three), re.DOTALL)
    assert len(rows) == 3
    assert all('data-title="Flagged"' in row for row in rows)
    (silent,) = (row for row in rows if ">silent<" in row)
    assert "No label has come" in silent
    assert "no label yet" in silent


def test_objectives_stand_beside_their_numbers(three):
    now = section(page(three, model="healthy"), "now")
    assert "Objective: at least 0.99." in now
    assert '<small class="warn">misses the objective</small>' in now
    assert "meets the objective" in now


def test_a_deployment_is_marked_where_its_version_first_predicted(three):
    when = section(page(three, model="healthy"), "when")
    assert when.count("version v2</title>") == 2
    assert "version v1</title>" not in when
    assert "first prediction of a version" in when
    found = httpx.get(f"{three}/api/v1/series", params={"model": "healthy"}).json()["versions"]
    first = {one["version"]: one["first_prediction"] for one in found}
    assert list(first) == ["v1", "v2"]
    assert first["v2"] == "2024-10-14T12:00:00Z"
    assert "predictions carry no version" in section(page(three, model="silent"), "when")


def test_segments_are_listed_without_a_comparison(three):
    where = section(page(three, model="silent"), "where")
    assert "region = north" in where
    found = httpx.get(f"{three}/api/v1/segments", params={"model": "silent"}).json()
    by_value = {one["value"]: one for one in found["segments"]}
    window = status_of(three, "silent")["windows"][found["window"]]
    assert sum(one["predictions"] for one in by_value.values()) == window["predictions"]
    assert by_value["north"]["predictions"] > by_value["south"]["predictions"]
    refused = httpx.get(f"{three}/api/v1/segments", params={"model": "silent", "window": "2d"})
    assert (refused.status_code, "must be one of 1d, 7d" in refused.text) == (400, True)


def test_scores_are_those_of_the_predictions_labelled_or_not(three):
    found = httpx.get(f"{three}/api/v1/scores", params={"model": "silent"}).json()
    sent = scored("silent", 21, 40, 2, labelled=False, versions=("", ""))
    recent = [one["score"] for one in sent if one["ts"] >= START + 14 * DAY]
    assert found["now"]["scored"] == len(recent)
    expected = np.histogram(recent, bins=found["edges"])[0] / len(recent)
    np.testing.assert_allclose(found["now"]["shares"], expected, atol=2 / len(recent))
    assert len(found["now"]["shares"]) == RANGES
    assert found["before_is"] == "earlier"
    assert 0 < found["distance"] < 0.2


def test_the_expression_of_each_number_names_its_series(three):
    now = section(page(three, model="healthy"), "now")
    metrics = httpx.get(f"{three}/metrics").text
    for expression in re.findall(r'<code class="copied">(.*?)</code>', now):
        (name,) = re.findall(r"classifier_\w+", expression)
        assert f'{name}{{model="healthy"' in metrics
        assert "model=&#34;healthy&#34;" in expression


def test_names_in_expressions_are_escaped():
    name = 'a"b\\c'
    with served(fed(Monitor(Config()), [counts(name, 40 * DAY, (5, 5, 5, 5))])) as url:
        assert "model=&#34;a\\&#34;b\\\\c&#34;" in page(url, model=name)


@pytest.mark.parametrize("sort", ["precision", "-precision", "predictions", "-name", "last_label"])
def test_the_list_is_sorted_with_unknown_numbers_last(three, sort):
    models = httpx.get(f"{three}/api/v1/status", params={"sort": sort}).json()["models"]
    key = {
        "precision": lambda one: one["windows"]["7d"]["metrics"]["precision"]["estimate"],
        "predictions": lambda one: one["predictions"],
        "name": lambda one: one["name"],
        "last_label": lambda one: one["last_label"],
    }[sort.removeprefix("-")]
    values = [key(model) for model in models]
    known = [value for value in values if value is not None]
    assert values == known + [None] * (len(values) - len(known))
    assert known == sorted(known, reverse=sort.startswith("-"))
    names = re.findall(r'<th scope="row"><a href="/\?model=(\w+)"', page(three, sort=sort))
    assert names == [model["name"] for model in models]


def test_an_order_that_there_is_not_is_refused(three):
    answer = httpx.get(f"{three}/?sort=colour")
    assert (answer.status_code, "sort: must be one of urgency, name" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [("x", "2024-10", "before"), ("2024-10", "y", "after"), ("2024-10", "2024-10", "before")],
)
def test_an_error_stands_beside_the_field_that_caused_it(three, before, after, wrong):
    text = page(three, model="healthy", before=before, after=after)
    form = re.search(r'<form id="choose".*?</form>', text, re.DOTALL)[0]
    (invalid,) = re.findall(r"<input[^>]*aria-invalid[^>]*>", form)
    assert f'name="{wrong}"' in invalid
    assert "autofocus" in invalid
    assert 'aria-describedby="choose-error choose-hint"' in invalid
    assert 'id="choose-error" role="alert"' in form
    assert '<section id="why"' not in text


def test_pictures_are_drawn_of_the_same_page_each_time():
    texts = []
    for _ in range(2):
        with pictures.served(pictures.CASES["first-day"]) as url:
            texts.append(httpx.get(url).text)
    assert texts[0] == texts[1]
    assert len(pictures.CASES) == 20
