"""A notebook shows a comparison as the page does: in a frame of its own, without a script."""

from contextlib import closing

import pytest
from playwright.sync_api import sync_playwright

from monitor import ConfusionCounts, compare

pytestmark = pytest.mark.system

JULY = ConfusionCounts(tp=1303, fp=1551, fn=525, tn=2333)
SEPTEMBER = ConfusionCounts(tp=405, fp=1414, fn=354, tn=3268)
NOTEBOOK = "<!doctype html><title>A notebook</title><main>{}</main>"


@pytest.fixture
def notebook(system_program):
    """A page as wide as a notebook, and what it complained about."""
    path = system_program("chromium")
    with (
        sync_playwright() as started,
        closing(started.chromium.launch(executable_path=path, args=["--no-sandbox"])) as chromium,
    ):
        page = chromium.new_page(viewport={"width": 900, "height": 1_000})
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        yield page, complaints


def test_the_frame_shows_headline_answers_and_bars(notebook):
    page, complaints = notebook
    report = compare(JULY, SEPTEMBER)
    page.set_content(NOTEBOOK.format(report._repr_html_()))
    shown = page.frame_locator("iframe")
    shown.locator("#why").wait_for()
    text = " ".join(shown.locator("body").inner_text().split())
    assert report.headline in text
    for question in ("What moved precision?", "Is the model worse?"):
        assert question in text
    boxes = [bar.bounding_box() for bar in shown.locator("#why svg rect").all()]
    assert len([box for box in boxes if box and box["width"] > 1 and box["height"] > 1]) >= 5
    assert complaints == []


def test_the_frame_runs_no_script_and_asks_nothing_of_the_network(notebook):
    page, _ = notebook
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    html = compare(JULY, SEPTEMBER)._repr_html_()
    assert 'sandbox=""' in html
    page.set_content(NOTEBOOK.format(html))
    page.frame_locator("iframe").locator("#why").wait_for()
    assert "<script" not in html
    assert "&lt;script" not in html
    assert [url for url in asked if not url.startswith(("about:", "data:"))] == []


def test_a_link_within_the_frame_stays_in_the_frame(notebook):
    """Relative to the address of the notebook, it would load the notebook into the frame."""
    page, _ = notebook
    html = NOTEBOOK.format(compare(JULY, SEPTEMBER)._repr_html_())
    loaded = []
    page.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.on("request", lambda request: loaded.append(request.url))
    page.goto("http://notebook.test/lab")
    shown = page.frame_locator("iframe")
    link = shown.get_by_role("navigation").get_by_role("link", name="Plane")
    link.click()
    shown.locator("#plane:target").wait_for()
    assert loaded == ["http://notebook.test/lab"]
