"""The tables of README.md that are made from the program: config keys and series.

python tests/readme_tables.py        writes them anew
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from monitor.config import Config, json_schema
from monitor.config.fields import Section
from monitor.prometheus.families import table_of_series

README = Path(__file__).parents[1] / "README.md"
BOUND_OF = re.compile(r" (Lower|Upper) end of the 95 % interval\.$")


def config_table() -> str:
    """Every key with its default and its meaning."""
    schema = json_schema()
    rows = [f"| {key} | {default} | {meaning} |" for key, default, meaning in _keys(schema)]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows])


def series_table() -> str:
    """Every series; a ratio and the ends of its interval share a row."""
    rows: dict[str, list[Any]] = {}
    for series in table_of_series():
        meaning = BOUND_OF.sub("", series.meaning)
        rows.setdefault(meaning, []).append(series)
    return "\n".join(
        ["| series | type; labels | meaning |", "|---|---|---|", *map(_series_row, rows.items())]
    )


def _series_row(item: tuple[str, list[Any]]) -> str:
    meaning, series = item
    names = "<br>".join(f"`{one.name}`" for one in series)
    labels = ", ".join(series[0].labels)
    interval = " With its 95 % interval." if len(series) > 1 else ""
    return f"| {names} | {series[0].kind}{'; ' if labels else ''}{labels} | {meaning}{interval} |"


def _keys(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield from _section(Config, "", schema)


def _section(
    section: type[Section], prefix: str, schema: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    properties = (schema if section is Config else schema["$defs"][section.__name__])["properties"]
    for name, field in section.model_fields.items():
        path = f"{prefix}{name}"
        default = "needed" if field.is_required() else _default(properties[name].get("default"))
        yield f"`{path}`", default, str(field.description)
        if path != "defaults":  # the same keys as under models
            for inner in _sections(field.annotation):
                yield from _section(inner, path + _step(field.annotation, inner), schema)


def _step(annotation: Any, inner: type[Section]) -> str:
    if get_origin(annotation) is Mapping:
        return ".NAME."
    if get_origin(annotation) is tuple:
        return f"[{get_args(inner.model_fields['type'].annotation)[0]}]."
    return "."


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _default(value: Any) -> str:
    if value in ({}, None):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


TABLES = {"config keys": config_table, "series": series_table}


def with_tables(text: str) -> str:
    """A README with its tables made anew."""
    for name, table in TABLES.items():
        begin, end = f"<!-- table: {name} -->", f"<!-- end: {name} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = f"{head}{begin}\n{table()}\n{end}{tail}"
    return text


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text()))
