"""The page in a real browser: its content, its restrictions, its accessibility."""

from __future__ import annotations

import re
from contextlib import closing
from urllib.parse import quote, urlsplit

import httpx
import msgspec
import pytest
from axe_playwright_python import sync_playwright as axe
from exporter.page.browsers import SIZES
from exporter.page.pages import MODEL, all_flights, counts, fed, served

from monitor.config import Config
from monitor.config.quantities import parse_time
from monitor.engine import Monitor
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.app import create_app
from monitor.exporter.page.html_report import report_html
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.web.server import BackgroundServer

pytestmark = pytest.mark.system

DAY = 86_400
DAYS = 24
WEEKS = "before=1970-02-10..1970-02-17&after=1970-02-24..1970-03-03"
"""Two weeks within the days of the monitors with odd names, which begin with day 40."""
NASTY = '"><img src=x onerror="ran()"><script>ran()</script>\'--><svg onload=ran()>'


@pytest.fixture(scope="module")
def september():
    """All flights up to the end of September, when they are mature."""
    with served(all_flights("2013-10-03")) as url:
        yield url


def text_of(page, selector="main"):
    return re.sub(r"\s+", " ", page.locator(selector).inner_text())


def test_in_september_it_says_that_prevalence_moved_and_the_model_did_not(browser, september):
    page = browser.page()
    page.goto(f"{september}/?before=2013-07&after=2013-09&model={MODEL}")
    why = text_of(page, "#why")
    assert "Prevalence shifted" in why
    assert "Precision fell .441 → .208: positives became rarer. The model is not at fault." in why
    assert "Had prevalence stayed at 31.6 %, precision would now be 0.443" in why
    assert page.complaints == []
    assert page.hosts == {urlsplit(september).netloc}


def test_july_and_september_are_chosen_with_a_brush_and_the_link_carries_them(browser, september):
    page = browser.page()
    page.goto(september)
    picture = page.locator("#timeline-wide")
    picture.scroll_into_view_if_needed()
    drag(page, picture, "2013-07-01", "2013-08-01")
    assert page.locator("input[name=before]").input_value() == "2013-07-01..2013-08-01"
    chosen = page.locator("#timeline-wide .brush.before")
    assert float(chosen.get_attribute("width")) > 0, "the first band is seen while the second is"
    assert page.locator("#timeline-wide .chosen.before").is_hidden()
    with page.expect_response(lambda answer: "after=" in answer.url):
        drag(page, picture, "2013-09-01", "2013-10-01")
    page.wait_for_url("**after=2013-09-01..2013-10-01**")
    page.wait_for_function("document.querySelector('#why').innerText.includes('1 Sep to 30 Sep')")
    steps = text_of(page, "#why .waterfall")
    found = httpx.get(
        f"{september}/api/v1/diagnosis",
        params={"before": "2013-07-01..2013-08-01", "after": "2013-09-01..2013-10-01"},
    ).json()
    change, prevalence = (
        round(100 * points, 1)
        for points in (found["change"]["points"], found["attribution"]["prevalence"]["points"])
    )
    assert (change, prevalence) == (-23.3, pytest.approx(-23.4, abs=0.3))
    assert f"\N{MINUS SIGN}{abs(prevalence)}" in steps
    assert f"of \N{MINUS SIGN}{abs(change)} points" in text_of(page, "#why .counterfactual")
    link = page.url
    again = browser.page()
    again.goto(link)
    assert text_of(again, "#why .waterfall") == steps
    assert page.complaints == again.complaints == []


def drag(page, picture, first, end):
    """Drag over days of the time line, a little inside of them."""
    box, data = picture.bounding_box(), picture.evaluate("svg => ({...svg.dataset})")
    width = picture.evaluate("svg => svg.viewBox.baseVal.width")
    left, right, opens, closes = (float(data[name]) for name in ("left", "right", "from", "to"))

    def x(day, hours):
        moment = parse_time(day) / 1000 + hours * 3600
        inside = left + (right - left) * (moment - opens) / (closes - opens)
        return box["x"] + box["width"] * inside / width

    middle = box["y"] + box["height"] / 3
    page.mouse.move(x(first, 12), middle)
    page.mouse.down()
    page.mouse.move(x(end, -12), middle, steps=3)
    page.mouse.up()


def test_the_form_does_the_same_by_keyboard_and_without_script(browser, september):
    page = browser.page()
    page.goto(september)
    page.locator("input[name=before]").fill("2013-07")
    page.locator("input[name=after]").fill("2013-09")
    page.keyboard.press("Enter")
    page.wait_for_url("**after=2013-09**")
    page.wait_for_function("document.querySelector('#why').innerText.includes('not at fault')")
    assert page.complaints == []
    context = page.context.browser.new_context(java_script_enabled=False)
    with closing(context):
        plain = context.new_page()
        plain.goto(september)
        plain.locator("input[name=before]").fill("2013-07")
        plain.locator("input[name=after]").fill("2013-09")
        plain.locator("input[name=after]").press("Enter")
        plain.wait_for_url("**after=2013-09**")
        assert "The model is not at fault." in text_of(plain, "#why")


