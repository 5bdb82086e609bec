"""Settings of feeds that read a database by SQL."""

import re
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, WithJsonSchema

from monitor.config import quantities as q
from monitor.config.fields import Name, PositiveDuration, setting
from monitor.config.mapping import MappedFeed

_PARAMETER = re.compile(r"(?<![:\w\\]):(\w+)(?!:)")
"""A parameter as SQLAlchemy finds it, also within texts and comments."""
_LEAVES_TIES_OUT = re.compile(r">\s*:cursor\b|(?<![:\w\\]):cursor\s*<(?![=>])")
_NO_CODE = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|(\$\w*\$).*?\1", re.DOTALL)
"""Texts, quoted names and comments."""
_QUOTES = "'\"`$"
_BRACKETS = re.compile(r"\([^()]*\)")
_LIMIT = re.compile(
    r"\bLIMIT\s*(?=[\d:]|$)|\bOFFSET\s+[\d:]|\bFETCH\s+(FIRST|NEXT)\b|\bSELECT\s+(DISTINCT\s+)?TOP\b",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(
    r"[^:]+://([^@/?#]*@)?(\[[0-9a-fA-F:.]*\]|[^@:/?#\[\]]*)(:[0-9]*)?([/?#][^@]*(@.*)?)?$"
)
"""A URL in which @ and : alone separate account, host and port."""
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    """Return a query of the same length without what matches: quotes for texts, else spaces."""
    return pattern.sub(lambda found: ("'" if found[0][0] in _QUOTES else " ") * len(found[0]), text)


def _parameters(text: str) -> Counter[str]:
    return Counter(f":{name}" for name in _PARAMETER.findall(text))


def _query(text: str) -> str:
    code = _blanked(text, _NO_CODE)
    if ":cursor" not in _parameters(code):
        raise q.unfit("must select by the cursor", "add WHERE COLUMN >= :cursor")
    if _LEAVES_TIES_OUT.search(code):
        raise q.unfit(
            "must not leave out rows that equal the cursor, which may come late",
            "write >= :cursor; rows that were counted are recognized",
        )
    if others := _parameters(text) - Counter({":cursor": _parameters(code)[":cursor"]}):
        raise q.unfit(
            "must have no parameter but :cursor, not even in strings or comments, and has "
            f"{', '.join(sorted(others))}",
            "write the value itself; write \\: for a colon before a name",
        )
    end = len(code.rstrip().rstrip(";").rstrip())
    if ";" in code[:end]:
        raise q.unfit("must be one SELECT", "leave out what is behind the semicolon")
    while (inside := _blanked(code, _BRACKETS)) != code:
        code = inside
    if _LIMIT.search(code):
        raise q.unfit(
            "must not limit its rows: of those left out, some would never be read",
            "leave LIMIT out, the monitor reads page by page",
        )
    return text[:end].strip()


def _url(url: SecretStr) -> SecretStr:
    if "://" in url.get_secret_value() and not _AUTHORITY.match(url.get_secret_value()):
        raise q.unfit(
            "must have @, :, / and ? of the user and password percent-encoded",
            "write %40, %3A, %2F and %3F",
        )
    return url


def _start(value: Any) -> Any:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise q.unfit("must be a number or a text", "write a value below those of the column")
    return value


Query = Annotated[
    str, AfterValidator(_query), WithJsonSchema({"type": "string", "examples": ["SELECT …"]})
]
"""A SELECT with the parameter `:cursor`."""

CursorStart = Annotated[
    int | float | str, BeforeValidator(_start), WithJsonSchema({"type": ["string", "number"]})
]
"""The first value of `:cursor`; digits are an integer."""


class SqlFeed(MappedFeed):
    """Events from the rows of a database, read again and again behind a cursor."""

    type: Literal["sql"] = Field(description="Rows of a database.")
    name: Name = setting(
        "sql",
        "Name of the feed in messages, series and checkpoints; each sql feed needs its own. A "
        "restart continues where the feed of this name was.",
    )
    url: Annotated[SecretStr, AfterValidator(_url)] = Field(
        min_length=1,
        description="URL of the database as SQLAlchemy takes it, such as "
        "postgresql+psycopg://monitor:${DB_PASSWORD}@warehouse/labels; stays hidden.",
    )
    query: Query = Field(
        description="A SELECT that is valid as a subquery, with WHERE COLUMN >= :cursor. The "
        "monitor sorts and limits the rows itself."
    )
    cursor: Name = Field(
        description="Column of the result whose value increases with each row that is "
        "written: a number, a time, or a text that sorts like one. Rows with NULL in it are not "
        "read."
    )
    start: CursorStart = setting(0, "Value of :cursor where nothing has been read yet.")
    every: PositiveDuration = setting("1m", "How often the query asks for new rows.")

    @property
    def summary(self) -> str:
        """The type and place of the feed, in a few words."""
        return f"sql {self.name}, a query every {q.format_duration(self.every)}"
