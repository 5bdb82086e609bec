"""A stretch of a running monitor by which something changed, though another window decides."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.config.quantities import parse_duration
from monitor.diagnosis.result import MovedLately
from monitor.drift.beyond_reference import BeyondReference
from monitor.drift.verdict import IMPROVED, MOVED_RATES, Verdict
from monitor.metrics.rates import false_positive_rate, recall
from monitor.report.deciding_window import (
    compared_with,
    deciding_since_reference,
    moved_window,
    since_reference,
    verdict_on,
    worse_window,
)
from monitor.report.durations import duration_text
from monitor.report.rate_changes import RatePairs, positives_moved
from monitor.report.two_answers import THRESHOLD_OR_SCORES, how_rates_moved
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import ReferenceOutcomes

_NAN = float("nan")
_RATES = {"recall": recall, "false_positive_rate": false_positive_rate}


def moved_lately(snapshot: Snapshot, model: ModelState, deciding: str) -> MovedLately | None:
    """Return the stretch of a model by which something changed, though another window decides.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.

    Returns:
        The window of `worse_window`, else what lies beyond the reference where its rates changed
        and that is no better model, else that of `moved_window` where the deciding one has no
        verdict; None for none of them.
    """
    decides = verdict_on(model, deciding)
    worse = _over(snapshot, model, worse_window(model, decides), deciding)
    found = worse or _since_reference(model, deciding)
    if found is not None or decides.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return found
    return _over(snapshot, model, moved_window(model), deciding)


def _over(snapshot: Snapshot, model: ModelState, name: str, deciding: str) -> MovedLately | None:
    """Return a window that does not decide; None where it does, or is not compared."""
    judgement = verdict_on(model, name).judgement if name else None
    if judgement is None or name == deciding:
        return None
    window = next(one for one in snapshot.windows if one.name == name)
    return MovedLately(
        window=name,
        length_ms=parse_duration(name),
        rates=live_rates(model, window),
        judgement=judgement,
        deciding=_compared(model, deciding),
    )


def _compared(model: ModelState, window: str) -> str:
    """Return the name of a window that is compared with the reference; "" of any other."""
    return window if verdict_on(model, window).judgement is not None else ""


def _since_reference(model: ModelState, deciding: str) -> MovedLately | None:
    """Return what lies beyond the reference, where its rates changed and it is no better model."""
    since, reference = since_reference(model), model.watched.reference
    if since is None or reference is None or since.judgement is None:
        return None
    if since.verdict not in MOVED_RATES - IMPROVED:
        return None
    answers = deciding_since_reference(model, deciding) is not None
    return MovedLately(
        window="",
        length_ms=since.length_ms,
        rates=rates_since(model, since),
        judgement=since.judgement,
        deciding="" if answers else _compared(model, deciding),
    )


def worse_words(found: MovedLately | None, *, pages: bool = False) -> str:
    """Return how the rates moved over a stretch that looks worse, a phrase; "" for any other.

    Args:
        found: the stretch; None for none.
        pages: the model pages: then it does not matter that the deciding window is not certain.
    """
    return "" if found is None or not found.is_worse else lately_words(found, pages=pages)


def lately_words(found: MovedLately, *, pages: bool = False) -> str:
    """Return what changed over a stretch, a phrase.

    Args:
        found: the stretch.
        pages: the model pages: then it does not matter that the deciding window is not certain.
    """
    over = f"over the last {found.window}" if found.window else since_words(found.length_ms)
    moved = f"{over} {_how(found)}"
    if pages:
        return moved
    if found.deciding:
        moved = f"{moved}, over the last {found.deciding} not certainly"
    open_ = found.judgement.verdict is Verdict.OPERATING_POINT_MOVED
    return f"{moved}; {THRESHOLD_OR_SCORES}" if open_ else moved


def _how(found: MovedLately) -> str:
    if found.judgement.verdict in MOVED_RATES:
        return how_rates_moved(found.rates, found.judgement)
    return positives_moved(found.judgement.change["class_ratio"])


def since_words(length_ms: int) -> str:
    """Return in words the stretch from the end of the reference on.

    Args:
        length_ms: its length, milliseconds.

    >>> since_words(3 * 86_400_000)
    'in the 3 days since the reference'
    """
    return f"in the {duration_text(length_ms / 1000)} since the reference"


def rates_since(model: ModelState, since: BeyondReference) -> RatePairs:
    """Return recall and the false positive rate, in the reference of a model and since then.

    Args:
        model: one of the models of a snapshot.
        since: what lies beyond the reference.
    """
    return _beside(model.watched.reference, since.rates)


def live_rates(model: ModelState, window: Window) -> RatePairs:
    """Return recall and the false positive rate, in what a window is compared with and in it.

    Args:
        model: one of the models of a snapshot.
        window: of the same snapshot.
    """
    now = (float(window.metrics[name].estimate[model.row]) for name in _RATES)
    return _beside(compared_with(model, window.name), now)


def _beside(reference: ReferenceOutcomes | None, now: Iterable[float]) -> RatePairs:
    """Return recall and the false positive rate in the reference, NaN without one, and now."""
    usual = [
        _NAN if reference is None else float(rate(reference.counts)) for rate in _RATES.values()
    ]
    return dict(zip(_RATES, zip(usual, now, strict=True), strict=True))
