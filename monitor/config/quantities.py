"""Quantities as text: `14d`, `64MiB`, `127.0.0.1:9108`, an RFC 3339 time.

Each `parse_…` function converts text to a number or tuple. Its `ValueError` states
what is wrong and what is allowed.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from monitor.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

LONGEST_MS = 36_500 * DAY_MS
"""A hundred years; a longer duration is taken for a typing error."""

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
"""Regular expression, for Python and JSON Schema, of the texts that `parse_duration` accepts."""
_DURATION = re.compile(DURATION_PATTERN)
_DURATION_ALLOWED = "write it like 500ms, 30s, 5m, 1h30m, 14d, at most 36500d"

_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE_PATTERN = f"^[0-9]{{1,18}}({'|'.join(_SIZES)})$"
"""Regular expression of the texts that `parse_size` accepts."""
_SIZE = re.compile(SIZE_PATTERN)

ADDRESS_PATTERN = r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}$"
"""Regular expression of the texts that `parse_address` accepts."""
_ADDRESS = re.compile(ADDRESS_PATTERN)
_HIGHEST_PORT = 65_535

BASE_URL_PATTERN = r"^https?://[^\s?#\"\\{}<>`]+$"
"""Regular expression of the texts that `parse_base_url` accepts, faults of the host aside."""
_ACCOUNT = re.compile(r"://[^/?#\s]*@")
_QUERY = re.compile(r"(://[^?\s]*)\?[^\s'\"]+")
"""Users and passwords of URLs; their queries, which may hold a token."""
_BASE_URL = re.compile(BASE_URL_PATTERN)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def unfit(
    what: str, allowed: str, *, instead: tuple[str, ...] = (), hidden: bool = False
) -> PydanticCustomError:
    """Create the error for an invalid value; a `ValueError`.

    Args:
        what: what is wrong, without the value.
        allowed: what is allowed, or what to do.
        instead: path of the key to report where the invalid value itself is a default
            that conflicts with that key.
        hidden: the value is secret, and is not shown.
    """
    context = {"what": what, "allowed": allowed, "instead": instead, "hidden": hidden}
    return PydanticCustomError("unfit", "{what}; {allowed}", context)


def parse_duration(text: str) -> int:
    """Convert a duration like `1h30m` to milliseconds; `0` needs no unit.

    Raises:
        ValueError: the text is not a sequence of whole numbers with the units w, d, h, m,
            s, ms in this order, or the duration exceeds a hundred years.

    >>> parse_duration("1h30m"), parse_duration("500ms"), parse_duration("0")
    (5400000, 500, 0)
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise unfit("must be a duration", _DURATION_ALLOWED)
    parts = zip(match.groups()[1:], _UNITS_MS.items(), strict=True)
    total = sum(int(part.removesuffix(unit)) * ms for part, (unit, ms) in parts if part)
    if total > LONGEST_MS:
        raise unfit("is too long", _DURATION_ALLOWED)
    return total


def format_duration(milliseconds: int) -> str:
    """Convert milliseconds to the shortest text that `parse_duration` accepts.

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


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or the plural.

    Args:
        number: 0 or more.
        noun: in the singular; its plural ends in s.

    >>> count_of(1, "event"), count_of(2_000, "event"), count_of(0, "event")
    ('1 event', '2,000 events', '0 events')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def parse_size(text: str) -> int:
    """Convert a size like `64MiB` to bytes.

    Raises:
        ValueError: the text is not a whole number with a unit B, KiB, MiB, GiB or TiB.

    >>> parse_size("64MiB")
    67108864
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise unfit("must be a size", "write it like 512KiB, 64MiB, 2GiB")
    unit = match[1]
    return int(text.removesuffix(unit)) * _SIZES[unit]


def format_size(size: int) -> str:
    """Convert bytes to text that `parse_size` accepts, in the largest unit without remainder.

    >>> format_size(67_108_864), format_size(1_000)
    ('64MiB', '1000B')
    """
    units = [(unit, factor) for unit, factor in _SIZES.items() if size % factor == 0]
    unit, factor = units[-1] if size else ("B", 1)
    return f"{size // factor}{unit}"


class Address(NamedTuple):
    """Host and port of a server.

    Attributes:
        host: name or address, without the brackets of IPv6.
        port: 1 to 65535; 0 lets the system choose one.
    """

    host: str
    port: int


def parse_address(text: str) -> Address:
    """Split `HOST:PORT`.

    Raises:
        ValueError: the host or the port is missing or invalid.

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


def parse_base_url(text: str) -> str:
    """Return an http or https URL with a final slash, for paths to be added to.

    Raises:
        ValueError: the text is no such URL, or it has a query or a fragment.

    >>> parse_base_url("https://ops.example.org/monitor")
    'https://ops.example.org/monitor/'
    """
    try:
        parts = urlsplit(text)
        fits = bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not (fits and text.isprintable() and _BASE_URL.fullmatch(text)):
        raise unfit(
            "must be an http or https URL without ? and #",
            "write it like https://monitor.example.org",
        )
    return f"{text.rstrip('/')}/"


def without_account(text: str) -> str:
    """Return a text without the users, passwords and queries of the URLs in it.

    >>> without_account("pushed to http://monitor:s3cret@collector:4318/v1?token=s3cret")
    'pushed to http://collector:4318/v1?***'
    """
    return _QUERY.sub(r"\1?***", _ACCOUNT.sub("://", text))


def parse_time(text: str) -> int:
    """Convert an RFC 3339 time with zone, or a date (midnight UTC), to epoch milliseconds.

    Raises:
        ValueError: the text is not a time, has no zone, or lies outside the years 1900 to 2199.

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
    """Convert epoch milliseconds to ISO 8601 in UTC.

    >>> format_time(parse_time("2026-11-01T01:00:00.250+01:00"))
    '2026-11-01T00:00:00.250Z'
    """
    time = _EPOCH + milliseconds * _MILLISECOND
    digits = "milliseconds" if milliseconds % SECOND_MS else "seconds"
    return time.isoformat(timespec=digits).replace("+00:00", "Z")
