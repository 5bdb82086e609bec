"""Fractions of precision in points, as text."""


def in_points(share: float) -> float:
    """Return a fraction of precision in points, to a tenth.

    It is rounded as a fraction, so that a text and a table that shows three digits of the same
    fraction agree: 100 * .0135 rounds to 1.4, and .0135 to .013.

    >>> in_points(0.0135), f"{0.0135:.3f}"
    (1.3, '0.013')
    """
    return 100 * round(share, 3)


def points_text(share: float) -> str:
    """Return a fraction of precision in points, with its sign; 0 has none.

    >>> points_text(-0.2339), points_text(0.05), points_text(-0.0001)
    ('-23.4', '+5.0', '0.0')
    """
    text = f"{in_points(share):+.1f}"
    return text if float(text) else text[1:]
