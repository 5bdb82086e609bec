"""The benchmark of worse segment values: what it draws, and what it says of it."""

import argparse

import numpy as np
import pytest
from benchmarks import worse_segments
from benchmarks.worse_segments import FALL_DAY, LOOKS

ARGS = argparse.Namespace(days=90, seed=1, values=3, a_day=9_000, own=0.0, all=0.0, rho=0.4)


def recall(cells):
    return cells[:, 0] / (cells[:, 0] + cells[:, 2])


def test_recall_of_the_largest_value_alone_falls():
    args = argparse.Namespace(**vars(ARGS), falls_to=0.5)
    found = worse_segments.outcomes(args, 0)
    assert found.shape == (90, LOOKS, 3, 4)
    by_value = found.sum(axis=1)
    largest = by_value.sum(axis=(0, 2)).argmax()
    before, after = recall(by_value[:FALL_DAY].sum(axis=0)), recall(by_value[FALL_DAY:].sum(axis=0))
    assert before == pytest.approx(0.8, abs=0.03)
    assert after == pytest.approx(np.where(np.arange(3) == largest, 0.5, 0.8), abs=0.03)


@pytest.mark.parametrize(("part", "expected"), [("own", 0.0), ("all", 1.0)])
def test_days_scatter_by_value_or_all_alike(part, expected):
    args = argparse.Namespace(**{**vars(ARGS), "a_day": 90_000, part: 0.5}, falls_to=None)
    days = worse_segments.outcomes(args, 0).sum(axis=1)
    alike = np.corrcoef(np.log(days[..., 0] / days[..., 2]).T)[0, 1]
    assert alike == pytest.approx(expected, abs=0.3)


def test_healthy_models_are_called_nothing(monkeypatch, capsys):
    options = ["--models", "2", "--days", "10", "--values", "2", "--all", "0"]
    monkeypatch.setattr("sys.argv", ["worse_segments", *options])
    worse_segments.main()
    (line,) = capsys.readouterr().out.splitlines()
    nothing = "0 of 4 model-days (0.00%), 0 of 2 models; all of the day 0; in red 0"
    assert line == f"day 10: {nothing}"
