"""The page of thirty classes in a real browser, at a desk and on a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python import sync_playwright as axe
from class_streams import ClassStream
from exporter.page.browsers import SIZES
from exporter.page.pages import served

TALLEST = {"wide": 4_200, "phone": 8_000}
"""Pixels of the page of thirty classes; with a row each it is 4,900 and 11,300 tall."""
pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def thirty():
    """Thirty classes, compared with a reference."""
    stream = ClassStream(classes=30, a_day=400, days=9)
    with served(stream.applied(reference={"first": "7d"})) as url:
        yield url


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_thirty_classes_can_be_read_and_none_is_wider_than_the_screen(
    browser, thirty, size, scheme
):
    page = browser.page(size, scheme)
    page.goto(thirty)
    found = axe.Axe().run(page).response["violations"]
    grave = [v for v in found if v["impact"] in ("serious", "critical")]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in grave] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    assert page.locator(".classes tbody tr").count() == 30
    assert page.locator(".classes tbody tr").filter(visible=True).count() == 8
    assert page.evaluate("document.documentElement.scrollHeight") < TALLEST[size]
    page.locator("#more-classes summary").click()
    assert page.locator(".classes tbody tr").filter(visible=True).count() == 30
    assert page.complaints == []


def test_on_a_phone_the_parts_of_a_change_have_the_rest_of_the_line(browser, thirty):
    """Within a third of the screen their three numbers took four lines."""
    page = browser.page("phone")
    page.goto(thirty)
    row = page.locator(".classes tbody tr").first.bounding_box()
    cell = page.locator(".classes tbody tr").first.locator("td").last.bounding_box()
    assert cell["width"] > 0.6 * row["width"]
    assert cell["x"] + cell["width"] == pytest.approx(row["x"] + row["width"], abs=1)


@pytest.mark.slow
def test_on_a_phone_every_column_of_ten_classes_is_on_the_screen(browser):
    """Four of ten were beyond its edge, with the cell that changed."""
    with served(ClassStream(classes=10, a_day=60, days=32).applied()) as url:
        page = browser.page("phone")
        page.goto(url)
        ends = page.evaluate(
            "[...document.querySelectorAll('.heat-cell')].map(e => e.getBoundingClientRect())"
            ".map(box => [box.width, box.right])"
        )
    assert len(ends) == 3 * 100
    assert min(width for width, _ in ends) > 12
    assert max(right for _, right in ends) < SIZES["phone"]["width"]
