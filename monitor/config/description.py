"""Text description of a configuration: models, windows, feeds, and which metrics are known."""

from monitor.config.classes import LearnedNames
from monitor.config.config import Config
from monitor.config.labelling import Labelling, WindowClock
from monitor.config.model import ModelConfig
from monitor.config.quantities import format_duration, without_account
from monitor.config.same_sentences import each_once

_EVERYTHING = "precision, recall, false-positive rate, prevalence and balanced precision"
_BY_CLASS = (
    "{number} classes ({names}), each counted against the others: precision, recall, F1 and the "
    "confusion matrix of the classes are known; precision and recall of the whole model are not "
    "defined, their averages over the classes are"
)
_LEARNED = (
    "learns its classes from its predictions, each counted against the others: precision, recall, "
    "F1 and the confusion matrix of the classes are known; precision and recall of the whole model "
    "are not defined, their averages over the classes are"
)
_NAMED = 8
_IDENTIFIABLE = {
    Labelling.COMPLETE: (
        "every mature prediction gets a label or misses it at random, "
        f"so {_EVERYTHING} are all known"
    ),
    Labelling.SAMPLED: (
        "labels are a random sample within predicted positives and within predicted negatives, "
        f"so {_EVERYTHING} are all known, estimated from the labels and from the numbers of "
        "predicted positives and predicted negatives"
    ),
    Labelling.WEIGHTED: (
        "each label carries its sampling_probability, "
        f"so {_EVERYTHING} are all known, each label weighted by its inverse; windows whose labels "
        "have not come yet are withheld"
    ),
    Labelling.NEGATIVES_BY_TIMEOUT: (
        "only positives are reported and a prediction without a label past {timeout} is negative, "
        f"so {_EVERYTHING} are all known, but only for predictions older than {{timeout}}"
    ),
    Labelling.FLAGGED_ONLY: (
        "only predicted positives are ever labelled, so only precision is known; recall, "
        "false-positive rate, prevalence and balanced precision are not, and are not shown"
    ),
}
"""Meaning of each labelling regime, and which metrics are identifiable under it."""


def describe(config: Config) -> str:
    """Describe a configuration in a few lines: after the general ones, one for alike models each.

    >>> print(describe(Config(models={"fraud": {"labelling": "flagged_only"}})))
    Models: fraud.
    Windows: 1h, 1d, 7d, and 28d where 7d exclude little, advancing in steps of 1m.
    Feeds: none.
    Exporter: http on 127.0.0.1:9108.
    Rejected records: state/dead-letter.ndjson.
    fraud: only predicted positives are ever labelled, so only precision is known; recall,
    false-positive rate, prevalence and balanced precision are not, and are not shown.
    """
    named = ", ".join(config.models) or f"any that events name, up to {config.max_models}"
    feeds = ", ".join(feed.summary for feed in config.feeds) or "none"
    models = config.models or {"any model": config.defaults}
    windows, step = ", ".join(config.window_names), format_duration(config.pane)
    if config.windows == "auto":
        windows = f"auto, of {windows} those that the volume of each model fills"
    if config.longer_window is not None:
        windows = (
            f"{windows}, and {config.longer_window} where {config.window_names[-1]} exclude little"
        )
    lines = [
        f"Models: {named}.",
        f"Windows: {windows}, advancing in steps of {step}.",
        f"Feeds: {feeds}.",
        f"Exporter: http on {config.exporter.listen}{_push(config)}.",
        f"Rejected records: {config.dead_letter_path}.",
        *_forward(config),
        *each_once((name, _sentence(model)) for name, model in models.items()),
    ]
    return "\n".join(lines)


def _forward(config: Config) -> list[str]:
    forward = config.forward
    if forward is None:
        return []
    to, every = without_account(forward.url), format_duration(forward.every)
    return [f"Counts: forwarded to {to} every {every}."]


def _push(config: Config) -> str:
    otlp = config.exporter.otlp
    return (
        ""
        if otlp is None
        else f", pushed to {without_account(otlp.url)} every {format_duration(otlp.every)}"
    )


def _sentence(model: ModelConfig) -> str:
    timeout = "no limit" if model.label_timeout is None else format_duration(model.label_timeout)
    if isinstance(model.classes, LearnedNames):
        return f"{_LEARNED}."
    if model.has_many_classes:
        named = ", ".join(model.classes[:_NAMED])
        more = len(model.classes) - _NAMED
        names = f"{named} and {more} more" if more > 0 else named
        return f"{_BY_CLASS.format(number=len(model.classes), names=names)}."
    known = _IDENTIFIABLE[model.labelling].format(timeout=timeout)
    by_label = "; its windows use the time of labels" if model.clock is WindowClock.LABEL else ""
    positive = f"; positive is {model.classes[1]}" if model.classes else ""
    return f"{known}{by_label}{positive}."
