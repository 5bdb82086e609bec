"""Rows of small tables with odd values."""

SECOND = 1_780_000_000
ROWS = 6


def table(header, row):
    return "\n".join([header, *map(row, range(ROWS))]) + "\n"
