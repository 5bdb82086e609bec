"""What is known of wrong labels, in words: rates that metrics are corrected for, and audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of, format_duration, format_time
from monitor.events.lost_audits import LostAudits
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected import contradicted, uncorrected
from monitor.metrics.audited_cells import metrics_by_audits
from monitor.metrics.audited_errors import FEWEST_AUDITS, AuditedLabels, AuditedValue, AuditFindings
from monitor.metrics.label_errors import NO_ERRORS, EarlierErrors, ErrorRates
from monitor.metrics.possible_rates import LabelLimits

_SHOWN = 4
"""Segment values of a key that are named."""


def wrong_labels(
    errors: ErrorRates,
    earlier: Sequence[EarlierErrors] = (),
    *,
    is_mean: bool = False,
    configured: ErrorRates = NO_ERRORS,
) -> str:
    """Return what metrics are corrected for, as a sentence without its full stop.

    Args:
        errors: rates of wrong labels, of the latest predictions where they changed.
        earlier: the rates before each change, the oldest first.
        is_mean: the rates are the mean over a range in which they changed.
        configured: those that were configured, where labels exclude a part of them.

    >>> wrong_labels(ErrorRates(0.01, 0.05)).partition(";")[0]
    'labels are taken to be wrong for 1 % of actual negatives and 5 % of actual positives'
    >>> changed = EarlierErrors(1_772_668_800_000, ErrorRates(0.01, 0.05))
    >>> wrong_labels(ErrorRates(0.04, 0.05), [changed]).partition(";")[0]
    'labels are taken to be wrong for 4 % of actual negatives and 5 % of actual positives \
(before 2026-03-05 for 1 % and 5 %)'
    >>> wide, possible = (ErrorRates.within((0.0, end), 0.05) for end in (0.02, 0.00617))
    >>> print(wrong_labels(possible, configured=wide).partition("; metrics")[0])
    labels are taken to be wrong for 0 to 0.617 % of actual negatives and 5 % of actual positives; \
