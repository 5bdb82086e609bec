"""Series of the dead-letter file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from monitor.prometheus.process_series import DEAD_LETTERS, NumberByLabels, SeriesDescription
from monitor.state.dead_letter import DeadLetter


def dead_letter_readings(
    dead_letter: DeadLetter,
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of the dead-letter file, and how each is read."""
    return {
        DEAD_LETTERS: lambda: {
            ("written",): dead_letter.written,
            ("dropped",): dead_letter.dropped,
        }
    }
