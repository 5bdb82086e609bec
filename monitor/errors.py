"""Everything that can go wrong and that a person can act on.

    MonitorError
    ├── ConfigError       the configuration has faults, all of them listed   (exit 2)
    ├── UsageError        a command was called with words that do not fit    (exit 2)
    └── FeedError         a feed cannot be read at all                       (exit 3)

A bad *record* is none of these: it is counted under a `RejectReason` and the
stream goes on.
"""


class MonitorError(Exception):
    """Any error that this program raises on purpose; its text is for a person."""


class ConfigError(MonitorError):
    """The configuration has faults.

    Attributes:
        faults: one line a fault, each `FILE:LINE: PATH: what is wrong, got VALUE; what is allowed`.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class UsageError(MonitorError):
    """A command was called with arguments that do not fit together."""


class FeedError(MonitorError):
    """A feed cannot be read: missing, a directory, not what its name says, torn."""
