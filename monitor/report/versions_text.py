"""The text that `compare` prints; at most 100 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

from monitor.config.quantities import count_of
from monitor.drift.rates_of_two import Joint
from monitor.drift.version_comparison import RATES, Range
from monitor.drift.version_scores import VersionScores
from monitor.drift.version_verdict import DIFFERENT, VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.events.left_out_keys import LeftOutBecause
from monitor.metrics import class_ratio, precision
from monitor.metrics.ratio import FloatArray
from monitor.report.moved_precision import Points
from monitor.report.points import in_points
from monitor.report.printable import one_line
from monitor.report.score_words import skill_parts_sentence
from monitor.report.table_cells import minute, ratio_text, signed
from monitor.report.terminal_columns import at_right, cut, padded
from monitor.report.versions_conditions import (
    OFF_OWN_CURVE,
    ON_UNLIKE_DAYS,
    condition,
    parts_take,
    without_scores,
)
from monitor.report.versions_words import (
    MODEL_AND_MIX,
    adjusted_for,
    compared_at,
    over_time,
    too_new,
    versions_headline,
)
from monitor.report.vocabulary import METRIC_WORDS

COLUMNS = 100
_LONGEST_NAME = 18
_TITLES = 27
_WIDTHS = (19, 19, 13, 20)
_PARTS = {"model": "the model", "prevalence": "prevalence", "mix": "mix of cases"}
_METRICS = (*RATES, "balanced_precision", "log_likelihood_ratio")
_CLASSES = ("positives", "negatives")
_SMALLEST_P = 1e-300
_SHOWN = 0.005
_LEFT_OUT = {
    LeftOutBecause.ONE_VALUE: "one value in the first records",
    LeftOutBecause.MANY_VALUES: "few records for each value",
    LeftOutBecause.MANY_KEYS: "beyond the four keys of fewest values",
    LeftOutBecause.OTHER_COLUMN: "a column that may follow from the outcome",
}
_COULD_MATTER = (
    LeftOutBecause.MANY_VALUES,
    LeftOutBecause.MANY_KEYS,
    LeftOutBecause.OTHER_COLUMN,
)


RECORDED = "compare by segments (--segments)"
"""How segments are taken into account in a comparison of recorded events."""


def versions_text(found: VersionsCompared, by_segments: str = RECORDED) -> str:
    """Return the verdict, then what it rests on and what is not known.

    Args:
        found: the comparison.
        by_segments: how segments are taken into account, where none are.
    """
    sections = (
        _verdict(found, by_segments),
        _sides(found),
        _parts(found),
        _pairs(found),
        _limits(found),
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines)


def _verdict(found: VersionsCompared, by_segments: str) -> Iterator[str]:
    """Yield the verdict, what it holds under, and the keys that could hold another mix."""
    yield from wrap(versions_headline(found), COLUMNS)
    if text := condition(found):
        yield from wrap(f"{text} To leave out what segments explain, {by_segments}.", COLUMNS)
    yield from wrap(without_scores(found), COLUMNS)
    if named := _left_out(found, *_COULD_MATTER):
        text = (
            f"The mix is not equal by {named}: what differs there counts as the model; "
            "--segments KEY,KEY names the keys of the mix."
        )
        yield from wrap(text, COLUMNS)


def _left_out(found: VersionsCompared, *because: LeftOutBecause) -> str:
    """Return the keys that are left out for these reasons; "" for none."""
    if found.comparison.by_pairs:
        return ""
    keys = [one for one in found.left_out if one.because in because]
    return ", ".join(f"{one_line(key)} ({_LEFT_OUT[why]})" for key, why in keys)


def _sides(found: VersionsCompared) -> Iterator[str]:
    comparison = found.comparison
    compared = comparison.decided_by
    names = [_name(one.name) for one in found.versions]
    yield _row(one_line(found.model), *names, "difference", "95 % interval")
    yield _row("predictions", *(f"{n:,}" for n in found.predictions))
    yield _row("outcomes", *(f"{int(one.total):,}" for one in comparison.counts))
    yield _row(
        "positives per negative", *(ratio_text(float(class_ratio(c))) for c in comparison.counts)
    )
    before, after = (float(precision(one)) for one in comparison.counts)
    yield _row("precision as it was", ratio_text(before), ratio_text(after), signed(after - before))
    yield f"{compared_at(found)}:"
    a, b = compared.metrics
    for name in _METRICS:
        values = (a[name].estimate, b[name].estimate)
        one = compared.differences.get(name)
        ends = () if one is None or math.isnan(one.lower) else (_between(one),)
        difference = signed(values[1] - values[0])
        yield _row(f"  {METRIC_WORDS[name].words}", *map(ratio_text, values), difference, *ends)
    if found.scores is not None:
        yield _areas(found.scores)


def _areas(scores: VersionScores) -> str:
    """Return the row of the areas under both ROC curves."""
    areas = (ratio_text(one.roc_auc.estimate) for one in scores.versions)
    one = Range(*scores.change)
    ends = () if math.isnan(one.lower) else (_between(one),)
    return _row("area under ROC curve", *areas, signed(one.estimate), *ends)


def _row(title: str, *cells: str) -> str:
    return padded(cut(title, _TITLES), _TITLES) + "".join(
        at_right(cell, width) for cell, width in zip(cells, _WIDTHS, strict=False)
    )


def _between(found: Range) -> str:
    return f"{signed(found.lower)} to {signed(found.upper)}"


def _name(name: str) -> str:
    return cut(one_line(name), _LONGEST_NAME)


def _parts(found: VersionsCompared) -> Iterator[str]:
    parts = found.comparison.decided_by.parts
    if not math.isfinite(sum(part.points for part in parts.values())):
        return
    yield f"{'What the difference of precision is':<46}{'log-odds':>19}{'points':>13}"
    for name, part in parts.items():
        yield f"{_PARTS[name]:<46}{part.logit:>+19.2f}{in_points(part.points):>+13.1f}"
    whole = [
        sum(values) for values in zip(*((p.logit, p.points) for p in parts.values()), strict=True)
    ]
    yield f"{'= precision as it was':<46}{whole[0]:>+19.2f}{in_points(whole[1]):>+13.1f}"
    if found.scores is not None and found.scores.parts is not None:
        effects = found.scores.parts.threshold, found.scores.parts.curve
        both = (Points(*part[1:]) for part in effects)
        yield from wrap(skill_parts_sentence(*both, whole=MODEL_AND_MIX), COLUMNS)
    elif found.scores is not None:
        counts = found.comparison.counts
        yield from wrap(parts_take(min(float(one.actual_positive) for one in counts)), COLUMNS)


def _pairs(found: VersionsCompared) -> Iterator[str]:
    pairs = found.comparison.pairs
    if pairs is None:
        return
    a, b = (_name(one.name) for one in found.versions)
    share = min(found.comparison.paired, 1.0)
    paired = int(pairs.positive.sum() + pairs.negative.sum())
    yield (
        f"Both versions scored {count_of(paired, 'case')}, "
        f"{100 * share:.0f} % of those of the version with fewer:"
    )
    for word, cases, rate in zip(_CLASSES, (pairs.positive, pairs.negative), RATES, strict=False):
        yield from wrap(
            f"{word}: {_flagged(cases, a, b)}; McNemar's exact p "
            f"{p_value_text(pairs.p_values[rate])}",
            COLUMNS,
            initial_indent="  ",
            subsequent_indent="    ",
        )


def _flagged(cases: FloatArray, a: str, b: str) -> str:
    both, only_a, only_b, neither = (int(cases[one]) for one in Joint)
    alone = f"{only_a:,} by {a} alone, {only_b:,} by {b} alone"
    return f"{both:,} flagged by both, {alone}, {neither:,} by none"


def p_value_text(value: float) -> str:
    """Return a p-value with three decimals, or one digit where it is smaller.

    >>> p_value_text(0.0386), p_value_text(0.00012)
    ('0.039', '0.0001')
    """
    if value < _SMALLEST_P:
        return f"below {_SMALLEST_P:g}"
    return f"{value:.3f}" if value >= _SHOWN else f"{value:.1g}"


def _limits(found: VersionsCompared) -> Iterator[str]:
    comparison = found.comparison
    compared = comparison.decided_by
    within = f"{minute(found.within.opens)} to {minute(found.within.closes)}"
    if not found.is_moment:
        both = "" if 0 in found.predictions else "both in use and "
        yield f"Compared from {within} UTC, with {both}outcomes mature."
    if not comparison.by_pairs:
        yield from wrap(_strata(found), COLUMNS)
    if comparison.off_own_curve:
        a = one_line(found.versions[0].name)
        yield from wrap(OFF_OWN_CURVE.format(a=a), COLUMNS)
    if found.on_unlike_days:
        yield from wrap(ON_UNLIKE_DAYS, COLUMNS)
    if alike := _left_out(found, LeftOutBecause.ONE_VALUE):
        yield from wrap(f"Not looked at: {alike}.", COLUMNS)
    sequence = compared.found
    if math.isfinite(sequence.change):
        yield from wrap(_sequence(found), COLUMNS)
    if found.ended is not None:
        yield over_time(found.ended)
    if found.too_new is not None:
        yield from wrap(too_new(found.too_new), COLUMNS)


def _sequence(found: VersionsCompared) -> str:
    sequence = found.comparison.decided_by.found
    looks = "for repeated looks; the 95 % intervals hold for one look."
    if not found.anytime:
        looks = "for one look, as for the 95 % intervals: the beginning moves along."
    text = (
        f"Log odds ratio {sequence.change:+.2f} ± {sequence.standard_error:.2f}, "
        f"{sequence.lower:+.2f} to {sequence.upper:+.2f}"
    )
    curve, judged = sequence.from_curve, sequence.verdict in DIFFERENT
    if curve is None:
        decides = not judged or not sequence.lower <= 0 <= sequence.upper
    else:
        decides = sequence.by_curve
        text = (
            f"Recall less that of the ROC curve of version {one_line(found.versions[0].name)} at "
            f"the same false-positive rate{', which decides' * decides}: {signed(curve.recall)}, "
            f"{_between(Range(curve.recall, curve.lower, curve.upper))}. {text},"
        )
    text += f" {looks}"
    if not decides:
        useless = found.versions[sequence.verdict is VersionVerdict.WORSE].name
        text += f" Version {one_line(useless)} hardly tells the classes apart, which decides."
    return text


def _strata(found: VersionsCompared) -> str:
    rates = found.comparison.strata.rates
    by = [*map(one_line, adjusted_for(found))]
    if not by:
        return "The mix is as it was: neither segments nor times are known."
    compared = " and ".join([", ".join(by[:-1]), by[-1]]) if by[1:] else by[0]
    left = rates.left_out
    shares = [
        f"{100 * share:.0f} % of the {word}"
        for share, word in zip(left.tolist(), _CLASSES, strict=True)
        if share >= _SHOWN
    ]
    rest = f"; {' and '.join(shares)} fall where one version has none" if shares else ""
    return f"The mix is equal by {compared}{rest}."
