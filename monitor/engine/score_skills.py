"""Metrics of the scores of each window, computed again only where counts change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_skill import ScoreSkill
from monitor.snapshot import ModelState, Window
from monitor.windows.scores import Scores

_MATURE = "mature"


class _Known(NamedTuple):
    """Metrics, and what they were computed from."""

    days: tuple[int, int]
    reference: int
    regime: LabelRegime
    version: int
    scores: ScoreHistogram
    skill: ScoreSkill | None


class ScoreSkills:
    """Metrics of the scores of the whole days inside each window.

    Args:
        scores: score histograms.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._known: dict[tuple[int, str], _Known] = {}

    def added(
        self, models: Iterable[ModelState], windows: Iterable[Window]
    ) -> tuple[ModelState, ...]:
        """Return the models with the metrics of their scores.

        A window has them where every prediction is labelled or misses its label at random,
        rates of wrong labels are known, labels have come, and a whole day (UTC) inside it has
        labelled scores.

        Args:
            models: in the order of their numbers.
            windows: the configured windows.
        """
        windows = tuple(windows)
        return tuple(self._added(number, model, windows) for number, model in enumerate(models))

    def _added(self, number: int, model: ModelState, windows: Iterable[Window]) -> ModelState:
        regime = LabelRegime.now(model)
        complete = regime.labelling is Labelling.COMPLETE and regime.errors.known
        if model.now_ms is None or not complete:
            return model
        found = {
            window.name: self._of(number, model, window)
            for window in windows
            if window.name not in model.unused_windows and window.status[model.row] == _MATURE
        }
        skills = {name: skill for name, skill in found.items() if skill is not None}
        return replace(model, scores=skills) if skills else model

    def _of(self, number: int, model: ModelState, window: Window) -> ScoreSkill | None:
        opens, closes = int(window.open[model.row]), int(window.close[model.row])
        days = -(-opens // DAY_MS), closes // DAY_MS
        if days[0] >= days[1]:
            return None
        reference, version = model.watched.reference, self._scores.version(number)
        own = 0 if reference is None else reference.version
        regime = LabelRegime.now(model).of_series(None, None)
        known = self._known.get((number, window.name))
        if known is not None and known[:3] == (days, own, regime):
            if known.version == version:
                return known.skill
            scores = self._scores.days(number, opens, closes)
            if _same(known.scores, scores):
                self._known[number, window.name] = known._replace(version=version)
                return known.skill
        else:
            scores = self._scores.days(number, opens, closes)
        skill = None
        if (scores.positive + scores.negative).any():
            counts = None if reference is None else reference.counts
            cases = (scores.positive + scores.negative).sum(axis=-1)
            errors = regime.of_blocks(DAY_MS * np.arange(*days), cases).errors
            skill = ScoreSkill(by_day=scores, reference=counts, errors=errors).for_scrapes()
        self._known[number, window.name] = _Known(days, own, regime, version, scores, skill)
        return skill


def _same(known: ScoreHistogram, scores: ScoreHistogram) -> bool:
    same = np.array_equal(known.positive, scores.positive)
    return same and np.array_equal(known.negative, scores.negative)
