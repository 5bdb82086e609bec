"""CPU time of pieces of work that take turns, and what they ran on.

Other programs on the machine slow all of them alike: what is quoted are ratios of one run.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

EXTRA = "pip install 'precision-monitor[bench]'"


def wanted(module: str) -> Any:
    """A library that only benchmarks need."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SystemExit(f"{module} is needed for this part; {EXTRA}") from error


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one call, all threads of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def medians(work: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of what each piece of work says of itself, all of them in turn."""
    found: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, one in work.items():
            found[name].append(one())
    return {name: statistics.median(reported) for name, reported in found.items()}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as aligned text: the first column to the left, the others to the right."""
    texts = [list(head), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    )


def machine(*packages: str) -> str:
    """Versions and machine, and whether others were at work on it."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    reported = ", ".join(
        [f"Python {platform.python_version()}", *filter(None, map(_version, packages))]
    )
    busy = "; others are at work here: trust the ratios alone" if load > cores + 1 else ""
    return f"{reported}\n{_processor()}, {cores} cores, load {load:.1f}{busy}"


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()} ({platform.machine()})"


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
