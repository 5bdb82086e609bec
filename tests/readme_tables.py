"""The tables of the READMEs that are made from the program.

PYTHONPATH=.:tests python tests/readme_tables.py        writes them anew

A README has a table between `<!-- table: NAME -->` and `<!-- end: NAME -->`.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import flow

from monitor.cli.parser.command_line import EXIT_CODES
from monitor.config import Config, json_schema
from monitor.config.fields import Section
from monitor.distributed.sizing import (
    EVENT_SECONDS,
    LARGEST_PAGE,
    MOST_PAGES,
    PAGE_SECONDS,
    PREDICTION_BYTES,
    READ_SECONDS,
    STORED_BYTES,
    WRITE_SECONDS,
    Load,
    pages_for,
    why_so_many,
)
from monitor.prometheus.families import table_of_series

ROOT = Path(__file__).parents[1]
FOLDERS = ("config", "deploy", "monitor", "tests")
READMES = (ROOT / "README.md", *sorted(p for f in FOLDERS for p in (ROOT / f).rglob("README.md")))
PLACE = re.compile(r"<!-- table: (.+?) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
EXPLAINED = {"classifier_verdict": " What each means: [verdicts](../drift/README.md#verdicts)."}
"""Links to the explanations of series, to follow their meaning."""
CHECKPOINT_BYTES = 98
"""Of a prediction in the checkpoint of a job on Spark, with its versions of the state."""
SIZES = ("B", "kB", "MB", "GB", "TB", "PB")
NUMBERS = ("", "thousand", "million", "billion", "trillion")
MEMORY_BYTES = 32
"""Of a prediction that a monitor remembers."""
SHARDED_EVENT_SECONDS = 2.5e-6
"""CPU for an event on shards, their receiver included."""
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


def exit_code_table() -> str:
    """Every exit code of the command line, as its help lists them."""
    rows = (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    return "\n".join(["| exit code | means |", "|---|---|", *rows])


def flow_picture() -> str:
    """The stages of the flow, as a block of text."""
    return f"```text\n{flow.picture()}\n```"


def pages_line() -> str:
    """What a job on Spark says of the pages that it has chosen."""
    load = Load(1000, 86_400, 60)
    return f"```text\n{why_so_many(load, pages_for(load, 8))}\n```"


def page_costs() -> str:
    """What the number of pages and the sizes are computed from."""
    return (
        f"A page takes {PAGE_SECONDS * 1e6:.0f} µs of CPU to read and write, a prediction on it "
        f"{READ_SECONDS * 1e9:.0f} ns to read and {WRITE_SECONDS * 1e9:.0f} ns to write, and an "
        f"event {EVENT_SECONDS * 1e6:.0f} µs besides. In the state, a prediction takes "
        f"{STORED_BYTES:.0f} bytes ({PREDICTION_BYTES} where its page is worked on) until its "
        f"horizon, and the checkpoint has {CHECKPOINT_BYTES} bytes for each."
    )


def sizes_table() -> str:
    """Cores, disk and memory for the events of a second, on Spark and on shards, computed."""
    rows = (_sizes(rate, days) for rate in (1_000, 100_000, 1_000_000) for days in (1, 7, 30))
    names = (
        "events a second", "labels after", "predictions remembered", "Spark: cores, at 10m / 1h",
        "Spark: `--partitions`, at least", "Spark: checkpoint", "shards: memory in all",
        "shards: cores",
    )  # fmt: skip
    return "\n".join([f"| {' | '.join(names)} |", "|---" * len(names) + "|", *rows])


def _sizes(rate: int, days: int) -> str:
    loads = [Load(rate / 2, days * 86_400, batch) for batch in (600, 3600)]
    pending = loads[0].pending
    tasks = max(8, math.ceil(pending * PREDICTION_BYTES / LARGEST_PAGE / MOST_PAGES))
    while (busy := loads[0].cost(pages_for(loads[0], tasks)) / loads[0].batch) > tasks:
        tasks = math.ceil(busy)  # a task works on its pages on one core
    cores = (
        load.cost(pages_for(load, tasks)) / load.batch + rate * EVENT_SECONDS for load in loads
    )
    cells = (
        f"{rate:,}", f"{days} day{'s' if days > 1 else ''}", _round(pending, NUMBERS),
        " / ".join(map(_two_digits, cores)), str(tasks), _round(pending * CHECKPOINT_BYTES, SIZES),
        _round(pending * MEMORY_BYTES, SIZES), _two_digits(rate * SHARDED_EVENT_SECONDS),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _two_digits(number: float) -> str:
    """The number with two digits that count."""
    return f"{float(f'{number:.1e}'):,g}"


def _round(number: float, units: Sequence[str]) -> str:
    """The number with two digits that count and the name of its power of a thousand."""
    power = math.floor(math.log10(float(f"{number:.1e}"))) // 3
    return f"{_two_digits(number / 1000**power)} {units[power]}"


def package_table() -> str:
    """Each module and package of the top level, by stage, with the first line of its docstring."""
    rows = [
        f"| {stage.name} | [`{path.name}{'/' if path.is_dir() else ''}`]({path.name}) | {first} |"
        for stage in (*flow.SHARED, *flow.FLOW)
        for name in stage.packages
        for path, first in [_first_line(name)]
    ]
    return "\n".join(["| stage | package | holds |", "|---|---|---|", *rows])


def _first_line(name: str) -> tuple[Path, str]:
    """The path of a module or package of the top level, and the first line of its docstring."""
    package = ROOT / "monitor" / name
    path = package if package.is_dir() else package.with_suffix(".py")
    source = path / "__init__.py" if path.is_dir() else path
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return path, docstring.partition("\n")[0].replace("|", r"\|")


def _series_row(item: tuple[str, list[Any]]) -> str:
    meaning, series = item
    names = "<br>".join(f"`{one.name}`" for one in series)
    labels = ", ".join(series[0].labels)
    interval = " With its 95 % interval." if len(series) > 1 else ""
    link = EXPLAINED.get(series[0].name, "")
    kind = f"{series[0].kind}{'; ' if labels else ''}{labels}"
    return f"| {names} | {kind} | {meaning}{interval}{link} |"


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


TABLES = {
    "config keys": config_table,
    "exit codes": exit_code_table,
    "flow": flow_picture,
    "packages": package_table,
    "pages of a Spark job": pages_line,
    "costs of a Spark job": page_costs,
    "sizes on Spark and shards": sizes_table,
    "series": series_table,
}


def with_tables(text: str) -> str:
    """A README with its tables made anew.

    Raises:
        KeyError: there is no table of a name.
    """

    def made(place: re.Match[str]) -> str:
        name = place[1]
        return f"<!-- table: {name} -->\n{TABLES[name]()}\n<!-- end: {name} -->"

    return PLACE.sub(made, text)


if __name__ == "__main__":
    for readme in READMES:
        readme.write_text(with_tables(readme.read_text(encoding="utf-8")), encoding="utf-8")
