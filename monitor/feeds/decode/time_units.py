"""Units of times that are numbers, known by the years that these then lie in."""

from __future__ import annotations

from monitor.config.mapping import TimeUnit
from monitor.events.columns import LATEST_MS

NAMES = {
    TimeUnit.MILLISECONDS: "milliseconds",
    TimeUnit.MICROSECONDS: "microseconds",
    TimeUnit.NANOSECONDS: "nanoseconds",
}
"""Names of the units that are shorter than a second."""
_YEAR_1990, _YEAR_2100 = 631_152_000, 4_102_444_800


def unit_that_fits(number: float) -> TimeUnit | None:
    """Return the unit in which a number that is too late in seconds lies in 1990 to 2100.

    Args:
        number: of some unit since 1970.

    Returns:
        The unit; None where no unit fits, or the number may be in seconds.

    >>> unit_that_fits(1_780_000_000_000_000).value
    'us'
    """
    if number < LATEST_MS / 1000:
        return None
    fits = (unit for unit in NAMES if _YEAR_1990 <= number / unit.per_second < _YEAR_2100)
    return next(fits, None)


def unit_to_give(number: float, given: TimeUnit) -> TimeUnit | None:
    """Return the unit in which times are, where they were read in another one.

    Args:
        number: a time, in seconds as the unit that was given has it.
        given: that unit.

    Returns:
        The unit; None where no unit fits.

    >>> unit_to_give(1_780_000_000_000, TimeUnit.MILLISECONDS).value
    'us'
    """
    units, fits = list(TimeUnit), unit_that_fits(number)
    place = units.index(given) + (units.index(fits) if fits else len(units))
    return units[place] if place < len(units) else None
