"""Starts the Python workers of Spark, with what their tasks import.

Spark starts a daemon for each executor, which forks a worker for each task that runs at the same
time; one that is idle for a minute ends. Spark's own daemon imports nothing beforehand, so each
worker imports all of it; and it takes Spark's Python from an archive of sources, which each
process compiles anew. This one imports what has no threads, once, from the installed packages.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

_ARCHIVE = "pyspark.zip"
_SHARED = (
    "pyspark.worker",
    "pyspark.sql.streaming.stateful_processor_util",
    "pyspark.sql.streaming.proto.StateMessage_pb2",
    "monitor.distributed.packets",
    "monitor.distributed.pages",
    "monitor.feeds.decode",
)
"""What workers import; not pyarrow and pandas, which start threads: these do not outlive a fork."""


def without_archive(path: list[str]) -> list[str]:
    """Return where to import from, without Spark's archive if the same Spark is installed.

    Args:
        path: `sys.path`.
    """
    rest = [place for place in path if Path(place).name != _ARCHIVE]
    found = PathFinder.find_spec("pyspark", rest)
    if found is None or found.origin is None:
        return path
    own = Path(found.origin).parent / "python" / "lib" / _ARCHIVE
    archives = [Path(place) for place in path if place not in rest]
    same = own.exists() and all(place.exists() and place.samefile(own) for place in archives)
    return rest if same else path


def main() -> None:
    """Run Spark's daemon after the imports."""
    sys.path[:] = without_archive(sys.path)
    for name in _SHARED:
        import_module(name)
    import_module("pyspark.daemon").manager()


if __name__ == "__main__":
    main()
