"""The benchmark of pages beside wrong labels at a tiny size: every regime runs."""

import pytest
from benchmarks import label_pages


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, size in {"DAYS": 8, "CHANGE": 4, "A_DAY": 120}.items():
        monkeypatch.setattr(label_pages, name, size)


@pytest.mark.parametrize("regime", label_pages.REGIMES)
def test_a_short_stream_pages_nobody(regime):
    cases = label_pages.cases_of(label_pages.CHANGES["nothing"], 1)
    assert label_pages.paged(cases, label_pages.REGIMES[regime]) == (False, False)


def test_labels_get_worse_on_the_day_of_the_change():
    cases = label_pages.cases_of(label_pages.Change(false_positive=0.5), 1)
    wrong = cases.label & ~cases.actual
    before, after = (wrong[side].mean() for side in (cases.day < 4, cases.day >= 4))
    assert before < 0.1
    assert after > 0.4