def test_the_whole_page_can_be_reached_with_tab_and_shows_where_one_is(browser, september):
    page = browser.page()
    page.goto(september)
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        seen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 60)"))
        outlined = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outlined != "none", seen[-1]
    assert "skip" in seen[0]
    for part in ('href="#why"', 'name="before"', 'name="after"', "<button", "<summary"):
        assert any(part in element for element in seen), part


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        ("wide", "light"),
        ("phone", "dark"),
        pytest.param("wide", "dark", marks=pytest.mark.slow),
        pytest.param("phone", "light", marks=pytest.mark.slow),
    ],
)
def test_no_serious_fault_of_accessibility_and_nothing_wider_than_the_screen(
    browser, september, size, scheme
):
    page = browser.page(size, scheme)
    page.goto(f"{september}/?model={MODEL}&before=2013-07&after=2013-09")
    found = axe.Axe().run(page).response["violations"]
    grave = [v for v in found if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in grave] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert page.evaluate(f"{cut}.map(e => e.ariaLabel)") == []


def test_the_chart_is_read_by_arrow_keys_and_under_the_pointer(browser, september):
    page = browser.page()
    page.goto(september)
    chart, readout = page.locator("#timeline-wide"), page.locator("#when output.readout")
    assert readout.get_attribute("aria-live") == "polite"
    found = httpx.get(f"{september}/api/v1/series", params={"step": "7d"}).json()
    numbers, days = found["metrics"]["precision"]["estimate"], found["open"]
    rows = page.locator("#when table tbody tr")
    chart.focus()
    for key, place in (("End", -1), ("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2)):
        page.keyboard.press(key)
        text = readout.inner_text()
        day = rows.nth(place % rows.count()).locator("th").text_content()
        assert text.startswith(f"{day}: ")
        if place >= 0:
            i = days.index(f"{day}T00:00:00Z")
            assert f"precision {numbers[i]:.3f}" in text
    assert chart.locator(".cursor").get_attribute("visibility") == "visible"
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40)
    assert readout.inner_text() != text
    assert page.complaints == []


def test_a_range_is_marked_by_keyboard_on_the_chart(browser, september):
    page = browser.page()
    page.goto(september)
    page.locator("#timeline-wide").focus()
    for key in ("Home", "Enter", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    first, end = page.locator("input[name=before]").input_value().split("..")
    assert first < end
    for key in ("ArrowRight", "Enter", "End", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**after=**")
    assert page.complaints == []


def test_a_wrong_range_is_told_at_its_field_which_has_the_focus(browser, september):
    page = browser.page()
    page.goto(september)
    page.locator("input[name=after]").fill("yesterday")
    page.keyboard.press("Enter")
    fault = page.locator("#choose [role=alert]")
    fault.wait_for()
    assert "after: must be a range, got 'yesterday'" in fault.inner_text()
    assert page.evaluate("document.activeElement.name") == "after"
    assert page.locator("input[name=after]").get_attribute("aria-invalid") == "true"
    assert page.complaints == []


def test_new_numbers_come_by_themselves_and_leave_the_reader_in_place(browser):
    config = Config(models={"m": {"maturity": "1h", "segments": ["shop"]}}, windows=["1d", "7d"])
    monitor = Monitor(config)

    def days(first, end):
        cells = (80, 45, 20, 855)
        fed(monitor, [counts("m", d * DAY + 60, cells, shop="a") for d in range(first, end)])
        states.append(monitor.snapshot())

    states = []
    days(40, 70)
    app = create_app(
        lambda: states[-1], ready=lambda: True, read_engine=lambda read: read(monitor), patience=60
    )
    with BackgroundServer(app) as server:
        page = browser.page()
        page.clock.install()
        page.goto(server.url)
        page.locator("#when-details summary").click()
        page.locator("input[name=before]").fill("half a ra")
        page.evaluate("window.scrollBy(0, 150)")
        where = page.evaluate("document.querySelector('#choose').getBoundingClientRect().top")
        assert "30,000" in text_of(page, "#now")
        days(70, 75)
        with page.expect_response(server.url + "/"):
            page.clock.run_for(11_000)
        page.wait_for_function("document.querySelector('#now').innerText.includes('35,000')")
        assert page.locator("#when-details").get_attribute("open") is not None
        assert page.locator("input[name=before]").input_value() == "half a ra"
        assert page.evaluate("document.activeElement.name") == "before"
        moved = page.evaluate("document.querySelector('#choose').getBoundingClientRect().top")
        assert abs(moved - where) < 60
        page.get_by_role("button", name="Pause updates").click()
        page.clock.run_for(1_000)
        days(75, 80)
        page.clock.run_for(60_000)
        assert "35,000" in text_of(page, "#now")
        assert page.complaints == []


def nasty_monitor():
    """A model and segment values whose names are scripts."""
    config = Config(
        models={NASTY: {"segments": ["<b>key</b>"], "maturity": "1h", "label_timeout": "2d"}},
        windows=["1d", "7d"],
    )
    values = (NASTY, "javascript:ran()", "</title><script>ran()</script>")
    records = [
        {
            **counts(NASTY, (40 + day) * DAY + 60, (80, 45, 20 + day, 855)),
            "segment": {"<b>key</b>": value},
        }
        for day in range(DAYS)
        for value in values
    ]
    return fed(Monitor(config), records)


@pytest.fixture(scope="module")
def nasty():
    with served(nasty_monitor()) as url:
        yield url


def test_names_that_are_scripts_are_only_names(browser, nasty):
    page = browser.page()
    for path in (
        "/",
        f"/?{WEEKS}",
        "/?q=" + NASTY,
        "/?model=" + NASTY + "&segment=" + NASTY,
        "/?before=" + NASTY,
        "/?model=nobody" + NASTY,
        "/?beta=" + NASTY,
    ):
        page.goto(f"{nasty}{path.replace('<', '%3C').replace('#', '%23')}")
        page.wait_for_load_state("networkidle")
        assert [c for c in page.complaints if "40" not in c] == [], path
        assert page.locator("img, main script, b:has-text('key')").count() == 0, path


LONG = "fraud-" + "x" * 240
TURNED = "moc.kcatta\u202egro.knab\u2066\u200f"


@pytest.fixture(scope="module", params=[LONG, TURNED], ids=["long", "turned"])
def oddly_named(request):
    """A model and a segment value of that name beside one whose name is short; and the name."""
    models = {name: {"segments": ["shop"], "maturity": "1h"} for name in (LONG, "short")}
    turned = {"defaults": {"segments": ["shop"], "maturity": "1h"}}
    named = {"models": models} if request.param == LONG else turned
    records = [
        counts(model, (40 + day) * DAY + 60, (80, 45, 20 + day, 855), shop=f"{request.param}-shop")
        for model in (request.param, "short")
        for day in range(DAYS)
    ]
    with served(fed(Monitor(Config(windows=["1d", "7d"], **named)), records)) as url:
        yield url, request.param


def test_long_names_and_those_that_turn_the_text_around_leave_the_page_in_shape(
    browser, oddly_named
):
    url, name = oddly_named
    page = browser.page()
    for path in ("/", f"/?model={quote(name)}&{WEEKS}"):
        page.goto(url + path)
        for size in SIZES.values():
            page.set_viewport_size(size)
            text = text_of(page, "body")
            assert (name if name == LONG else name.encode("unicode_escape").decode()) in text
            assert not set("\u202e\u2066\u200f") & set(text + page.title())
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.complaints == []


def test_the_list_of_models_is_cut_at_no_width_between_phone_and_desk(browser, oddly_named):
    url, _ = oddly_named
    page = browser.page()
    page.goto(url)
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    for width in (740, 760, 860, 960, 1020, 1040):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(f"{cut}.map(e => e.ariaLabel)") == []
        assert page.locator(".fleet td.number").first.is_visible()


def test_the_policy_of_the_page_stops_what_would_be_put_into_it(browser, september):
    page = browser.page()
    page.goto(september)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"ran()\">');"
        "document.body.append(Object.assign(document.createElement('script'), {text: 'ran()'}))"
    )
    page.wait_for_timeout(200)
    assert "a script ran" not in page.complaints
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


def test_a_report_is_one_file_that_loads_and_runs_nothing(browser, nasty, tmp_path):
    with httpx.Client(base_url=f"{nasty}/api/v1/") as api:
        query = dict(part.split("=") for part in WEEKS.split("&"))
        found = [
            msgspec.json.decode(api.get(path, params=asked).content, type=answer)
            for path, asked, answer in (
                ("diagnosis", query, DiagnosisAnswer),
                ("series", {}, SeriesAnswer),
                ("curve", query, CurveAnswer),
            )
        ]
    text = report_html(*found)
    assert text == report_html(*found)
    path = tmp_path / "report.html"
    path.write_text(text)
    assert path.stat().st_size < 1_000_000
    page = browser.page()
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    assert page.complaints == []
    assert page.hosts == {""}
    assert page.locator("#why .verdict").count() == 1
    assert page.evaluate("getComputedStyle(document.querySelector('.verdict')).display") == "flex"
