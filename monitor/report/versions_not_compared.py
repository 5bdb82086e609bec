"""Two versions that are not compared: the object and the text."""

from __future__ import annotations

from msgspec import Struct

from monitor.drift.version_verdict import VersionVerdict


class VersionsNotCompared(Struct, frozen=True, kw_only=True):
    """Two versions that cannot be compared over the same time, or not yet.

    Attributes:
        model: its name.
        headline: why, in one sentence.
        verdict: `not_shown`.
    """

    model: str
    headline: str
    verdict: VersionVerdict = VersionVerdict.NOT_SHOWN


def not_compared_text(why: str) -> str:
    """Return that nothing is compared.

    Args:
        why: the reason, without a full stop.
    """
    return f"Nothing is compared: {why}."
