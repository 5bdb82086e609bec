"""The page on a phone: nothing cut, and every value with its window."""

import httpx
import pytest
from exporter.page.browsers import SIZES
from exporter.page.pages import counts, fed, served

from monitor.config import Config
from monitor.engine import Monitor

pytestmark = pytest.mark.system

DAY = 86_400
CELLS = (80, 10, 20, 890)
PHONE = SIZES["phone"]["width"]


@pytest.fixture(scope="module")
def fleet():
    """Two models of four windows; of one nothing has come for two weeks."""
    windows = ["6h", "1d", "7d", "28d"]
    defaults = {"label_timeout": "2d", "maturity": "1h", "reference": {"first": "7d"}}
    records = [
        counts(name, DAY * (100 + hour / 24), CELLS)
        for hour in range(40 * 24)
        for name in ("here", "behind")
        if name == "here" or hour < 26 * 24
    ]
    with served(fed(Monitor(Config(defaults=defaults, windows=windows)), records)) as url:
        yield url


def test_no_age_in_the_list_is_cut(browser, fleet):
    page = browser.page("phone")
    page.goto(fleet)
    ages = page.locator(".fleet tbody th small")
    assert "behind the newest of all models" in " ".join(ages.all_inner_texts())
    ends = ages.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(ends) < PHONE
    assert page.evaluate("document.querySelector('.scroll').scrollWidth") < PHONE


def test_every_value_of_four_windows_names_its_window_two_beside_each_other(browser, fleet):
    page = browser.page("phone")
    page.goto(f"{fleet}/?model=here")
    rows = page.locator(".metrics tbody tr")
    for title in ("Precision", "Flagged", "Verdict", "Labelled", "Outcomes"):
        cells = rows.filter(has=page.get_by_role("rowheader", name=title)).first.locator(".number")
        named = cells.evaluate_all(
            "all => all.map(one => getComputedStyle(one, '::before').content)"
        )
        assert named == [f'"last {name}"' for name in ("6h", "1d", "7d", "28d")], title
        places = cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        lefts, tops = ([round(place[side]) for place in places] for side in ("left", "top"))
        assert lefts[:2] == lefts[2:]
        assert tops[0] == tops[1] < tops[2] == tops[3]
    assert page.complaints == []


def test_the_names_stand_in_the_markup_of_every_row(fleet):
    text = httpx.get(fleet, params={"model": "here"}).text
    table = (
        text[text.index('<table class="metrics') :].partition("</table>")[0].partition("<tbody>")[2]
    )
    assert table.count('<td class="number"') == table.count('<td class="number" data-title="last ')
