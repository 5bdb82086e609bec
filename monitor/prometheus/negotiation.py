"""The format and encoding of an answer, from headers that may hold anything.

prometheus_client's own choice ignores weights, raises on some versions, and echoes
versions that it does not support. Here the highest weight among the supported formats
wins. Parts of a header that cannot be understood are ignored: the answer is then
Prometheus text 0.0.4, never an error.
"""

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

_WEIGHT = re.compile(r"(0(\.\d{0,3})?|1(\.0{0,3})?)")
_ESCAPING_SCHEMES = frozenset({"allow-utf-8", "underscores", "dots", "values"})


class Format(Enum):
    """A supported text format; earlier ones are preferred."""

    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    TEXT_1 = "text/plain; version=1.0.0; charset=utf-8"
    TEXT = "text/plain; version=0.0.4; charset=utf-8"

    @property
    def is_openmetrics(self) -> bool:
        """True where headings are OpenMetrics's and the body ends with EOF."""
        return self is Format.OPENMETRICS


_SUPPORTED = {
    ("application/openmetrics-text", "1.0.0"): Format.OPENMETRICS,
    ("application/openmetrics-text", ""): Format.OPENMETRICS,
    ("text/plain", "1.0.0"): Format.TEXT_1,
    ("text/plain", "0.0.4"): Format.TEXT,
    ("text/plain", ""): Format.TEXT,
    ("text/*", ""): Format.TEXT,
    ("*/*", ""): Format.TEXT,
}
_PREFERENCE = list(Format)


class ChosenFormat(NamedTuple):
    """The format that a client gets.

    Attributes:
        format: the format of the body.
        content_type: its header, with the escaping scheme that was asked for; all
            names of series are the same in each scheme.
    """

    format: Format
    content_type: str


class _Option(NamedTuple):
    """One element of an Accept header: a name, its parameters, its weight."""

    name: str
    parameters: dict[str, str]
    weight: float


def negotiate(accept: str) -> ChosenFormat:
    """Return the supported format with the highest weight; text 0.0.4 where none is named.

    >>> negotiate("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.9").format
    <Format.TEXT: 'text/plain; version=0.0.4; charset=utf-8'>
    """
    offers = [
        (-option.weight, _PREFERENCE.index(supported), option)
        for option in _options(accept)
        if option.weight > 0 and (supported := _supported(option))
    ]
    if not offers:
        return ChosenFormat(Format.TEXT, Format.TEXT.value)
    _, index, option = min(offers, key=lambda offer: offer[:2])
    return ChosenFormat(_PREFERENCE[index], _PREFERENCE[index].value + _escaping(option))


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether the answer may be compressed.

    >>> accepts_gzip("gzip;q=0, br"), accepts_gzip("deflate, gzip;q=0.5")
    (False, True)
    """
    weights = {option.name: option.weight for option in _options(accept_encoding)}
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _supported(option: _Option) -> Format | None:
    return _SUPPORTED.get((option.name, option.parameters.get("version", "")))


def _escaping(option: _Option) -> str:
    scheme = option.parameters.get("escaping", "")
    return f"; escaping={scheme}" if scheme in _ESCAPING_SCHEMES else ""


def _options(header: str) -> Iterator[_Option]:
    for element in header.split(","):
        name, *rest = (part.strip() for part in element.lower().split(";"))
        pairs = (part.partition("=") for part in rest)
        parameters = {key.strip(): value.strip().strip('"') for key, _, value in pairs}
        weight = parameters.get("q", "1")
        if _WEIGHT.fullmatch(weight):
            yield _Option(name, parameters, float(weight))
