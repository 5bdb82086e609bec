"""Fractions of precision in points, as text."""


def points_text(share: float) -> str:
    """Return a fraction of precision in points, with its sign; 0 has none.

    >>> points_text(-0.2339), points_text(0.05), points_text(-0.0001)
    ('-23.4', '+5.0', '0.0')
    """
    text = f"{100 * share:+.1f}"
    return text if float(text) else text[1:]
