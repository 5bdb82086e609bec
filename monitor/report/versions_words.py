"""Two versions compared, in one sentence."""

from __future__ import annotations

import math

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config.quantities import count_of, format_duration
from monitor.drift.rates_of_two import Change
from monitor.drift.skill import EQUIVALENCE
from monitor.drift.version_comparison import RatesCompared
from monitor.drift.version_verdict import FEWEST_CASES, NotShown, VersionVerdict
from monitor.drift.versions_compared import (
    EndedVersion,
    VersionsCompared,
    VersionTraffic,
    second_text,
)
from monitor.events.columns import MISSING_VALUE
from monitor.report.printable import one_line
from monitor.report.rate_changes import short
from monitor.report.versions_conditions import condition, in_one_direction
from monitor.report.vocabulary import METRIC_WORDS

_POINT = 0.005
"""Precision that differs by less than half a point counts as equal."""
_SMALL = 0.1
MODEL_AND_MIX = "the model and the mix together"
"""What the threshold and the ROC curve do together, of the rates as they were."""
_MIX = "mix and prevalence"
_ROUNDED = 2
_YEAR = 365
_TOO_MANY = "to settle it takes more outcomes than this traffic brings in a year"
"""Days beyond which the number of days that a verdict takes says nothing more."""


def versions_headline(found: VersionsCompared) -> str:
    """Return the verdict, what it rests on, and what the traffic does, in one sentence."""
    compared = found.comparison.decided_by
    a, b = (one_line(one.name) for one in found.versions)
    because = compared.found.because
    if because is NotShown.OTHER_TIMES:
        return (
            f"Whether version {b} is worse than {a} is not shown: they predict at other hours or "
            "on other days, and what differs between these is not the versions'."
        )
    if not compared.rates.is_known:
        missing = because is NotShown.MISSING_CLASS
        why = _lacking(found) if missing else to_settle(found)
        return f"Whether version {b} is worse than {a} is not shown: {why}."
    recall, false = (_against(compared, name) for name in ("recall", "false_positive_rate"))
    where = compared_at(found)
    if because in (NotShown.ANOTHER_OPERATING_POINT, NotShown.ANOTHER_THRESHOLD):
        return _at_another_point(found, f"{recall}, {false} {where}")
    verdict = compared.found.verdict
    if verdict is VersionVerdict.EQUAL:
        start = f"Versions {b} and {a} are equal within {short(EQUIVALENCE, 1)} log-odds"
        return f"{start}: {recall}, {false} {where}{_traffic(compared)}."
    rate = _main_rate(compared)
    if verdict is VersionVerdict.NOT_SHOWN:
        one_look = _one_look(compared, rate)
        interval = f"{_interval(compared, rate)}{one_look}"
        numbers = f"{_against(compared, rate)} (difference {interval}) {where}"
        if one_look and compared.found.from_curve is not None and in_one_direction(compared):
            numbers = f"{recall}, {false} {where}, and scores leave another threshold possible"
        return f"Whether version {b} is worse than {a} is not shown: {numbers}; {to_settle(found)}."
    numbers = f"{_against(compared, rate)} (difference {_interval(compared, rate)}) {where}"
    if _by_curve(compared):
        numbers = f"{recall}, {false} {where}, {_from_curve(compared, a)}"
    return f"Version {b} is {verdict} than {a}: {numbers}{_traffic(compared)}."


def _by_curve(compared: RatesCompared) -> bool:
    """Return whether the curve decides and both rates moved in one direction."""
    found = compared.found.from_curve
    decides = found is not None and found.verdict is compared.found.verdict
    return decides and in_one_direction(compared)


def _from_curve(compared: RatesCompared, a: str) -> str:
    """Return on which side of the ROC curve of A version B lies."""
    found = compared.found.from_curve
    side = "below" if found is not None and found.recall < 0 else "above"
    return f"{side} the ROC curve of {a}"


def _one_look(compared: RatesCompared, rate: str) -> str:
    """Return that an interval without 0 holds for one look; "" for any other."""
    found = compared.differences[rate]
    return "" if found.lower <= 0 <= found.upper else " for one look"


