"""Which versions a reference is of, what it lacks, and why longer days are held back."""

from __future__ import annotations

from typing import NamedTuple

from monitor.config.quantities import format_time

_STRETCH = "name a normal stretch (`reference: {window: {length, end}}`)"


class HeldBack(NamedTuple):
    """Longer first days in which a model looks worse than in the days that stand in for them.

    Attributes:
        since: the days that stand in end, and the model looks worse, epoch milliseconds.
        until: about when the longer days become the reference whatever they show, epoch
            milliseconds; None while the model pages, and where they have.
        over: they have become the reference although the model still looked worse.
    """

    since: int
    until: int | None = None
    over: bool = False

    @property
    def text(self) -> str:
        """What that means, a clause."""
        if self.over:
            return (
                f"the reference holds days from {format_time(self.since)} on in which the model "
                "looks worse than before them, not certainly: longer first days are held back for "
                "that for four weeks at most. If it was a fault, it has become the normal state; "
                f"{_STRETCH}"
            )
        latest = "" if self.until is None else f", until about {format_time(self.until)} at most"
        return (
            "longer first days are known, and are not taken as the reference while the model "
            f"looks worse than in the present one{latest}: its fault would become the normal "
            f"state. If nothing is wrong, {_STRETCH}"
        )

    @property
    def sentence(self) -> str:
        """The same, a sentence."""
        return f"{self.text[0].upper()}{self.text[1:]}."


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
