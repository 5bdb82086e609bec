"""`precision-monitor top`: the models of a running monitor in a terminal."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from textwrap import wrap

from msgspec import UNSET

from monitor.cli.output import show
from monitor.cli.remote import Remote
from monitor.cli.status_text import status_lines
from monitor.clock import SystemClock
from monitor.config.quantities import count_of
from monitor.errors import FeedError
from monitor.exporter.api.status_answer import ModelStatus, StatusAnswer
from monitor.exporter.api.window_answer import WindowStatus
from monitor.report.answer_parts import MetricInterval
from monitor.report.class_answer import ClassesAnswer, ranked_classes
from monitor.report.class_words import WHOLE_WORDS
from monitor.report.metric_words import MetricValues, titled
from monitor.report.model_kinds import KINDS
from monitor.report.printable import one_line
from monitor.report.rejected_lately import kind_text, rejected_text
from monitor.report.terminal_columns import columns_of, cut, padded
from monitor.report.vocabulary import PAGE_METRICS, MetricWords

_UNDEFINED = "—"
_MOST_MODELS = 1_000
_LONGEST_NAME = 40
_MOST_CLASSES = 8
"""Classes of a model that have a row."""
_FEWEST_LINES = 4
"""Minimum number of lines for each model."""
_RATIO_WIDE = 4
_NO_BREAK = "\N{NO-BREAK SPACE}"
_AGES = {"labelled": 9, "made": 5, "label": 6}
"""Heads and widths: share that is labelled; ages of the last prediction and the last label."""
NARROWEST = 80
"""Columns that a model needs."""
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
    most = max(1, lines // _FEWEST_LINES)
    try:
        text = table(_status(remote, matching, most), columns, lines - 1)
    except FeedError as error:
        text = wrap(str(error), columns)
    return "\n".join(line[:columns] for line in text)


def table(
    status: StatusAnswer, columns: int = NARROWEST, most_lines: int | None = None
) -> list[str]:
    """Return the lines: a summary, then each model with what happened and the two answers.

    Args:
        status: answer of the status API.
        columns: width, at least 80.
        most_lines: lines to return at most, of whole models; None for all of them.
    """
    width = max(columns, NARROWEST)
    head = list(_head(status, width))
    lines, shown = head, 0
    for model in status.models:
        block = list(_model(model, status.verdict_window, width))
        if most_lines is not None and shown and len(lines) + len(block) + 1 > most_lines:
            break
        lines += block
        shown += 1
    left_out = shown < status.total
    return [*lines, f"{shown} of {count_of(status.total, 'model')}"] if left_out else lines


def _head(status: StatusAnswer, width: int) -> Iterator[str]:
    tally = ", ".join(f"{n} {KINDS[kind].title.lower()}" for kind, n in status.tally.items())
    summary = f"event time {status.now or _UNDEFINED}   last {status.verdict_window}"
    yield from wrap(f"{summary}   {tally or 'no models yet'}", width)
    if status.audits_without_effect is not None:
        yield from wrap(f"{titled(status.audits_without_effect.text)}.", width)
    rejected = status.rejected_lately
    if rejected is not None and rejected.needs_attention:
        text = " ".join([rejected_text(rejected), *map(kind_text, rejected.kinds[:1])])
        yield from wrap(one_line(text), width)
    yield ""
    names = _name_width(width)
    heads = "".join(f"{metric.short:>{_wide(metric)}}" for metric in PAGE_METRICS)
    yield f"{'model':<{names}}{heads}" + "".join(f"{h:>{n}}" for h, n in _AGES.items())


def _model(model: ModelStatus, name: str, width: int) -> Iterator[str]:
    yield _row(model, model.windows[name], _name_width(width))
    if (whole := model.windows[name].classes) is not UNSET:
        yield from _whole(whole, name, width)
    classes = model.windows[model.verdict_window].classes
    if classes is not UNSET:
        yield from _classes(classes, model.verdict_window, width)
    if model.behind is not None:
        yield f"  event time {model.now}, {model.behind}"
    yield from status_lines(model, width)


def _row(model: ModelStatus, window: WindowStatus, width: int) -> str:
    share = window.outcomes.total / window.predictions if window.predictions else None
    labelled = _UNDEFINED if share is None else f"{100 * min(share, 1):.0f} %"
    seen = map(_age, (model.last_prediction_age_seconds, model.last_label_age_seconds))
    ends = "".join(f"{t:>{n}}" for t, n in zip((labelled, *seen), _AGES.values(), strict=True))
    return f"{_name(one_line(model.name), width)}{_numbers(window.metrics)}{ends}"


def _numbers(metrics: MetricValues[MetricInterval]) -> str:
    found = ((_ratio(metrics.metric(m.name).estimate), _wide(m)) for m in PAGE_METRICS)
    return "".join(f"{text:>{wide}}" for text, wide in found)


def _name(text: str, width: int) -> str:
    """Return what fits into a column, with a space behind it."""
    return padded(cut(text, width - 1), width)


def _whole(classes: ClassesAnswer, window: str, width: int) -> Iterator[str]:
    """Yield what is defined for all classes together, beside precision, which is accuracy."""
    shown = (
        f"{words.short} {_ratio(classes.together(words).estimate)}".replace(" ", _NO_BREAK)
        for words in WHOLE_WORDS
    )
    text = f"all classes, last {window}: {', '.join(shown)}"
    for line in wrap(text, width, initial_indent="  ", subsequent_indent="    "):
        yield line.replace(_NO_BREAK, " ")


def _classes(classes: ClassesAnswer, window: str, width: int) -> Iterator[str]:
    """Yield a row for each class against the others, those first that need a look."""
    names, wide = ranked_classes(classes), _name_width(width)
    yield f"  each class against the others, last {window}"
    for name in names[:_MOST_CLASSES]:
        one = classes.by_class[name]
        row = f"{_name('  ' + one_line(name), wide)}{_numbers(one.metrics)} "
        yield row + _end(_state(classes, name), width - columns_of(row))
    if len(names) > _MOST_CLASSES:
        left = len(names) - _MOST_CLASSES
        yield f"  and {left} more {'class' if left == 1 else 'classes'}"


def _state(classes: ClassesAnswer, name: str) -> str:
    change, words = classes.by_class[name].change, classes.words_of(name)
    if change is UNSET or words is None:
        return _UNDEFINED
    return "pages" if change.paging else words.title


def _end(text: str, width: int) -> str:
    """Return the end of a text that is too long: of two things that moved, the model's is last."""
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"


def _name_width(width: int) -> int:
    taken = sum(map(_wide, PAGE_METRICS)) + sum(_AGES.values())
    return min(width - taken, _LONGEST_NAME)


def _wide(metric: MetricWords) -> int:
    """Columns of a metric: its name, or a ratio, and a space."""
    return max(len(metric.short), _RATIO_WIDE) + 1


def _age(seconds: float | None) -> str:
    """Return an age in the largest unit with at least two, rounded as on the page."""
    if seconds is None:
        return _UNDEFINED
    for size, unit in ((86_400, "d"), (3_600, "h")):
        if seconds >= 2 * size:
            return f"{round(seconds / size)}{unit}"
    return f"{seconds // 60:.0f}m"


def _ratio(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.3f}".removeprefix("0")