def _at_another_point(found: VersionsCompared, rates: str) -> str:
    """Return that the versions have other operating points, and whether these lie on one curve."""
    a, b = (one_line(one.name) for one in found.versions)
    scores = () if found.scores is None else reversed(found.scores.versions)
    areas = " against ".join(number(one.roc_auc.estimate) for one in scores)
    if found.because is NotShown.ANOTHER_THRESHOLD:
        area = f" (area under it {areas})" if areas else ""
        return (
            f"Versions {b} and {a} differ in their threshold: {rates}, on one ROC curve as far as "
            f"scores show{area}."
        )
    start = f"Version {b} has another operating point than {a}: {rates}; "
    if found.comparison.decided_by.found.because is NotShown.ANOTHER_THRESHOLD:
        return (
            f"{start}it lies on the ROC curve of {a}, and the two curves differ elsewhere (area "
            f"under them {areas})."
        )
    return f"{start}whether it is better or worse is not shown, and {to_settle(found)}."


def compared_at(found: VersionsCompared) -> str:
    """Return what is equal in the comparison: the cases, or class ratio and mix of segments."""
    if found.comparison.by_pairs:
        return "on the same cases"
    return "at equal class ratio and mix" if found.segments else "at equal class ratio"


def adjusted_for(found: VersionsCompared) -> tuple[str, ...]:
    """Return what the mix of cases is equal by: segment keys, day and hour.

    Nothing where the same cases are compared, or neither segments nor times are known.
    """
    if found.comparison.by_pairs:
        return ()
    return (*found.segments, *(() if found.is_moment else ("day", "hour")))


def too_new(version: VersionTraffic) -> str:
    """Return that the version that began last has too few outcomes, in a sentence."""
    return (
        f"New: version {one_line(version.name)} began {second_text(version.first)} and is not "
        f"compared yet: it has fewer than {FEWEST_CASES:.0f} mature positives or negatives."
    )


def ended_text(ended: EndedVersion) -> str:
    """Return when a version ended, without a full stop."""
    return f"version {one_line(ended.version.name)} ended {second_text(ended.version.ended)}"


def over_time(ended: EndedVersion) -> str:
    """Return that one version ended, and how to compare it with one that follows it.

    A command within it is unbroken.
    """
    how = f": {one_line(ended.over_time)}" if ended.over_time else ""
    return f"V{ended_text(ended)[1:]}{how}."


def worse_version(found: VersionsCompared) -> str:
    """Return that B is worse, without a full stop."""
    a, b = (one.name for one in found.versions)
    judged = "Predictions without a version" if b == MISSING_VALUE else f"Version {one_line(b)}"
    other = "predictions without a version" if a == MISSING_VALUE else one_line(a)
    verb = "are" if b == MISSING_VALUE else "is"
    return f"{judged} {verb} worse than {other}"


def worse_by(found: VersionsCompared) -> str:
    """Return that B is worse, and by which rate, in a short sentence."""
    compared = found.comparison.decided_by
    alike = ", if both get alike cases" if condition(found) else ""
    rate = _against(compared, _main_rate(compared))
    return f"{worse_version(found)} over the same time: {rate}{alike}."


def to_settle(found: VersionsCompared) -> str:
    """Return how many more outcomes would settle the verdict, and how long they take.

    Below 10 positives or negatives of a version rates say nothing of what would settle it: the
    number is then that of these.
    """
    more, compared = found.comparison.outcomes_to_settle, found.comparison.decided_by
    if found.ended is not None:
        lacks = "" if compared.found.is_projected else f"{_few(found)}, and "
        return lacks + ended_text(found.ended)
    if compared.found.because in (NotShown.MISSING_CLASS, NotShown.OTHER_TIMES):
        missing = compared.found.because is NotShown.MISSING_CLASS
        lacks = f": {_missing(found)} to compare yet" if missing else " at the same hours and days"
        return f"more outcomes are needed{lacks}"
    if not math.isfinite(more):
        return _never_settled(compared)
    count = math.ceil(more)
    digits = max(len(str(count)) - _ROUNDED, 0)
    rounded = math.ceil(count / 10**digits) * 10**digits
    length = _length(found.days_to_settle)
    if not compared.found.is_projected:
        rate = f" ({length} at the present rate)" if length else ""
        needed = f"{count_of(rounded, 'more outcome')} {'is' if rounded == 1 else 'are'} needed"
        return f"at least {needed}{rate}: {_few(found)}"
    rate = f", {length} at the present rate" if length else ""
    takes = f"about {count_of(rounded, 'more outcome')} would settle it{rate}"
    return _TOO_MANY if found.days_to_settle > _YEAR else takes