label_errors allows up to 2 % of actual negatives, but more than 0.617 % cannot be: too few labels \
of a predicted class are 1
    """
    of_negatives, of_positives = _percentages(errors)
    found = (
        f"labels are taken to be wrong for {of_negatives} of actual negatives and "
        f"{of_positives} of actual positives"
    )
    before = [
        f"before {_day(one.until)} for {' and '.join(_percentages(one.errors))}" for one in earlier
    ]
    changed = f" ({', '.join(before)})" if before else ""
    if is_mean:
        changed = ", the mean over a range in which the rates changed"
    excluded = excluded_text(errors, configured)
    return (
        f"{found}{changed}{excluded}; metrics and their intervals are corrected for it "
        "(label_errors)"
    )


def excluded_text(
    errors: ErrorRates, configured: ErrorRates, cases: str = "a predicted class"
) -> str:
    """Return which part of each configured range labels exclude, as clauses; "" for none.

    Args:
        errors: the rates that are left.
        configured: those that were configured; zeros where nothing is excluded.
        cases: whose labels exclude it.
    """
    return "".join(
        f"; label_errors allows up to {_percent(highest)} of {_LABELLED[name][0]}, but more than "
        f"{_percent(possible)} cannot be: too few labels of {cases} are {_LABELLED[name][1]}"
        for name, (possible, highest) in configured.excluded(errors).items()
    )


def too_high_text(configured: ErrorRates, limits: LabelLimits, labels: str = "the labels") -> str:
    """Return which configured rates of wrong labels are higher than labels allow; "" for none.

    Args:
        configured: the rates; of a range its lowest counts.
        limits: what the labels allow.
        labels: which ones.

    Returns:
        A sentence without its full stop.

    >>> too_high_text(ErrorRates(0.05, 0.02), LabelLimits(0.0197, 0.3))
    'label_errors.false_positive is 5 %, and the labels allow 1.97 % at most'
    >>> too_high_text(ErrorRates(0.01, 0.02), LabelLimits(0.0197, 0.3))
    ''
    """
    allowed = zip(configured.rates, limits, strict=False)
    lowest = {
        name: (getattr(configured, name) - getattr(configured, f"{name}_below"), limit)
        for name, limit in allowed
    }
    found = [
        f"label_errors.{name} is {_percent(low)}{' or more' if name in configured.ranges else ''}, "
        f"and {labels} allow {_percent(limit)} at most"
        for name, (low, limit) in lowest.items()
        if low > limit
    ]
    return "; ".join(found)


def audits_text(found: AuditFindings) -> str:
    """Return what audits show of wrong labels, and of labels that follow the prediction.

    Args:
        found: what they show.

    Returns:
        A clause; where the rates changed, with what the audits of each stretch found.
    """
    latest, following = _wrong(found.cases), _FOLLOWING[found.follow_predictions]
    following += by_audits_text(found)
    if found.by_value:
        following = f"{following}; {_values_text(found.by_value)}"
    if not found.earlier:
        return f"audits found {latest} wrong; {following}"
    days = [_day(day * DAY_MS) for day, _ in found.earlier]
    cases = [_wrong(one.cases) for _, one in found.earlier]
    before = ", ".join(f"{one} before {day}" for one, day in zip(cases, days, strict=True))
    return (
        f"audits show that the rates of wrong labels changed: they found {before}, and {latest} "
        f"since, wrong; {following}"
    )


def by_audits_text(found: AuditFindings) -> str:
    """Return what audits alone show of the model, where labels follow the prediction.

    Args:
        found: what they show.

    Returns:
        A clause after a semicolon; "" where no metric is determined, or labels do not follow.
    """
    if not found.follow_predictions or not (shown := metrics_by_audits(found.cases)):
        return ""
    values = ", ".join(
        f"{name.replace('_', ' ')} is {one.estimate:.3g} ({one.lower:.3g} to {one.upper:.3g})"
        for name, one in shown.items()
    )
    return f"; by the audits alone, without other labels taken as right, {values}"


def audits_note(found: AuditFindings, regime: LabelRegime) -> str:
    """Return `audits_text`, and that metrics are not corrected for it, or at other rates.

    Args:
        found: what audits show.
        regime: how often labels are taken to be wrong.
    """
    text = audits_text(found)
    if contradicted(found, regime):
        of_negatives, of_positives = _percentages(found.rates)
        return (
            f"{text}; they contradict label_errors: they show {of_negatives} of actual negatives "
            f"and {of_positives} of actual positives with a wrong label, which label_errors: audit "
            "takes"
        )
    if not (found.rates.known and uncorrected(found, regime)):
        return text
    return f"{text}; metrics are not corrected for it: label_errors: audit does so"


def lost_audits_text(found: LostAudits) -> str:
    """Return how many audits have no effect, why, and which horizon to set, as a clause.

    Args:
        found: one at least.

    >>> lost_audits_text(LostAudits(350, 14 * DAY_MS, 41 * DAY_MS))
    'audits without effect: 350, since no prediction with their id was there; predictions are \
forgotten 14d after they are made (`horizon`), and with `horizon: 41d` none would be so far'
    >>> lost_audits_text(LostAudits(1))
    'audits without effect: 1, since no prediction with their id was there'
    """
    text = f"audits without effect: {found.number:,}, since no prediction with their id was there"
    if found.horizon_ms is None or found.needed_ms is None:
        return text
    return (
        f"{text}; predictions are forgotten {format_duration(found.horizon_ms)} after they are "
        f"made (`horizon`), and with `horizon: {format_duration(found.needed_ms)}` none would be "
        "so far"
    )


def _values_text(values: Sequence[AuditedValue]) -> str:
    """Return between which segment values the rates differ, those wrong most often first."""
    parts = []
    for key in dict.fromkeys(one.segment for one in values):
        of_key = [one for one in values if one.segment == key]
        of_key.sort(key=lambda one: -sum(one.rates.rates.values()))
        shown = [f"{one.value} {' and '.join(_percentages(one.rates))}" for one in of_key[:_SHOWN]]
        if (left := len(of_key) - _SHOWN) > 0:
            shown.append(count_of(left, "other value"))
        parts.append(f"{key}: {', '.join(shown)}")
    return (
        "the shares of actual negatives and of actual positives with a wrong label differ between "
        f"segment values ({'; '.join(parts)})"
    )


def _wrong(cases: AuditedLabels) -> str:
    zero, one = cases.by_label
    wrong = int(cases.audited[:, 0, 1].sum()), int(cases.audited[:, 1, 0].sum())
    return f"{wrong[0]:,} of {zero:,} labels 0 and {wrong[1]:,} of {one:,} labels 1"


def _percentages(errors: ErrorRates) -> tuple[str, str]:
    """Return the rates, or their ranges, in percent: of actual negatives, and of positives."""
    ranges = errors.ranges
    first, second = (
        " to ".join(f"{100 * end:.3g}" for end in ranges.get(name, (getattr(errors, name),)))
        for name in ("false_positive", "false_negative")
    )
    return f"{first} %", f"{second} %"


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g} %"


def _day(moment: int) -> str:
    return format_time(moment)[:10]


_LABELLED: Mapping[str, tuple[str, int]] = {
    "false_positive": ("actual negatives", 1),
    "false_negative": ("actual positives", 0),
}
"""The cases that each rate is of, and their wrong label."""

_FOLLOWING: Mapping[bool | None, str] = {
    True: "flagged cases have wrong labels at other rates than the others, as where a label "
    "follows the prediction: precision or recall is off, and label_errors, which takes the rates "
    "to be the same, does not correct it",
    False: "flagged and other cases may have wrong labels at the same rates, so that labels do not "
    "seem to follow the prediction",
    None: f"whether labels follow the prediction takes {FEWEST_AUDITS} audits of flagged cases "
    "and of others",
}
"""The end of `audits_text`, by what the audits show."""
