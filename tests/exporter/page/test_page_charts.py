"""The charts of the plane and of the scores are read out under the pointer and by keys."""

import pytest
from exporter.page import pictures
from exporter.page.browsers import SIZES
from exporter.page.pages import served

pytestmark = pytest.mark.system

CHARTS = ("plane", "roc", "reliability")


@pytest.fixture(scope="module")
def scored():
    stream = pictures.Stream("fraud", days=30.0, a_day=500, changes=24.0, worse=True)
    with served(pictures.monitor_of(stream)) as url:
        yield url


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_read_by_arrow_keys_and_under_the_pointer(browser, scored, name):
    page = browser.page()
    page.goto(scored)
    chart = page.locator(f"svg[data-table={name}-figure]")
    readout = page.locator("#plane figure", has=chart).locator("output.readout")
    assert readout.get_attribute("aria-live") == "polite"
    rows = page.locator(f"table[data-of={name}-figure] tbody tr")
    titles = page.locator(f"table[data-of={name}-figure] thead th").all_text_contents()
    assert rows.count() >= 10
    chart.focus()
    for key, place in (("Home", 0), ("ArrowRight", 1), ("End", rows.count() - 1)):
        page.keyboard.press(key)
        head, *cells = rows.nth(place).locator("th, td").all_text_contents()
        known = [f"{titles[i + 1]} {cell}" for i, cell in enumerate(cells) if cell != "—"]
        assert readout.inner_text() == f"{head}: {', '.join(known)}"
        at = float(rows.nth(place).get_attribute("data-at"))
        left, right = (float(chart.get_attribute(f"data-{side}")) for side in ("left", "right"))
        cursor = chart.locator(".cursor")
        assert float(cursor.get_attribute("x1")) == pytest.approx(left + (right - left) * at)
        assert cursor.get_attribute("visibility") == "visible"
    text = readout.inner_text()
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    assert readout.inner_text() != text
    assert page.complaints == []


def test_the_other_charts_have_their_own_tables(browser, scored):
    page = browser.page()
    page.goto(scored)
    for chart, table in (("#timeline-wide", "timeline"), (".histogram", "scores-figure")):
        page.locator(chart).focus()
        page.keyboard.press("Home")
        first = page.locator(f"table[data-of={table}] tbody th").first.text_content()
        figure = page.locator("figure", has=page.locator(chart))
        assert figure.locator("output.readout").inner_text().startswith(f"{first}: ")


def test_on_a_phone_the_tables_of_the_charts_fit(browser, scored):
    page = browser.page("phone")
    page.goto(scored)
    for name in CHARTS:
        page.locator(f"#{name}-details summary").click()
        assert page.locator(f"#{name}-details table").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
