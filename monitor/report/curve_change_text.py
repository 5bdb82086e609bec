"""The part about the ROC curves of segment values of the text that `diagnose` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap

from monitor.config.quantities import count_of
from monitor.diagnosis import SegmentPart
from monitor.diagnosis.segment_curves import SegmentCurve
from monitor.metrics.score_intervals import Interval
from monitor.report.segment_names import segment_name
from monitor.report.table_cells import UNDEFINED, ratio_text, signed
from monitor.report.terminal_columns import cut, padded

COLUMNS = 100
MOST = 8
"""Values in the table, and in sentences, at most."""
_LONGEST_SEGMENT = 24

_Named = tuple[SegmentPart, SegmentCurve]


def curve_sentences(parts: Sequence[SegmentPart]) -> tuple[str, ...]:
    """Return a sentence for each value whose curve certainly moved, those that fell first.

    Args:
        parts: of a diagnosis.
    """
    moved = [(part, curve) for part, curve in _ranked(parts) if curve.moved]
    sentences = [_sentence(part, curve) for part, curve in moved[:MOST]]
    if len(moved) > MOST:
        sentences.append(f"The curves of {count_of(len(moved) - MOST, 'more value')} moved.")
    return tuple(sentences)


def curve_change_lines(parts: Sequence[SegmentPart]) -> Iterator[str]:
    """Yield which curves moved, and a table; nothing where no curve is known on both sides.

    Args:
        parts: of a diagnosis.
    """
    known = _ranked(parts)
    if not any(math.isfinite(curve.change.estimate) for _, curve in known):
        return
    for sentence in curve_sentences(parts):
        yield from wrap(sentence, COLUMNS, subsequent_indent="  ")
    yield (
        f"{'ROC curves of segments':<{_LONGEST_SEGMENT}}{'scores':>18}{'area before':>13}"
        f"{'after':>9}{'change':>10}{'95 % interval':>20}"
    )
    for part, curve in known[:MOST]:
        yield _row(part, curve)
    moved = sum(curve.moved is not None for _, curve in known)
    yield (
        f"{moved or 'None'} of {count_of(len(known), 'curve')} certainly moved (*: corrected for "
        "looking at all; each interval is of one alone)."
    )


def _ranked(parts: Sequence[SegmentPart]) -> list[_Named]:
    found = [(part, part.curve) for part in parts if part.curve is not None]
    return sorted(found, key=_rank)


def _rank(named: _Named) -> tuple[bool, bool, bool, float, float]:
    curve = named[1]
    change, p_value = curve.change.estimate, curve.p_value
    untested = math.isnan(p_value)
    return (
        curve.moved != "fell",
        curve.moved is None,
        untested,
        0.0 if untested else p_value,
        0.0 if math.isnan(change) else -abs(change),
    )


def _sentence(part: SegmentPart, curve: SegmentCurve) -> str:
    change = curve.change
    return (
        f"{_name(part)}: the curve {curve.moved}: area under the ROC curve "
        f"{ratio_text(curve.before.estimate)} → {ratio_text(curve.after.estimate)} "
        f"({signed(change.lower)} to {signed(change.upper)})"
    )


def _row(part: SegmentPart, curve: SegmentCurve) -> str:
    name = padded(cut(_name(part), _LONGEST_SEGMENT - 1), _LONGEST_SEGMENT)
    cases = " → ".join(f"{cases:,}" for cases in curve.cases)
    star = "*" if curve.moved else " "
    return (
        f"{name}{cases:>18}{ratio_text(curve.before.estimate):>13}"
        f"{ratio_text(curve.after.estimate):>9}{signed(curve.change.estimate):>9}{star}"
        f"{_limits(curve.change):>20}"
    )


def _name(part: SegmentPart) -> str:
    return segment_name(part.series.segment, part.series.value)


def _limits(change: Interval) -> str:
    if not math.isfinite(change.lower):
        return UNDEFINED
    return f"{signed(change.lower)} to {signed(change.upper)}"
