"""What sources of labels show, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from monitor.config.quantities import count_of
from monitor.metrics.source_errors import FEWEST_OF_CLASS, FEWEST_SHARED, SourceErrors
from monitor.metrics.source_findings import PairAgreement, SourceFindings

_MOVED = 0.1
"""Change of the share of cases that a source labels, from which on it is named."""
_LEAST_SHOWN = 1e-6
_MOST_PAIRS = 3
"""Pairs of sources that a text names, those that agree least."""
_MOST_SOURCES = 3
"""Sources whose errors a text names, those that are wrong most."""


def sources_text(found: SourceFindings) -> str:
    """Return what sources show, as a sentence without its full stop.

    Args:
        found: what they show.
    """
    cases = count_of(found.shared, "case")
    head = f"who is right where sources disagree: {cases} of a year got labels of several"
    return "; ".join([head, *_parts(found)])


def sources_change_text(
    found: SourceFindings, before: tuple[int, int] | None, after: tuple[int, int] | None
) -> str:
    """Return which sources label more or fewer of the cases than before; empty where none does.

    Args:
        found: what sources show.
        before: first moment of the earlier range and first moment after it, epoch milliseconds;
            None where these are not known.
        after: of the later range, likewise.
    """
    if found.shares is None or before is None or after is None:
        return ""
    shares = zip(
        found.names, found.shares.within(*before), found.shares.within(*after), strict=True
    )
    moved = [one for one in shares if abs(one[2] - one[1]) >= _MOVED]
    if not moved:
        return ""
    moved = sorted(moved, key=lambda one: -abs(one[2] - one[1]))[:_MOST_PAIRS]
    each = "; ".join(f"{name} {was:.0%} → {now:.0%}".replace("%", " %") for name, was, now in moved)
    return (
        f"whether labels or the model changed: other sources label now, of the cases with a source "
        f"{each} (counted by weeks); where sources are wrong at different rates, that alone moves "
        "recall, precision and scores; the labels of one source alone, by themselves, settle it"
    )


def rates_undefined_text(found: SourceFindings) -> str:
    """Return why no source has rates of wrong labels; empty where one has.

    Args:
        found: what sources show.
    """
    if found.has_many_classes:
        return "how often each is wrong is estimated for models of two classes only"
    if any(map(_errors_text, found.errors)):
        return ""
    if _has_three(found.pairs):
        return (
            "how often each is wrong is not known: their labels may say nothing of the class, or "
            f"a class has under {FEWEST_OF_CLASS} of their cases"
        )
    return (
        f"how often each is wrong takes three sources of which each two share {FEWEST_SHARED} "
        f"cases, and {FEWEST_OF_CLASS} cases of a class"
    )


def _parts(found: SourceFindings) -> Iterator[str]:
    yield from map(_pair_text, sorted(found.pairs, key=_agreement)[:_MOST_PAIRS])
    if len(found.pairs) > _MOST_PAIRS:
        yield f"{count_of(len(found.pairs) - _MOST_PAIRS, 'pair')} more"
    if not math.isnan(found.alpha):
        yield f"Krippendorff's alpha of all is {found.alpha:.3f}"
    known = [one for one in zip(found.names, found.errors, strict=True) if _errors_text(one[1])]
    worst = sorted(known, key=lambda one: -_wrong(one[1]))
    for name, errors in worst[:_MOST_SOURCES]:
        yield f"{name} labels {_errors_text(errors)}"
    if len(known) > _MOST_SOURCES:
        yield f"{count_of(len(known) - _MOST_SOURCES, 'source')} more, which are wrong less"
    if undefined := rates_undefined_text(found):
        yield undefined


def _has_three(pairs: Sequence[PairAgreement]) -> bool:
    """Return whether there are three sources of which each two share enough cases."""
    linked = {frozenset((one.first, one.second)) for one in pairs if one.cases >= FEWEST_SHARED}
    names = sorted(frozenset().union(*linked))
    return any(
        all(frozenset(two) in linked for two in combinations(three, 2))
        for three in combinations(names, 3)
    )


def _agreement(pair: PairAgreement) -> tuple[bool, float, int]:
    """Return what orders pairs: kappa; those without one, or of few cases, come last."""
    known = pair.cases >= FEWEST_SHARED and not math.isnan(pair.kappa)
    return not known, pair.kappa if known else 0.0, -pair.cases


def _wrong(errors: SourceErrors) -> float:
    """Return the sum of both rates of wrong labels: at 1, labels say nothing of the class."""
    rates = errors.false_positive, errors.false_negative
    return sum(one.rate for one in rates if one.is_defined)


def _pair_text(pair: PairAgreement) -> str:
    kappa = "is undefined"
    if not math.isnan(pair.kappa):
        kappa = f"{pair.kappa:.3f}, {pair.lower:.3f} to {pair.upper:.3f}"
    return (
        f"{pair.first} and {pair.second} agree on {100 * pair.agreement:.1f} % of {pair.cases:,} "
        f"(Cohen's kappa {kappa})"
    )


def _errors_text(errors: SourceErrors) -> str:
    of_class = {"negatives": errors.false_positive, "positives": errors.false_negative}
    parts = [
        f"{_percent(one.rate)} % of {name} wrong ({_percent(one.lower)} to {_percent(one.upper)})"
        for name, one in of_class.items()
        if one.is_defined
    ]
    return " and ".join(parts)


def _percent(rate: float) -> str:
    """Return a rate in percent, without its sign; 0 for less than a case in a million."""
    return "0" if rate < _LEAST_SHOWN else f"{100 * rate:.2g}"
