"""Failures of forwarding: counted, said once each, and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus

import numpy as np

from monitor.config.quantities import count_of
from monitor.events.renumbering import State
from monitor.feeds.acknowledgement import Acknowledgement
from monitor.feeds.http.feed_settings import STATE_HEADER
from monitor.labels.forwarding import Forwarding
from monitor.prometheus.forward_series import (
    FORWARD_FAILURES,
    FORWARD_LAST_SUCCESS,
    FORWARD_REJECTED,
    FailureReason,
)
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription
from monitor.report.printable import one_line
from monitor.service.forward_requests import ReceiverAnswer
from monitor.state.state_errors import StateError

_BUSY = (408, 429, 500, 502, 503, 504)
_DETAIL_BYTES = 500
_MOST_SAID = 8
"""Different failures that are said until a batch is taken, each once."""

NOT_RESTORED = (
    "the journal was not replayed before this stop, so that what the receiver lacks is not known; "
    "it is sent after the next start"
)
BEGUN_ANEW = (
    "the receiver has begun anew, or is another one; all predictions within the horizon are sent "
    "to it"
)
ITSELF = "the address is that of this monitor; forward to another one"
NAMELESS = (
    "its answer 412 names no state: it is of an earlier version, which is upgraded first, or "
    f"something in between drops the header {STATE_HEADER}"
)
OTHER_TOOK = (
    "another state than the one that was asked for took counts, and lacks those before them: "
    f"something in between drops the header {STATE_HEADER}; mend that, and start the receiver with "
    "a new state directory"
)
COPIED = (
    "another process began to send with the identity of this state, whose directory was copied: "
    "batches of both have the same numbers, of which the receiver counts one; stop one of them, "
    "and start it with a new state directory; then start the receiver with a new one, too, since "
    "it lacks counts"
)
SERVED_BEFORE = (
    "the receiver has earlier counts of this monitor, and another receiver has later ones: sent "
    "again, they would count twice; forward to the other one, or start this receiver with a new "
    "state directory"
)


_PUT_BACK = (
    "put it back; stop the monitor, which sends them, and take it out once the last line of its "
    "log on forwarding says that the receiver has all counts"
)


def unsent_text(changes: int) -> str:
    """Return why a configuration is refused under which changes of counts would be lost.

    Args:
        changes: that the receiver does not have.
    """
    return (
        f"forward: the receiver does not have {count_of(changes, 'change')} of counts, and "
        "this configuration leaves models out or starts them anew (see segments, window "
        "clock and labelling): go on with the configuration from before; stop the monitor, which "
        "sends them, and change it once the last line of its log on forwarding says that the "
        "receiver has all counts"
    )


def check_taken_out(forwarding: Forwarding, state: State | None) -> None:
    """Refuse a configuration without `forward` while the receiver lacks changes of counts.

    Args:
        forwarding: of the engine, restored.
        state: of the forwarding, of the checkpoint; None without one.

    Raises:
        StateError: there are such changes.
    """
    if not forwarding.is_on:
        return
    sealed = None if state is None else state["batch"]
    unsent = forwarding.waiting + forwarding.dropped
    if sealed is not None:
        unsent += int(np.abs(sealed["cells"]).sum())
    if unsent:
        raise StateError(
            f"forward: was taken out of the configuration, and the receiver does not have "
            f"{count_of(unsent, 'change')} of counts: {_PUT_BACK}; where the receiver is gone for "
            "good, forward to another one, which gets all predictions within the horizon, or end "
            "forwarding with precision-monitor state stop-forwarding DIR"
        )


class ForwardFaults:
    """Counts what fails or is rejected, and says each failure once until counts are taken.

    Args:
        every: seconds between two attempts.
        say: prints a one-line message for the operator.

    Attributes:
        succeeded: wall time when a batch was taken last; None before.
    """

    def __init__(self, every: float, say: Callable[[str], None]) -> None:
        self.succeeded: float | None = None
        self._every = every
        self._say = say
        self._failing: set[str] = set()
        self._rejecting = False
        self._failures: Counter[str] = Counter({reason.value: 0 for reason in FailureReason})
        self._rejected = 0

    def failed(self, reason: FailureReason, text: str) -> float:
        """Note that counts were not taken; return after how many seconds to send them again.

        Args:
            reason: kind of the failure.
            text: what happened, for the operator.
        """
        self._failures[reason] += 1
        if text not in self._failing and len(self._failing) < _MOST_SAID:
            self._failing.add(text)
            self._say(f"{text}; counts wait, retrying every {self._every:g} s")
        return self._every

    def refused(self, answer: ReceiverAnswer, *, is_own: bool) -> float:
        """Note an answer by which counts were not taken; return as `failed` does.

        Args:
            answer: of the receiver. If it is of another state, that one is not sent any counts.
            is_own: it is an answer of this monitor.
        """
        if is_own:
            return self.failed(FailureReason.REFUSED, ITSELF)
        if answer.status == HTTPStatus.CONFLICT:
            return self.failed(FailureReason.REFUSED, COPIED)
        if answer.status == HTTPStatus.PRECONDITION_FAILED:
            return self.failed(FailureReason.REFUSED, SERVED_BEFORE if answer.state else NAMELESS)
        reason = FailureReason.BUSY if answer.status in _BUSY else FailureReason.REFUSED
        wait = self.failed(reason, one_line(_answered(answer)))
        return min(answer.retry_after, wait) or wait

    def begun_anew(self) -> float:
        """Note that the receiver has another state; return as `failed` does."""
        self._say(BEGUN_ANEW)
        self._failures[FailureReason.ANOTHER_STATE] += 1
        return self._every

    def taken(self, at: float) -> None:
        """Note that a batch was taken.

        Args:
            at: wall time.
        """
        self.succeeded = at
        if self._failing:
            self._say("counts are taken again")
        self._failing.clear()

    def rest(self, unsent: int | None) -> str:
        """Return what to say at a stop.

        Args:
            unsent: changes that the receiver does not have; None where it has said that it has all.
        """
        if unsent is None:
            rejected = count_of(self._rejected, "record")
            lost = f", but those of {rejected} that it rejected" if self._rejected else ""
            return f"the receiver has all counts{lost}"
        if not unsent:
            return "whether the receiver has all counts is not known: it has not confirmed it"
        have = "is" if unsent == 1 else "are"
        left = f"{count_of(unsent, 'change')} of counts {have} not taken"
        return f"{left}, and sent after the next start"

    def note_rejected(self, batch: int, taken: Acknowledgement) -> None:
        """Note which records of a batch the receiver rejected.

        Args:
            batch: its number.
            taken: answer of the receiver.
        """
        rejected = sum(taken.rejected.values())
        self._rejected += rejected
        if rejected and not self._rejecting:
            such_as = f", such as: {taken.faults[0].detail}" if taken.faults else ""
            records = count_of(rejected, "record")
            self._say(f"the receiver rejected {records} of batch {batch}{such_as}")
        self._rejecting = bool(rejected)

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of what was taken, failed and was rejected, and how each is read."""
        return {
            FORWARD_LAST_SUCCESS: lambda: {} if self.succeeded is None else {(): self.succeeded},
            FORWARD_FAILURES: lambda: {(why,): float(n) for why, n in self._failures.items()},
            FORWARD_REJECTED: lambda: {(): float(self._rejected)},
        }


def _answered(answer: ReceiverAnswer) -> str:
    """Return the status of an answer, and what its body says."""
    body = answer.body[:_DETAIL_BYTES].decode(errors="replace").strip()
    said = "with a page of HTML" if body.startswith("<") else body
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST
    note = " (redirects are not followed)" if is_redirect else ""
    return f"answered {answer.status}{note} {said}".rstrip()