def _never_settled(compared: RatesCompared) -> str:
    """Return why no number of outcomes can be named that would settle the verdict."""
    if compared.found.from_curve is not None:
        return "no number of outcomes would settle it with scores as coarse as these"
    if compared.found.because is NotShown.ANOTHER_OPERATING_POINT:
        return "no number of outcomes would settle it at these rates"
    return "more outcomes are needed, and how many is not known while the rates are so uncertain"


def _length(days: float) -> str:
    """Return a length of time, rounded up to days or hours; "" where it is not known.

    >>> _length(1.2), _length(4.1), _length(7_898)
    ('1d5h', '5d', 'more than a year')
    """
    if not math.isfinite(days):
        return ""
    if days > _YEAR:
        return "more than a year"
    unit = DAY_MS if days >= _ROUNDED else HOUR_MS
    length = math.ceil(days * DAY_MS / unit) * unit
    return f"{length // DAY_MS:,}d" if unit == DAY_MS else format_duration(length)


def number(value: float) -> str:
    """Return a rate with two digits, with three below .1."""
    return short(value, 3 if abs(value) < _SMALL else 2)


def signed(value: float) -> str:
    """Return a difference of rates with its sign, as `number` writes it."""
    text = number(abs(value))
    return f"{'-' if value < 0 else '+'}{text}"


def _against(compared: RatesCompared, name: str) -> str:
    a, b = (one[name].estimate for one in compared.metrics)
    return f"{METRIC_WORDS[name].words} {number(b)} against {number(a)}"


def _interval(compared: RatesCompared, name: str) -> str:
    found = compared.differences[name]
    return f"{signed(found.estimate)}, {signed(found.lower)} to {signed(found.upper)}"


def _main_rate(compared: RatesCompared) -> str:
    """The rate that moved the log odds ratio most in the direction of the verdict."""
    change, _ = compared.rates.changes()
    recall, false = change[Change.RECALL], -change[Change.FALSE_POSITIVE_RATE]
    way = {VersionVerdict.BETTER: 1, VersionVerdict.WORSE: -1}.get(compared.found.verdict, 0)
    way = way or (1 if recall + false > 0 else -1)
    return "recall" if way * recall >= way * false else "false_positive_rate"


def _traffic(compared: RatesCompared) -> str:
    """How much of the difference of precision is mix and prevalence; "" where it is little."""
    whole = sum(part.points for part in compared.parts.values())
    traffic = whole - compared.parts["model"].points
    if not (math.isfinite(whole) and abs(traffic) >= _POINT):
        return ""
    own, points = f"{100 * abs(traffic):.0f}", f"{100 * abs(whole):.0f}"
    if abs(traffic - whole) < _POINT:
        return (
            f"; the {count_of(int(points), 'point')} of precision between them {_be(points)} {_MIX}"
        )
    if whole * traffic < 0 or abs(traffic) > abs(whole):
        way = "raise" if traffic > 0 else "lower"
        return f"; mix and prevalence {way} its precision by {own} point{'s' * (own != '1')}"
    return f"; {own} of the {count_of(int(points), 'point')} of precision {_be(own)} {_MIX}"


def _be(number: str) -> str:
    return "is" if number == "1" else "are"


def _few(found: VersionsCompared) -> str:
    """Return which version has the fewest cases of a class, and how many it needs."""
    cases = found.comparison.decided_by.rates.cases
    index = int(cases.argmin())
    name, word = one_line(found.versions[index % 2].name), ("positives", "negatives")[index // 2]
    return f"version {name} has {cases[index]:.0f} of the {FEWEST_CASES:.0f} {word} that it needs"


def _lacking(found: VersionsCompared) -> str:
    """Return what there is not: outcomes, or predictions of a version that paused meanwhile."""
    if 0 not in found.predictions:
        ended = "yet" if found.ended is None else f"and {ended_text(found.ended)}"
        return f"{_missing(found)} to compare {ended}"
    if not any(found.predictions):
        return "neither version made a prediction in the time that is compared"
    absent = found.predictions.index(0)
    name, other = (one_line(found.versions[place].name) for place in (absent, 1 - absent))
    return (
        f"version {name} made no prediction while version {other} did; compare two stretches of "
        "time with diagnose"
    )


def _missing(found: VersionsCompared) -> str:
    lacking = []
    for traffic, counts in zip(found.versions, found.comparison.counts, strict=True):
        for cases, word in (
            (counts.actual_positive, "positives"),
            (counts.actual_negative, "negatives"),
        ):
            if not cases:
                lacking.append(f"version {one_line(traffic.name)} has no labelled {word}")
    return lacking[0] if lacking else "no stratum has outcomes of both versions"
