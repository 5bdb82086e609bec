"""What sources of labels show, as a part of JSON answers."""

from __future__ import annotations

import math

from msgspec import Struct

from monitor.labels.source_words import rates_undefined_text, sources_text
from monitor.metrics.source_errors import SourceRate
from monitor.metrics.source_findings import SourceFindings
from monitor.report.answer_parts import Count, MetricInterval, Share


class SourceAnswer(Struct, frozen=True, kw_only=True):
    """A source of labels, and how often it is wrong.

    Attributes:
        source: its name; `__other__` for all beyond those that are told apart.
        labelled: cases that it labels.
        compared: of these, cases that the rates rest on.
        false_positive: share of actual negatives that it labels 1; null where undefined.
        false_negative: share of actual positives that it labels 0; null where undefined.
    """

    source: str
    labelled: Count
    compared: Count
    false_positive: MetricInterval
    false_negative: MetricInterval


class SourcePair(Struct, frozen=True, kw_only=True):
    """How two sources label the cases that both label.

    Attributes:
        first: name of the one.
        second: name of the other.
        cases: that both label.
        agreement: share of them that both label the same.
        kappa: Cohen's; null where both always give the same one label.
    """

    first: str
    second: str
    cases: Count
    agreement: Share
    kappa: MetricInterval


class LabelSourcesAnswer(Struct, frozen=True, kw_only=True):
    """How sources label the same cases, predicted within a year.

    Attributes:
        cases: cases that at least two sources label.
        alpha: Krippendorff's alpha of all sources; null where undefined.
        sources: each source: those that an order names, then in the order in which they came.
        pairs: each two that share a case.
        rates_undefined: why no source has rates of wrong labels; null where one has.
        outranked: labels that came when one of a source of a higher rank was in force.
        left_out: cases of all models that are no longer counted, to bound memory.
        text: the same in words.
    """

    cases: Count
    alpha: float | None
    sources: tuple[SourceAnswer, ...]
    pairs: tuple[SourcePair, ...]
    rates_undefined: str | None
    outranked: Count
    left_out: Count
    text: str


def label_sources_answer(found: SourceFindings | None) -> LabelSourcesAnswer | None:
    """Return what sources show; None where no label has a source."""
    if found is None:
        return None
    return LabelSourcesAnswer(
        cases=found.shared,
        alpha=_number(found.alpha),
        sources=tuple(
            SourceAnswer(
                source=name,
                labelled=labelled,
                compared=errors.cases,
                false_positive=_rate(errors.false_positive),
                false_negative=_rate(errors.false_negative),
            )
            for name, labelled, errors in zip(
                found.names, found.labelled, found.errors, strict=True
            )
        ),
        pairs=tuple(
            SourcePair(
                first=pair.first,
                second=pair.second,
                cases=pair.cases,
                agreement=pair.agreement,
                kappa=_interval(pair.kappa, pair.lower, pair.upper),
            )
            for pair in found.pairs
        ),
        rates_undefined=rates_undefined_text(found) or None,
        outranked=found.outranked,
        left_out=found.left_out,
        text=sources_text(found),
    )


def _rate(found: SourceRate) -> MetricInterval:
    return _interval(*found)


def _interval(estimate: float, lower: float, upper: float) -> MetricInterval:
    return MetricInterval(estimate=_number(estimate), lower=_number(lower), upper=_number(upper))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
