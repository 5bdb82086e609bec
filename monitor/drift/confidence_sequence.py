"""Confidence sequences: intervals that hold at all times at once, however often one looks.

An interval of a fixed sample covers the truth at one moment. Looked at again and again while
outcomes come, it leaves the truth out sooner or later. A confidence sequence ever lies wholly
above it with probability 5 % only, and wholly below it likewise, so that a comparison may be
watched and ended when it is decided. Its price is a wider interval, by about half.

The boundary is Robbins' normal mixture in units of information, 1/se². It is asymptotic: the
estimate is taken to move like Brownian motion, as sums of many cases do.

Source:
    Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021, §3.2; Waudby-Smith, Arbour,
    Sinha, Kennedy and Ramdas 2024 (asymptotic confidence sequences).
"""

from __future__ import annotations

import math

ERROR = 0.05
"""Probability that the sequence ever lies above the truth; and that it ever lies below."""
_TUNED_AT = 30.0  # where it tells a recall of .7 from one of .8
_TUNING = 2 * math.log(1 / (2 * ERROR))
_MIXTURE = _TUNED_AT / (_TUNING + math.log(1 + _TUNING))
_MOST = 1e12


def radius(information: float) -> float:
    """Return half the width of the interval at a moment.

    The width is least, compared with that of a fixed sample, about an information of 30.

    Args:
        information: 1/se² of the estimate so far, at least 0.

    Returns:
        In units of the estimate; infinite without information.

    >>> [round(radius(i) * i**.5, 1) for i in (3, 30, 300)]  # standard errors
    [3.6, 2.8, 3.0]
    """
    if not information > 0:
        return math.inf
    mixed = information + _MIXTURE
    bound = math.log(mixed / _MIXTURE) + _TUNING
    return math.sqrt(mixed * bound) / information


def information_for(half_width: float) -> float:
    """Return the information at which the interval is as narrow as this.

    Args:
        half_width: in units of the estimate.

    Returns:
        1/se²; infinite for a half-width of 0 or less, or too small to ever reach.

    >>> round(radius(information_for(.2)), 6)
    0.2
    """
    if not half_width > radius(_MOST):
        return math.inf
    from scipy.optimize import brentq  # noqa: PLC0415  # slow to import

    found = brentq(
        lambda log: math.log(radius(math.exp(log)) / half_width), math.log(1e-9), math.log(_MOST)
    )
    return math.exp(found)
