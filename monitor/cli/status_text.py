"""What a running monitor answers of one model, as text: for `top`, and `diagnose --url`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from monitor.exporter.api.status_answer import ModelStatus
from monitor.report.printable import one_line
from monitor.report.version_news_words import beginning_text


def status_lines(model: ModelStatus, width: int) -> Iterator[str]:
    """Yield what happened, the two answers, and what is known while no metric is.

    Args:
        model: of the answer of the status API.
        width: columns of a line; each is indented by two.
    """
    for text in (*_answers(model), *_unlabelled(model)):
        yield from wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def _answers(model: ModelStatus) -> Iterator[str]:
    """Yield what happened, and the two answers."""
    happened = model.headline.removeprefix(f"{model.moved_precision.text}. ").removesuffix(".")
    repeats = model.worse.text.lower().endswith(happened.lower())  # mostly so of many classes
    if not repeats and model.without_labels is None:
        yield one_line(model.headline)
    if model.change_began is not None:
        yield f"Rates changed: {beginning_text(model.change_began)}."
    yield f"What moved precision? {model.moved_precision.text}."
    yield f"Is the model worse? {model.worse.text}."


def _unlabelled(model: ModelStatus) -> Iterator[str]:
    """Yield what is known of a model while no metric is, and what to send."""
    found = model.without_labels
    if found is None:
        return
    yield found.text
    yield from found.known
    if found.lost is not None:
        yield found.lost
    if found.send:
        event, feed = found.send
        yield f"Send: {event}"
        yield f"or map a table of labels: {feed}"
