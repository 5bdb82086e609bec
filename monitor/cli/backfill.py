"""`precision-monitor replay … --openmetrics OUT`."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from monitor.cli.output import tell
from monitor.clock import HOUR_MS
from monitor.config import Config
from monitor.config.asked_duration import asked_duration
from monitor.config.quantities import count_of, format_duration
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.columns import EventBatch

_LABEL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=([^\n]+)")
_SECOND_MS = 1000

Apply = Callable[[EventBatch], None]


@contextmanager
def backfilled(monitor: Monitor, args: Namespace) -> Iterator[Apply]:
    """Yield the function that counts a batch; at the end write the file, if one is requested.

    Args:
        monitor: the engine.
        args: the options of `replay`.

    Raises:
        UsageError: the options do not fit, or the file cannot be written.
    """
    if args.openmetrics is None:
        if args.step is not None or args.target:
            raise UsageError("--step and --target need --openmetrics")
        yield monitor.apply
        return
    from monitor.exporter.backfill import Moments, Recorder, write_openmetrics  # noqa: PLC0415  # only if requested

    step, target = _step(args.step, monitor.config), _target(args.target, monitor.config)
    path, moments = Path(args.openmetrics), Moments(monitor, step)
    if path.is_dir():
        raise UsageError(f"--openmetrics: {path}: is a directory; name a file")
    with _writable(path), Recorder(path.parent) as recorder:

        def apply(batch: EventBatch) -> None:
            for moment, snapshot in moments.feed(batch):
                recorder.record(moment, snapshot)

        yield apply
        moments.finish()
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            samples = write_openmetrics(recorder, stream, target)
        tell(f"{path}: {count_of(samples, 'sample')} at {count_of(recorder.moments, 'moment')}")


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"--openmetrics: {path}: {error.strerror}") from error


def _step(text: str | None, config: Config) -> int:
    pane = config.pane
    if text is None:
        return max(HOUR_MS, pane)
    step = asked_duration("--step", text, format_duration(max(HOUR_MS, pane)))
    if step < pane or step % _SECOND_MS:
        raise UsageError(
            f"--step: must be whole seconds and at least the pane ({format_duration(pane)}), "
            f"got {text!r}; windows do not move in between"
        )
    return step


def _target(words: list[str], config: Config) -> dict[str, str]:
    labels = {"job": "precision-monitor", "instance": config.exporter.listen}
    for word in words:
        found = _LABEL.fullmatch(word)
        if not found:
            raise UsageError(f"--target: must be a label as NAME=VALUE, got {word!r}")
        labels[found[1]] = found[2]
    return labels
