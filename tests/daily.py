"""Outcomes of versions from tables of days."""

import numpy as np

from monitor.drift.version_outcomes import HOURS_A_DAY, VersionOutcomes


def daily(cells):
    """Outcomes of (versions, days, segments, cells), each day's in its first hour."""
    versions, days, segments, width = cells.shape
    hour = np.repeat(np.arange(days) * HOURS_A_DAY, segments)
    segment = np.tile(np.arange(segments), days)
    return VersionOutcomes(hour, segment, cells.reshape(versions, days * segments, width))
