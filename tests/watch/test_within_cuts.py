"""The outcomes of versions by days, where they are all of a model's."""

from types import SimpleNamespace

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.watch.cuts import Cuts
from monitor.watch.within_cuts import WithinCuts

TWO = Cuts(0, (), np.array([1, 2, 3]))
DAYS = ConfusionCounts(tp=[3, 1], fp=[1, 0], fn=[1, 1], tn=[9, 4])


def by_version(cells, *, before=None, cuts=TWO):
    """Versions of a window of two days whose totals are `DAYS`, as is the reference."""
    reference = SimpleNamespace(days_of=lambda _: before)
    within = WithinCuts(reference, np.array(cells), cuts)
    return within.by_version(
        ComparedOutcomes(DAYS, DAYS), lambda one: ComparedOutcomes(before=one, after=one)
    )


def split(*shares):
    """Cells of versions that share each outcome so."""
    return np.stack([DAYS.cells * share for share in shares])


def test_versions_without_outcomes_in_the_window_are_left_out():
    found = by_version(split(0.25, 0.0, 0.75))
    assert found.after.cells.tolist() == split(0.25, 0.75).tolist()
    assert found.before is DAYS


def test_those_of_the_reference_count_where_they_are_all_of_it():
    all_of_it = ConfusionCounts.from_cells(split(0.5, 0.5, 0.0))
    part = ConfusionCounts.from_cells(split(0.5, 0.0, 0.0))
    assert by_version(split(1, 0, 0), before=all_of_it).before is all_of_it
    assert by_version(split(1, 0, 0), before=part).before is DAYS


@pytest.mark.parametrize(
    ("cells", "cuts"),
    [
        (split(0.0, 0.0, 0.0), TWO),
        (split(0.5, 0.25, 0.0), TWO),
        (split(1.0), Cuts(0, (), np.array([1]))),
        (np.zeros((0, 2, 4)), Cuts(0, ())),
    ],
    ids=["not stored by days", "not all of them", "one version", "no versions"],
)
def test_else_there_are_none(cells, cuts):
    assert by_version(cells, cuts=cuts) is None
