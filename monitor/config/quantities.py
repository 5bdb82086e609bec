"""Quantities as people write them: `14d`, `64MiB`, `127.0.0.1:9108`, an RFC 3339 time.

Each `parse_…` takes text and gives a plain number or tuple; a text that does
not fit raises a `ValueError` that says what is wrong and what is allowed.
Knows nothing of YAML, files or the settings that use it.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pydantic_core import PydanticCustomError

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
LONGEST_MS = 36_500 * DAY_MS
"""A hundred years: a longer duration is a slip of the pen."""

_UNITS_MS = {
    "w": 7 * DAY_MS,
    "d": DAY_MS,
    "h": HOUR_MS,
    "m": MINUTE_MS,
    "s": SECOND_MS,
    "ms": 1,
}
DURATION_PATTERN = (
    "^(0|(?=[0-9])" + "".join(rf"([0-9]{{1,14}}{unit})?" for unit in _UNITS_MS) + ")$"
)
"""Regular expression, Python's and JSON Schema's, of what `parse_duration` reads."""
_DURATION = re.compile(DURATION_PATTERN)
_DURATION_ALLOWED = "write it like 500ms, 30s, 5m, 1h30m, 14d, at most 36500d"

_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE_PATTERN = f"^[0-9]{{1,18}}({'|'.join(_SIZES)})$"
"""Regular expression of what `parse_size` reads."""
_SIZE = re.compile(SIZE_PATTERN)

ADDRESS_PATTERN = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}$"
"""Regular expression of what `parse_address` reads."""
_ADDRESS = re.compile(ADDRESS_PATTERN)
_HIGHEST_PORT = 65_535

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def unfit(what: str, allowed: str, *, instead: tuple[str, ...] = ()) -> PydanticCustomError:
    """The error of a value that does not fit; a `ValueError`.

    Args:
        what: what is wrong, without the value.
        allowed: what may stand there, or what to do.
        instead: path of another key, where the culprit may have been written
            when the faulty value itself is a default.
    """
    context = {"what": what, "allowed": allowed, "instead": instead}
    return PydanticCustomError("unfit", "{what}; {allowed}", context)


def parse_duration(text: str) -> int:
    """Milliseconds of a duration as people write it; `0` needs no unit.

    Raises:
        ValueError: not a run of whole numbers with the units w, d, h, m, s, ms
            in this order, or longer than a hundred years.

    >>> parse_duration("1h30m"), parse_duration("500ms"), parse_duration("0")
    (5400000, 500, 0)
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise unfit("must be a duration", _DURATION_ALLOWED)
    parts = zip(match.groups()[1:], _UNITS_MS.items(), strict=True)
    total = sum(int(part.removesuffix(unit)) * ms for part, (unit, ms) in parts if part)
    if total > LONGEST_MS:
        raise unfit("is too long a duration", _DURATION_ALLOWED)
    return total


def format_duration(milliseconds: int) -> str:
    """The shortest text that `parse_duration` reads as so many milliseconds.

    Args:
        milliseconds: 0 or more.

    >>> format_duration(5_400_000), format_duration(604_800_000), format_duration(0)
    ('1h30m', '7d', '0s')
    """
    text, rest = "", milliseconds
    for unit, size in list(_UNITS_MS.items())[1:]:
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def parse_size(text: str) -> int:
    """Bytes of a size as people write it.

    Raises:
        ValueError: not a whole number with one of the units B, KiB, MiB, GiB, TiB.

    >>> parse_size("64MiB")
    67108864
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise unfit("must be a size", "write it like 512KiB, 64MiB, 2GiB")
    unit = match[1]
    return int(text.removesuffix(unit)) * _SIZES[unit]


def format_size(size: int) -> str:
    """The text that `parse_size` reads as so many bytes, in the largest unit that fits.

    >>> format_size(67_108_864), format_size(1_000)
    ('64MiB', '1000B')
    """
    units = [(unit, factor) for unit, factor in _SIZES.items() if size % factor == 0]
    unit, factor = units[-1] if size else ("B", 1)
    return f"{size // factor}{unit}"


class Address(NamedTuple):
    """Where a server listens.

    Attributes:
        host: name or address, without the brackets of IPv6.
        port: 1 to 65535; 0 lets the system choose.
    """

    host: str
    port: int


def parse_address(text: str) -> Address:
    """Host and port of `HOST:PORT`.

    Raises:
        ValueError: the host or the port is missing or cannot be one.

    >>> parse_address("127.0.0.1:9108"), parse_address("[::1]:9108")
    (Address(host='127.0.0.1', port=9108), Address(host='::1', port=9108))
    """
    allowed = "write HOST:PORT like 127.0.0.1:9108, [::1]:9108, or 0.0.0.0:9108 for every interface"
    if not _ADDRESS.fullmatch(text):
        raise unfit("must be an address with a port", allowed)
    host, _, port = text.rpartition(":")
    if int(port) > _HIGHEST_PORT:
        raise unfit(f"has a port above {_HIGHEST_PORT}", allowed)
    return Address(host.strip("[]"), int(port))


def parse_time(text: str) -> int:
    """Epoch milliseconds of an RFC 3339 time with its zone, or of a date: midnight UTC.

    Raises:
        ValueError: no such time, without a zone, or outside the years 1900 to 2199.

    >>> parse_time("2026-11-01T00:00:00Z") == parse_time("2026-11-01")
    True
    """
    allowed = "write a date like 2026-11-01 or a time with its zone like 2026-11-01T00:00:00Z"
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise unfit("must be a time", allowed) from error
    if time.tzinfo is None and "T" not in text and ":" not in text:
        time = time.replace(tzinfo=UTC)
    if time.tzinfo is None:
        raise unfit("must name its time zone", allowed)
    if not 1900 <= time.year < 2200:  # noqa: PLR2004 the range of event times
        raise unfit("must lie in the years 1900 to 2199", allowed)
    return (time - _EPOCH) // _MILLISECOND


def format_time(milliseconds: int) -> str:
    """ISO 8601 of epoch milliseconds, in UTC.

    >>> format_time(parse_time("2026-11-01T01:00:00.250+01:00"))
    '2026-11-01T00:00:00.250Z'
    """
    time = _EPOCH + milliseconds * _MILLISECOND
    digits = "milliseconds" if milliseconds % SECOND_MS else "seconds"
    return time.isoformat(timespec=digits).replace("+00:00", "Z")
