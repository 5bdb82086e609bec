"""The order of the packages: each imports only from itself and from those before it."""

from typing import NamedTuple


class Stage(NamedTuple):
    """A group of modules and packages.

    Attributes:
        name: one word for the picture.
        does: what the group is, or turns into what.
        packages: its modules and packages, in the order of their imports.
    """

    name: str
    does: str
    packages: tuple[str, ...]


SHARED = (
    Stage(
        "base",
        "imported from everywhere",
        ("errors", "version", "kernel", "extras", "clock", "counts", "config"),
    ),
    Stage("events", "events as columns", ("events",)),
    Stage(
        "functions",
        "pure functions of counts; results, frozen",
        ("metrics", "drift", "verdicts", "snapshot"),
    ),
)
"""Packages that every stage of the flow builds on."""

FLOW = (
    Stage("read", "bytes to columns", ("web", "feeds", "state")),
    Stage("count", "columns to counts", ("join", "windows", "labels")),
    Stage("judge", "counts to verdicts", ("watch", "engine", "diagnosis", "distributed")),
    Stage("show", "verdicts to readers", ("report", "prometheus", "exporter", "python")),
    Stage("run", "all of it, running", ("service", "demo", "cli", "__main__")),
)
"""The stages that events pass through, in their order."""

ORDER = tuple(name for stage in (*SHARED, *FLOW) for name in stage.packages)
"""A module imports only from its left in this list."""


def picture() -> str:
    """Draw the flow: a column for each stage, and below them what all stages build on."""
    width = max(len(text) for stage in FLOW for text in (stage.does, *stage.packages)) + 3
    head = "".join(f"{stage.name} ".ljust(width - 2, "─") + "▶ " for stage in FLOW[:-1])
    rows = [head + FLOW[-1].name, _row([stage.does for stage in FLOW], width), ""]
    deepest = max(len(stage.packages) for stage in FLOW)
    rows += [
        _row([_at(stage.packages, depth) for stage in FLOW], width) for depth in range(deepest)
    ]
    names = [" ".join(stage.packages) for stage in SHARED]
    longest = max(map(len, names)) + 3
    rows += ["", "all built on"]
    rows += [
        f"{name.ljust(longest)}{stage.does}" for name, stage in zip(names, SHARED, strict=True)
    ]
    return "\n".join(row.rstrip() for row in rows)


def _row(cells: list[str], width: int) -> str:
    return "".join(cell.ljust(width) for cell in cells)


def _at(names: tuple[str, ...], depth: int) -> str:
    return names[depth] if depth < len(names) else ""
