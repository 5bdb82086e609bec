"""What would settle a comparison of two versions, in words."""

from dataclasses import replace

import numpy as np
import pytest
from daily import daily

from monitor.drift.version_comparison import compare_two
from monitor.drift.versions_compared import VersionsCompared, VersionStretch, VersionTraffic
from monitor.report.versions_conditions import condition, without_scores
from monitor.report.versions_text import versions_text
from monitor.report.versions_words import (
    adjusted_for,
    to_settle,
    versions_headline,
    worse_by,
)

DAY = 86_400_000
IMPOSSIBLE = "no number of outcomes"


def found(a, b, days=1):
    """Versions 6 and 7 with so many tp, fp, fn and tn over some days."""
    cells = np.array([a, b], dtype=float)[:, None, None]
    return VersionsCompared(
        model="m",
        versions=tuple(VersionTraffic(name, 99, 0, days * DAY) for name in "67"),
        within=VersionStretch(0, days * DAY),
        predictions=(99, 99),
        segments=(),
        comparison=compare_two(daily(cells)),
    )


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (
            (3, 1, 1, 5),
            (1, 0, 1, 5),
            (
                "at least 68 more outcomes are needed (4d at the present rate): version 7 has "
                "2 of the 10 positives that it needs"
            ),
        ),
        (
            (1, 1, 0, 5),
            (9, 2, 3, 8),
            (
                "at least 270 more outcomes are needed (9d at the present rate): version 6 has "
                "1 of the 10 positives that it needs"
            ),
        ),
    ],
)
def test_of_a_few_outcomes_it_says_what_is_needed_at_least(a, b, words):
    assert to_settle(found(a, b)) == words
    assert words in versions_headline(found(a, b))


def test_a_number_of_outcomes_that_takes_years_is_not_told():
    sides = (800, 200, 200, 1_800), (770, 190, 230, 1_810)
    slow, fast = found(*sides, days=20), found(*sides)
    assert slow.days_to_settle > 365 > fast.days_to_settle
    assert to_settle(slow) == "to settle it takes more outcomes than this traffic brings in a year"
    assert to_settle(fast) == "about 230,000 more outcomes would settle it, 39d at the present rate"


def shadowed():
    """A shadow that flags none of the cases that version 6 scored."""
    pairs = np.array([[[0.0, 40, 0, 10]], [[0.0, 20, 0, 430]]])
    cells = np.array([(40, 20, 10, 430), (0, 0, 50, 450)])
    comparison = compare_two(daily(cells[:, None, None]), *pairs)
    return replace(found(*cells.tolist()), comparison=comparison)


def test_the_same_cases_need_no_equal_mix_and_no_condition():
    alike = shadowed()
    assert (adjusted_for(alike), condition(alike)) == ((), "")
    apart = found((90, 50, 10, 850), (50, 50, 50, 850))
    assert adjusted_for(apart) == ("day", "hour")
    assert "if both versions get alike cases" in condition(apart)


def test_a_shadow_that_flags_nothing_is_said_to_tell_nothing_apart():
    paired = shadowed()
    assert "Version 7 is worse than 6" in versions_headline(paired)
    assert "Version 7 hardly tells the classes apart, which decides." in versions_text(paired)


@pytest.mark.parametrize(("keys", "end"), [((), ", if both get alike cases."), (("region",), ".")])
def test_a_worse_version_is_worse_for_alike_cases_where_no_key_is_compared_by(keys, end):
    compared = replace(found((90, 50, 10, 850), (50, 50, 50, 850)), segments=keys)
    assert worse_by(compared) == (
        f"Version 7 is worse than 6 over the same time: recall .50 against .90{end}"
    )


def test_a_class_without_outcomes_is_not_said_to_be_impossible():
    shown = versions_text(found((3, 1, 1, 5), (0, 1, 0, 5)))
    assert "version 7 has no labelled positives" in shown
    assert IMPOSSIBLE not in shown.lower()


def test_a_version_that_paused_while_the_other_predicted_is_not_waited_for():
    paused = replace(found((0, 0, 0, 0), (30, 10, 10, 50)), predictions=(0, 100))
    text = versions_headline(paused)
    assert text == (
        "Whether version 7 is worse than 6 is not shown: version 6 made no prediction while "
        "version 7 did; compare two stretches of time with diagnose."
    )
    assert "yet" not in versions_text(paused)
    assert paused.because == "other_times"
    assert found((0, 0, 0, 0), (30, 10, 10, 50)).because == "missing_class"
    neither = replace(found((0, 0, 0, 0), (0, 0, 0, 0)), predictions=(0, 0))
    assert "neither version made a prediction in the time" in versions_headline(neither)


def test_uncertain_rates_of_another_threshold_leave_the_number_open():
    few = found((16, 5, 4, 15), (8, 2, 12, 18))
    assert few.comparison.decided_by.found.because == "too_few_outcomes"
    assert "how many is not known" in to_settle(few)
    many = found((9_000, 17_900, 1_000, 82_100), (7_000, 4_700, 3_000, 95_300))
    assert IMPOSSIBLE in to_settle(many)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((300, 50, 100, 550), (60, 12, 40, 88)),
        ((3, 1, 1, 5), (1, 0, 1, 5)),
        ((3, 1, 1, 5), (0, 1, 0, 5)),
        ((16, 5, 4, 15), (8, 2, 12, 18)),
        ((9_000, 17_900, 1_000, 82_100), (7_000, 4_700, 3_000, 95_300)),
    ],
)
def test_what_would_settle_it_is_said_once_in_headline_and_text(a, b):
    compared = found(a, b)
    assert compared.comparison.decided_by.found.verdict == "not_shown"
    words = to_settle(compared).removeprefix("more outcomes are needed: ")
    text = " ".join(versions_text(compared).split())
    assert versions_headline(compared).count(words) == text.count(words) == 1
    assert sum(text.lower().count(one) for one in ("more outcomes", IMPOSSIBLE)) <= 1


def test_without_scores_rates_that_moved_in_one_direction_may_be_another_threshold():
    together = found((8_000, 500, 2_000, 9_500), (6_000, 480, 4_000, 9_520))
    apart = found((8_000, 500, 2_000, 9_500), (6_000, 520, 4_000, 9_480))
    assert together.comparison.decided_by.found.verdict == "worse"
    assert "another threshold alone can look like this" in without_scores(together)
    assert "Scores would tell." in " ".join(versions_text(together).split())
    assert without_scores(apart) == ""
