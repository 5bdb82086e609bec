"""Which versions a reference is of, and what a model without one still lacks."""

from __future__ import annotations

from typing import NamedTuple

HELD_BACK = (
    "longer first days are known, and are not taken as the reference while the model looks worse "
    "than in the present one: its fault would become the normal state. If nothing is wrong, name a "
    "normal stretch (`reference: {window: {length, end}}`)"
)
"""Why a reference still stands in for longer first days that are known, a clause."""


class ReferenceVersions(NamedTuple):
    """The versions that predicted in a reference.

    Attributes:
        began: each with the time of its first prediction, epoch milliseconds, None where that is
            not known; in the order in which they began. One that paused then is among them.
        restarted_with: the version that the reference began anew with; "" where none did.
    """

    began: tuple[tuple[str, int | None], ...]
    restarted_with: str = ""


class ReferenceRestart(NamedTuple):
    """From when on a reference begins anew, and with which version.

    Attributes:
        at: first prediction of the version, or the end of one that was rolled back, epoch
            milliseconds.
        version: that decides from then on.
    """

    at: int
    version: str


class AwaitedOutcomes(NamedTuple):
    """Outcomes of a kind that a reference needs.

    Attributes:
        kind: their name, in the plural.
        have: as many there are so far.
        needed: as many it needs.
    """

    kind: str
    have: int
    needed: int


class AwaitedReference(NamedTuple):
    """Evidence that a model's reference still lacks.

    Attributes:
        about_ms: when it will be complete if outcomes come as they have so far, epoch
            milliseconds of event time.
        positives: actual positives so far; None where their number does not matter.
        counted: the outcomes that it needs, of each kind; empty likewise. Where one of two sets is
            enough, those of the set that is complete first at the present rate.
        restarted_with: the version that it begins anew with; "" where none did.
        first_ms: length of the first days that the reference in use stands in for; 0 without one.
        whole_ms: length of the first days that become the reference whatever they hold, where the
            numbers needed do not come sooner at the present rate; 0 where they do.
    """

    about_ms: int
    positives: int | None = None
    counted: tuple[AwaitedOutcomes, ...] = ()
    restarted_with: str = ""
    first_ms: int = 0
    whole_ms: int = 0
