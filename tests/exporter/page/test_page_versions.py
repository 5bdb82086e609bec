"""The section of the page about versions: side by side, compared, and in words."""

import html
import re

import httpx
import pytest
from exporter.page.pages import plain, served
from watch.shadowed import shadow_config, shadowed
from watch.versioned import BEGAN, CONFIG, config_of, fed, stream

ALONE = "models: {m: {segments: [region], label_timeout: 3d}}"


def page_of(monitor, path="/?model=m"):
    with served(monitor) as url:
        return httpx.get(f"{url}{path}").text


def section_of(page):
    """The text of the section; "" where there is none."""
    found = re.search(r'<section id="versions".*?</section>', page, re.DOTALL)
    return "" if found is None else html.unescape(re.sub(r"<[^>]+>", " ", found[0]))


def words(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def worse():
    return page_of(fed(stream(recall=(0.9, 0.5), a_day=1_008)))


def test_the_verdict_stands_first_and_the_versions_below(worse):
    text = words(section_of(worse))
    assert text.startswith("Versions The new version is worse Version 7 is worse than 6: recall .")
    assert "at the same mix by region, day and hour. The verdict holds however often" in text
    shares = [float(share) for share in re.findall(r"([\d.]+) %", text)]
    assert sum(shares[:2]) == pytest.approx(100, abs=0.2)
    assert "1970-01-04 05:00" in text


def test_the_section_is_linked_to_and_the_deployment_is_marked(worse):
    assert 'href="#versions"' in worse
    assert 'class="deployment"' in worse
    assert "1970-01-04 05:00: version 7" in html.unescape(worse)


def test_the_first_version_is_marked_where_predictions_without_one_came_before():
    events = [
        {key: value for key, value in e.items() if (key, value) != ("version", "6")}
        for e in stream(days=6)
    ]
    assert "1970-01-04 05:00: version 7" in html.unescape(page_of(fed(events)))
    named = [e for e in events if e["type"] == "label" or "version" in e]
    assert 'class="deployment"' not in page_of(fed(named))


def test_the_list_counts_a_model_by_what_its_row_says():
    text = CONFIG.replace("1d}", "1d, reference: {first: 2d}}").replace("7d", "3d")
    canary = fed(stream(recall=(0.9, 0.5), a_day=1_008, share=0.15), config_of(text))
    page = page_of(canary, "/?verdict=version_worse")
    tally = re.search(r'<p class="tally">.*?</p>', page, re.DOTALL)[0]
    assert words(re.sub(r"<[^>]+>", " ", tally)) == "Pages: 0 1 Version worse"
    assert words(re.sub(r"<[^>]+>", " ", page)).count("Version worse") == 2
    assert "No such model" in page_of(canary, "/?verdict=steady")


def test_an_open_comparison_says_what_would_settle_it():
    text = words(section_of(page_of(fed(stream(days=7)))))
    assert text.startswith("Versions Not shown yet Whether version 7 is worse than 6 is not shown")
    assert "more outcomes would settle it" in text


def test_versions_that_never_met_are_listed_with_the_reason():
    text = words(section_of(page_of(fed(stream(until=BEGAN)))))
    assert text.startswith("Versions Nothing is compared: '6' and '7' never predicted at the same")
    assert "100.0 %" in text


def test_versions_that_are_not_counted_apart_say_how_to_count_them():
    text = words(section_of(page_of(fed(stream(days=6), config_of(ALONE)))))
    assert "configure segments: [version]" in text
    assert text.endswith("Version Began 6 1970-01-01 7 1970-01-04 05:00")


def test_a_model_with_one_version_or_none_has_no_such_section():
    one = [e for e in stream(days=6) if e["ts"] < BEGAN]
    none = [{k: v for k, v in e.items() if k != "version"} for e in stream(days=6)]
    for events in (one, none):
        page = page_of(fed(events))
        assert section_of(page) == ""
        assert "#versions" not in page


def test_names_of_versions_are_text_and_not_markup():
    events = [
        e | {"version": "<b onclick=x>7"} if e.get("version") == "7" else e for e in stream(days=7)
    ]
    page = page_of(fed(events))
    assert "<b onclick" not in page
    assert "&lt;b onclick=x&gt;7" in page


def test_a_long_name_is_cut_in_the_table_with_the_whole_as_its_title():
    long = "registry.example.com/risk/fraud-scorer:2026-02-03-9d8c7b6a5f4e3d2c1b0a"
    events = [e | {"version": long} if e.get("version") == "7" else e for e in stream(days=6)]
    section = re.search(r'<section id="versions".*?</section>', page_of(fed(events)), re.DOTALL)[0]
    (cell,) = re.findall(rf'<th scope="row"><span title="{re.escape(long)}">(.*?)</span>', section)
    assert cell == f"{long[:12]}…{long[-14:]}"


def test_a_shadow_is_compared_on_the_cases_that_both_scored():
    text = words(section_of(page_of(fed(shadowed(stream(a_day=480)), shadow_config()))))
    assert "on the cases that both scored" in text
    assert re.search(r"of [\d,]+ positives \d+ were flagged by 6 alone and \d+ by 7-shadow", text)
    assert text.count("McNemar's exact p") == 2
    assert "mix is equal" not in text
    assert re.search(r"7-shadow [-\d: ]+ shadow 3,3\d\d mature cases: worse than 6", text)


@pytest.mark.parametrize(
    ("on_version", "text"),
    [
        ("compare", "of version 6 (began 1970-01-01 00:00)"),
        ("restart", "restarted with version 7 (began 1970-01-04 05:00)"),
        ("keep", None),
    ],
)
def test_the_page_says_whose_reference_it_is(on_version, text):
    reference = f"1d, reference: {{first: 2d, on_version: {on_version}}}}}"
    config = config_of(CONFIG.replace("1d}", reference).replace("7d", "3d"))
    page = words(plain(page_of(fed(stream(a_day=2_400, until=BEGAN, days=9), config))))
    assert (f"positives of the reference, {text}." in page) is (text is not None)
    assert ("Before is " in page) is (text is not None)
    assert text is not None or "(began" not in page


def test_of_several_versions_in_use_one_is_that_of_the_last_prediction(worse):
    page = words(plain(worse))
    assert re.search(
        r"Version [67], since 1970-01-0\d[ 0-9:]*, of the last prediction; all 2 ", page
    )
    alone = words(plain(page_of(fed([e for e in stream() if e["ts"] < BEGAN]))))
    assert "Version 6, since 1970-01-01" in alone
    assert "of the last prediction" not in alone
