"""The window whose verdict counts as the model's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from monitor.clock import DAY_MS
from monitor.config.quantities import parse_duration
from monitor.diagnosis.comparison import Answering
from monitor.diagnosis.present_state import LATEST
from monitor.drift import Verdict
from monitor.drift.beyond_reference import BeyondReference
from monitor.drift.detectors import is_too_small
from monitor.drift.no_skill import separates_nothing
from monitor.drift.rates_changed import moved_by_prevalence
from monitor.drift.recall_evidence import FEWEST_OUTCOMES, Because
from monitor.drift.verdict import DEGRADED, MOVED_RATES
from monitor.labels.faults import LabelFault
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import NOT_COMPARED, ReferenceOutcomes, WindowVerdict

_WEEK_MS = 7 * DAY_MS
_SHIFT = frozenset({Verdict.PREVALENCE_SHIFT})
_JUDGED = frozenset(Verdict) - {Verdict.INSUFFICIENT_EVIDENCE}


def verdict_on(model: ModelState, window: str) -> WindowVerdict:
    """Return the verdict on one window of a model.

    Args:
        model: the model.
        window: name of the window.

    Returns:
        Its verdict; `insufficient_evidence` where the window is not judged yet.
    """
    return model.watched.verdicts.get(window, NOT_COMPARED)


def deciding_window(model: ModelState, windows: Sequence[str]) -> str:
    """Return the name of the window whose verdict is the model's own.

    That is the longest window that is compared. A shorter one of a day or more decides while
    that one is open, where precision moved by the class ratio of 50 outcomes or more and the
    detector of that agrees: a day alone may be a weekend, and its verdict comes and goes.
    Where no window is compared, or none is longer, every verdict but `insufficient_evidence`
    decides. Windows below a day decide only where there are no others: an hour is no model's
    headline while the longer windows still reach back into the reference.

    While the model pages, windows that are judged degraded come first: a longer window that
    is partly from before the fault may look like a slide of the threshold.

    A longer window holds more from before a change than a shorter one, and shows less of it.
    Of the windows of a week or more that have the same verdict on a change, the shortest is
    therefore named. Days of the week do not differ in them, and no verdict rests on a window
    alone that the longer ones do not confirm.

    A label fault that lasts takes precedence, whichever window of a day or more shows it. A longer
    window that still holds a past fault is passed over once a shorter one is certain that labels
    come as in the reference. Label errors that changed, as scores or audits show, are the result of
    a comparison, and decide as other changes do.

    Args:
        model: with its verdicts.
        windows: names of all windows, at least one that the model uses.
    """
    used = (name for name in windows if name not in model.unused_windows)
    by_length = sorted(used, key=parse_duration)
    for name in by_length:
        found = verdict_on(model, name)
        if _is_blind(found) and _is_long(name, by_length):
            return name
        if found.labels_in_order:
            break
    trusted = [n for n in by_length if not _is_blind(verdict_on(model, n))] or by_length
    if model.watched.degradation_detected:
        worse = [n for n in trusted if _decides(model, n, by_length, DEGRADED)]
        if worse:
            return _most_recent(model, worse[-1], by_length)
    compared = [n for n in trusted if _is_compared(model, n) and _is_long(n, by_length)]
    shorter = trusted[: trusted.index(compared[-1])] if compared else []
    judged = [n for n in trusted if n not in shorter and _decides(model, n, by_length, _JUDGED)]
    if judged and verdict_on(model, judged[-1]).verdict is not Verdict.NO_CHANGE:
        return _most_recent(model, judged[-1], by_length)
    open_ = [*shorter, *compared[-1:]]
    shifted = [n for n in open_ if _has_shifted(model, n) and _is_enough(model, n, by_length)]
    if shifted and not judged:
        return next((n for n in shifted if parse_duration(n) >= _WEEK_MS), shifted[-1])
    return (judged or compared or trusted)[-1]


def _is_blind(found: WindowVerdict) -> bool:
    """Return whether a label fault leaves nothing to compare."""
    return bool(found.label_fault) and found.judgement is None


def _is_compared(model: ModelState, window: str) -> bool:
    """Return whether a window, or one of its classes, is compared with the reference."""
    classes = model.watched.classes
    if classes is None:
        return verdict_on(model, window).judgement is not None
    return any(one.verdicts[window].judgement is not None for one in classes.by_class.values())


def _most_recent(model: ModelState, longest: str, by_length: Sequence[str]) -> str:
    """Return the shortest window of a week or more with the verdict of the longest one."""
    same = frozenset({verdict_on(model, longest).verdict})
    weeks = (name for name in by_length if parse_duration(name) >= _WEEK_MS)
    return next((name for name in weeks if _decides(model, name, by_length, same)), longest)


def _decides(
    model: ModelState, window: str, by_length: Sequence[str], verdicts: frozenset[Verdict]
) -> bool:
    """Return whether a window has one of some verdicts, and rests on enough to decide."""
    return verdict_on(model, window).verdict in verdicts and _is_enough(model, window, by_length)


def _is_enough(model: ModelState, window: str, by_length: Sequence[str]) -> bool:
    """Return whether a window is long enough to decide, and rests on enough outcomes."""
    return verdict_on(model, window).rests_on >= FEWEST_OUTCOMES and _is_long(window, by_length)


def _has_shifted(model: ModelState, window: str) -> bool:
    """Return whether precision moved by the class ratio in a window, and the detector agrees."""
    found, detected = verdict_on(model, window), model.watched.prevalence_shift_detected
    by_ratio = moved_by_prevalence(found.verdict, found.judgement, found.attribution)
    return detected is not False and (found.verdict in _SHIFT or by_ratio is True)


def _is_long(window: str, by_length: Sequence[str]) -> bool:
    """Return whether a window is a day or longer, or all of them are shorter."""
    return parse_duration(window) >= DAY_MS or parse_duration(by_length[-1]) < DAY_MS


def worse_window(model: ModelState, decides: WindowVerdict) -> str:
    """Return the longest window of a day or more that looks worse; "" where none does.

    It is judged degraded. Where none is, and the deciding window has no verdict, it is one whose
    operating point moved: at another point of the ROC curve, or below the curve. While the model
    does not page, such a window alone is no verdict on it, and of few outcomes it colours nothing;
    but then nobody may say either that nothing points to a worse model.

    Args:
        model: with its verdicts.
        decides: the verdict on its deciding window.
    """
    degraded = _longest_that_says(model, DEGRADED)
    if degraded or decides.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return degraded
    return _longest_that_says(model, frozenset({Verdict.OPERATING_POINT_MOVED}))


def moved_window(model: ModelState) -> str:
    """Return the longest window of a day or more by which rates changed, or the class ratio.

    Rates come first. A class ratio that changed counts where the detector of it agrees.

    Args:
        model: with its verdicts.

    Returns:
        "" where there is none.
    """
    shifted = partial(_has_shifted, model)
    return _longest_that_says(model, MOVED_RATES) or _longest_where(model, shifted)


def _longest_that_says(model: ModelState, verdicts: frozenset[Verdict]) -> str:
    return _longest_where(model, lambda name: verdict_on(model, name).verdict in verdicts)


def _longest_where(model: ModelState, holds: Callable[[str], bool]) -> str:
    used = (name for name in model.watched.verdicts if name not in model.unused_windows)
    by_length = sorted(used, key=parse_duration)
    found = (name for name in reversed(by_length) if _is_long(name, by_length) and holds(name))
    return next(found, "")


def since_reference(model: ModelState) -> BeyondReference | None:
    """Return what the windows that reach back into the reference hold beyond it.

    That is the same for all of them, and counts from a day on, as windows do.

    Args:
        model: with its verdicts.

    Returns:
        None where no window reaches back into the reference, or less than a day lies beyond.
    """
    found = (one.beyond for one in model.watched.verdicts.values())
    return next((one for one in found if one is not None and one.days >= 1), None)


def deciding_since_reference(model: ModelState, deciding: str) -> BeyondReference | None:
    """Return the outcomes since the reference, where they are what answers for a model.

    They do while longer windows than the deciding one reach back into the reference, and that one
    has no verdict and shows no certain change: a day alone says less than all days since then.

    Args:
        model: with its verdicts.
        deciding: name of its deciding window.

    Returns:
        None where the deciding window answers, the model pages, it has more than two classes, or
        it did not tell the classes apart in the reference, or that is too small.
    """
    since, found = since_reference(model), verdict_on(model, deciding)
    reference = model.watched.reference
    if reference is None or is_too_small(reference.counts):
        return None
    if separates_nothing(reference.counts):
        return None
    if since is None or since.judgement is None or model.watched.classes is not None:
        return None
    if found.verdict is not Verdict.INSUFFICIENT_EVIDENCE or found.label_fault:
        return None
    if found.because is Because.MOVED:
        return None
    shorter = found.judgement is not None and since.length_ms <= parse_duration(deciding)
    return None if shorter or model.watched.degradation_detected else since


def label_fault_of(model: ModelState, deciding: str, source: str) -> LabelFault | None:
    """Return the fault of the labels that are judged, as a model's deciding window shows it.

    Args:
        model: with its verdicts.
        deciding: name of its deciding window.
        source: of the period that is judged, see `monitor.diagnosis.Period`.

    Returns:
        None without a fault, and for a period that a person named: the deciding window need not
        be in it. None as well for label errors that changed, which only a comparison shows.
    """
    found = verdict_on(model, deciding)
    fault = LabelFault(found.label_fault) if found.label_fault and source == LATEST else None
    return None if fault is LabelFault.LABEL_ERRORS_CHANGED else fault


def compared_with(model: ModelState, window: str) -> ReferenceOutcomes | None:
    """Return what a window of a model is compared with: the reference, or the model's level.

    Args:
        model: with its verdicts.
        window: its name.

    Returns:
        None without a reference.
    """
    return verdict_on(model, window).level or model.watched.reference


def answering(model: ModelState, deciding: str) -> Answering:
    """Return the stretch whose outcomes answer for a model, and what they are compared with.

    Args:
        model: with its verdicts.
        deciding: name of its deciding window.
    """
    since = deciding_since_reference(model, deciding)
    length_ms = parse_duration(deciding) if since is None else since.length_ms
    return Answering(length_ms, verdict_on(model, deciding).level)


def window_opens(snapshot: Snapshot, model: ModelState, window: str) -> int:
    """Return the first moment of a window of a model, epoch milliseconds.

    Args:
        snapshot: the state.
        model: one of its models.
        window: its name.
    """
    return next(int(one.open[model.row]) for one in snapshot.windows if one.name == window)
