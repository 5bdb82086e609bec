"""Compares the settings of a shard, by which events become counts, with those of its receiver.

Each answer of a receiver has a digest of its settings. Where it is another one than was compared
last, the settings are asked for, and the operator reads in which they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from monitor.config.counting_settings import CountingSettings, Difference, differences
from monitor.prometheus.forward_series import FORWARD_DIFFERING
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription
from monitor.report.printable import first_names, one_line
from monitor.service.forward_requests import ReceiverAnswer

_NAMED, _ALL = 5, "all models that are not configured by name"
_DIFFER = (
    "CAUTION: settings differ from those of the receiver, so that its windows are not those of "
    "one monitor over all events; make them equal: "
)
_EQUAL = "the settings that count are those of the receiver now"
_NOT_SETTINGS = (msgspec.DecodeError, AttributeError, KeyError, TypeError)


class ReceiverSettings:
    """What differs between a shard and its receiver.

    Args:
        own: settings of the shard.
        say: prints a one-line message for the operator.
    """

    def __init__(self, own: CountingSettings, say: Callable[[str], None]) -> None:
        self._own = own
        self._say = say
        self._compared = ("", "")
        self._differing: int | None = None

    def become(self, own: CountingSettings) -> None:
        """Use other settings of the shard; they are compared after the next answer."""
        self._own = own

    def is_due(self, answer: ReceiverAnswer) -> bool:
        """Return whether the receiver's settings have to be asked for.

        Args:
            answer: of the receiver; that of an earlier version has no digest of them.
        """
        if not answer.settings or (self._own.digest, answer.settings) == self._compared:
            return False
        if answer.settings == self._own.digest:
            self._found(answer, [])
            return False
        return True

    def compare(self, answer: ReceiverAnswer) -> None:
        """Say which settings differ.

        Args:
            answer: of the receiver, which holds its settings.
        """
        try:
            there = msgspec.json.decode(answer.body)["settings"]
            found = differences(self._own.values, there)
        except _NOT_SETTINGS:
            return
        self._found(answer, found)

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of the settings that differ, and how it is read."""
        return {FORWARD_DIFFERING: lambda: {} if self._differing is None else {(): self._differing}}

    def _found(self, answer: ReceiverAnswer, found: Sequence[Difference]) -> None:
        self._compared = self._own.digest, answer.settings
        if found:
            self._say(_DIFFER + "; ".join(map(_text, found)))
        elif self._differing:
            self._say(_EQUAL)
        self._differing = sum(max(1, len(each.models)) for each in found)


def _text(found: Difference) -> str:
    here, there = one_line(found.here), one_line(str(found.there))
    of = first_names([model or _ALL for model in found.models], _NAMED)
    return f"{one_line(found.name)} {here} here, {there} there" + (f" ({of})" if of else "")
