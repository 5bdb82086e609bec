"""The answer of a feed to events that are on disk, as the feed writes and its senders read it.

A sender that takes any 2xx for this answer loses what it sends to a proxy's login page, or to
another program at the same address.
"""

from __future__ import annotations

import urllib.request

import msgspec


class FeedFault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a record is rejected.

    Attributes:
        line: its number in the body, from 1.
        reason: value of the label `reason`.
        detail: what is wrong, for a person.
    """

    line: int
    reason: str
    detail: str


class Acknowledgement(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a body whose records are on disk.

    Attributes:
        accepted: records that are used.
        rejected: records that are not, by reason.
        faults: the first of these.
    """

    accepted: int
    rejected: dict[str, int]
    faults: list[FeedFault]


NOT_A_FEED = (
    "its answer is not that of a feed of this program, so that nothing counts as taken; see that "
    "the address is that of the feed of a monitor, and that nothing in between answers for it"
)
"""What a sender says of any other answer, a clause."""


def acknowledgement(body: bytes) -> Acknowledgement | None:
    """Return the acknowledgement in the body of an answer with status 200; None for any other.

    Args:
        body: of the answer, as it came.
    """
    try:
        return msgspec.json.decode(body, type=Acknowledgement)
    except msgspec.MsgspecError:
        return None


def direct_opener() -> urllib.request.OpenerDirector:
    """Return what opens URLs and follows no redirect, which would turn a POST into a GET."""
    return urllib.request.build_opener(_NoRedirect)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow none: the redirect is the answer, an `HTTPError`."""
