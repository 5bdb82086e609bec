"""`precision-monitor top`: the models of a running monitor in a terminal."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator

from monitor.cli.output import show
from monitor.cli.remote import Remote
from monitor.clock import SystemClock
from monitor.errors import FeedError
from monitor.exporter.api.status_answer import ModelStatus, StatusAnswer
from monitor.exporter.api.window_answer import WindowStatus
from monitor.report.printable import one_line
from monitor.report.vocabulary import PAGE_METRICS

_UNDEFINED = "—"
_MOST_MODELS = 1_000
_LONGEST_NAME = 28
_HEAD_LINES = 4
_CLEAR = "\x1b[H\x1b[J"


def run(args: Namespace) -> int:
    """Print the models once, or refresh them until Ctrl-C.

    Returns:
        The exit code.

    Raises:
        MonitorError: the URL is not valid, or the monitor does not answer.
    """
    remote = Remote(args.url)
    if args.once or not sys.stdout.isatty():
        show("\n".join(table(_status(remote, args.filter, _MOST_MODELS))))
        return 0
    clock = SystemClock()
    try:
        while True:
            columns, lines = shutil.get_terminal_size()
            show(f"{_CLEAR}{_screen(remote, args.filter, columns, lines)}")
            clock.sleep(max(args.every, 0.1))
    except KeyboardInterrupt:
        show()
    return 0


def _status(remote: Remote, matching: str, limit: int) -> StatusAnswer:
    return remote.answer("status", {"q": matching or None, "limit": str(limit)}, StatusAnswer)


def _screen(remote: Remote, matching: str, columns: int, lines: int) -> str:
    """Return what fits on the screen, or the error of a monitor that does not answer."""
    rows = max(1, lines - _HEAD_LINES - 1)
    try:
        text = table(_status(remote, matching, rows))
    except FeedError as error:
        text = [str(error)]
    return "\n".join(line[:columns] for line in text)


def table(status: StatusAnswer) -> list[str]:
    """Return the lines: a summary, then one model a line.

    Args:
        status: answer of the status API.
    """
    return list(_lines(status))


def _lines(status: StatusAnswer) -> Iterator[str]:
    window = status.verdict_window
    tally = ", ".join(f"{n} {verdict}" for verdict, n in status.verdicts.items())
    yield f"event time {status.now or _UNDEFINED}   last {window}   {tally or 'no models yet'}"
    yield ""
    heads = "".join(f"{metric.short:>11}" for metric in PAGE_METRICS)
    heads += f"{'labelled':>10}{'predicted':>11}{'last label':>12}"
    yield f"{'model':<{_LONGEST_NAME}}{heads}  what happened"
    for model in status.models:
        yield _row(model, model.windows[window])
    shown = len(status.models)
    if shown < status.total:
        yield f"{shown} of {status.total} models"


def _row(model: ModelStatus, window: WindowStatus) -> str:
    name = one_line(model.name)
    if len(name) > _LONGEST_NAME - 1:
        name = f"{name[: _LONGEST_NAME - 2]}…"
    numbers = "".join(f"{_ratio(window.metrics.metric(m.name).estimate):>11}" for m in PAGE_METRICS)
    share = window.outcomes.total / window.predictions if window.predictions else None
    labelled = _UNDEFINED if share is None else f"{100 * min(share, 1):.0f} %"
    ages = map(_ago, (model.last_prediction_age_seconds, model.last_label_age_seconds))
    seen = "".join(f"{age:>{width}}" for age, width in zip(ages, (11, 12), strict=True))
    headline = one_line(model.headline)
    return f"{name:<{_LONGEST_NAME}}{numbers}{labelled:>10}{seen}  {headline}"


def _ago(seconds: float | None) -> str:
    """Return an age in the largest unit with at least two, rounded down, to the minute."""
    if seconds is None:
        return _UNDEFINED
    for size, unit in ((86_400, "d"), (3_600, "h")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{seconds // 60:.0f} min ago"


def _ratio(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.3f}"
