"""Whether recall, the false-positive rate or skill certainly changed, whatever the cause."""

from __future__ import annotations

from monitor.drift.verdict import MOVED_RATES, Judgement, Status, Verdict

_COMPONENTS = ("recall", "false_positive_rate", "log_likelihood_ratio")


def rates_changed(verdict: Verdict, judgement: Judgement | None) -> bool:
    """Return whether recall, the false-positive rate or skill certainly changed.

    Also where the verdict is `insufficient_evidence`, because it is open whether a worse model,
    another threshold or other labels are the cause.

    Args:
        verdict: what happened.
        judgement: what the verdict rests on; None where nothing could be judged.
    """
    if verdict in MOVED_RATES or judgement is None:
        return verdict in MOVED_RATES
    if verdict is Verdict.INSUFFICIENT_EVIDENCE:
        return any(judgement.status[name] is Status.CHANGED for name in _COMPONENTS)
    return judgement.operating_point_moved
