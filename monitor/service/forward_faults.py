"""What a shard says where it may not send its counts, and why a configuration is refused."""

from __future__ import annotations

from monitor.config.quantities import count_of
from monitor.feeds.http.app import STATE_HEADER
from monitor.prometheus.forward_series import FORWARD_UNSENT

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
SERVED_BEFORE = (
    "the receiver has earlier counts of this monitor, and another receiver has later ones: sent "
    "again, they would count twice; forward to the other one, or start this receiver with a new "
    "state directory"
)


def unsent_text(changes: int) -> str:
    """Return why a configuration is refused under which changes of counts would be lost.

    Args:
        changes: that the receiver does not have.
    """
    return (
        f"forward: the receiver does not have {count_of(changes, 'change')} of counts, and "
        "this configuration leaves models out or starts them anew (see segments, window "
        "clock and labelling): go on with the configuration from before until "
        f"{FORWARD_UNSENT.name} is 0 with all feeds ended, and change it then"
    )
