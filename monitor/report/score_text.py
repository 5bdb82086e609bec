"""The part about scores of the text that `diagnose` prints."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from textwrap import wrap

from monitor.diagnosis.compared_scores import ComparedScores
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.moved_precision import Points
from monitor.report.recalibration_answer import score_corrections
from monitor.report.recalibration_words import correction_rows, none_advised, with_limits
from monitor.report.score_words import (
    MAIN_SCORE_WORDS,
    PARTS_BY_LABELS,
    SCORE_WORDS,
    hidden_sentence,
    skill_parts_sentence,
    slide_sentence,
    thresholds_sentence,
    ties_sentence,
)
from monitor.report.table_cells import UNDEFINED, ratio_text, signed

COLUMNS = 100
_CORRECTED = "corrected for wrong labels (label_errors)"


def score_lines(found: ComparedScores | None, *, by_labels: bool = False) -> Iterator[str]:
    """Yield a table of the metrics of scores; nothing without scores.

    Args:
        found: the scores of both periods.
        by_labels: True where other labels explain the change as well.
    """
    if found is None:
        return
    sides = found.before, found.after
    yield _row("Scores", "before", "after", "change")
    yield _row("labelled scores", *(UNDEFINED if s is None else _cases(s) for s in sides))
    for words in MAIN_SCORE_WORDS.values():
        old, new = (Interval(math.nan) if s is None else words.of(s) for s in sides)
        change = _change(found.change(words.of))
        yield _row(words.words, _interval(old), _interval(new), change)
    if any(side is not None and any(side.errors) for side in sides):
        yield _CORRECTED
        yield from _without_limits(side for side in sides if side is not None)
    for name, side in zip(("before", "after"), sides, strict=True):
        yield from _bins(name, side, MAIN_SCORE_WORDS)
    if found.slide is not None and (text := slide_sentence(*found.slide)) is not None:
        yield text
    if found.thresholds is not None:
        yield from wrap(thresholds_sentence(found.thresholds), COLUMNS)
    if found.parts is not None:
        parts = (Points(*part[1:]) for part in (found.parts.threshold, found.parts.curve))
        yield from wrap(skill_parts_sentence(*parts), COLUMNS)
        if by_labels:
            yield PARTS_BY_LABELS


def _without_limits(sides: Iterable[ScoreSkill]) -> Iterator[str]:
    """Yield which metrics have no interval where others have one; nothing if all have, or none."""
    each = tuple(sides)
    found = {
        words.words: [
            math.isfinite(one.lower) for one in map(words.of, each) if math.isfinite(one.estimate)
        ]
        for words in MAIN_SCORE_WORDS.values()
    }
    lacking = [name for name, limits in found.items() if not all(limits)]
    if lacking and any(map(any, found.values())):
        text = f"no interval of {', '.join(lacking)}: undefined at rates that label_errors allows"
        yield from wrap(text, COLUMNS)


def scores_summary(scores: Mapping[str, ScoreSkill]) -> Iterator[str]:
    """Yield a table of all metrics of the scores of a model; nothing without scores.

    Args:
        scores: by window.
    """
    if not scores:
        return
    yield ""
    yield _columns("The scores, of whole days (UTC)", scores)
    yield _columns("  labelled scores", map(_cases, scores.values()))
    for words in SCORE_WORDS.values():
        cells = (_four_digits(words.of(found)) for found in scores.values())
        yield _columns(f"  {words.words}", cells)
    if any(any(found.errors) for found in scores.values()):
        yield f"  {_CORRECTED}, but for the precision-recall-gain area"
    for name, found in scores.items():
        yield from _bins(name, found, SCORE_WORDS)


def _bins(name: str, found: ScoreSkill | None, shown: Container[str]) -> Iterator[str]:
    """Yield what the bins of the scores hide of the metrics that are shown."""
    if found is None:
        return
    hidden = [one for one in found.hidden_by_bins if one in shown]
    for sentence in (
        ties_sentence(found.roc_auc.estimate, found.tied_pairs, name),
        hidden_sentence(hidden, name),
    ):
        if sentence is not None:
            yield from wrap(sentence, COLUMNS)


def _columns(title: str, cells: Iterable[str]) -> str:
    return f"{title:<33}" + "".join(f"{cell:>28}" for cell in cells)


def _four_digits(found: Interval) -> str:
    if not math.isfinite(found.estimate):
        return UNDEFINED
    ends = f" {found.lower:.4f} to {found.upper:.4f}" if math.isfinite(found.lower) else ""
    return f"{found.estimate:.4f}{ends:>20}"


def correction_lines(found: ComparedScores | None) -> Iterator[str]:
    """Yield a table of the corrections of the scores of after; nothing without any.

    Args:
        found: the scores of both periods.
    """
    corrections = None if found is None else score_corrections(found.recalibration)
    if corrections is None:
        return
    rows = [*correction_rows(corrections)]
    if rows:
        yield f"{'Corrections of the scores':<30}{'log-odds':>28}   takes off the Brier score"
    for row in rows:
        yield f"{row.words:<30}{row.formula:>28}   {with_limits(row.gain, 4)}"
    if (why := none_advised(corrections)) is not None:
        yield from wrap(why, COLUMNS)


def _row(title: str, before: str, after: str, change: str = "") -> str:
    return f"{title:<31}{before:>21}{after:>21}{change:>27}".rstrip()


def _cases(found: ScoreSkill) -> str:
    return f"{found.positives + found.negatives:,}"


def _interval(found: Interval) -> str:
    if not math.isfinite(found.lower):
        return ratio_text(found.estimate)
    return f"{found.estimate:.3f} ({found.lower:.3f}-{found.upper:.3f})"


def _change(found: Interval) -> str:
    if not math.isfinite(found.lower):
        return signed(found.estimate)
    return f"{signed(found.estimate)} ({signed(found.lower)} to {signed(found.upper)})"
