"""Errors that the program raises for a person to act on.

    MonitorError
    ├── ConfigError       the configuration is invalid                       (exit code 2)
    ├── UsageError        the arguments of a command do not fit together     (exit code 2)
    │   └── NotComparedError    the data have nothing to compare yet         (2, or the verdict's)
    └── FeedError         a feed cannot be read at all                       (exit code 3)
        └── ColumnError         a table lacks a column that it needs         (exit code 3)

An unusable *record* raises none of these: it is counted under a `RejectReason`,
and the stream continues.
"""


class MonitorError(Exception):
    """Base class of all errors that this program raises on purpose; its text is for a person."""


class ConfigError(MonitorError):
    """The configuration is invalid.

    Args:
        faults: one line for each fault.

    Attributes:
        faults: one line for each fault: `FILE:LINE: PATH: what is wrong, got VALUE; what is
            allowed`.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class UsageError(MonitorError):
    """The arguments of a command do not fit together."""


class NotComparedError(UsageError):
    """Two versions were not alive at the same time, or their labels do not suffice yet.

    A comparison then has the verdict `not_shown`.
    """


class FeedError(MonitorError):
    """A feed cannot be read: it is missing, a directory, truncated or of another format."""


class ColumnError(FeedError):
    """A table has no column for the time, or lacks one that its mapping names."""
