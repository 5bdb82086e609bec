"""A configuration in plain lines: what will be watched, and what can be known from its labels."""

from monitor.config.model import Labelling, ModelConfig, WindowClock
from monitor.config.quantities import format_duration
from monitor.config.schema import Config
from monitor.config.servers import Feed, FileFeed, HttpFeed

_EVERYTHING = "precision, recall, false-positive rate, prevalence and balanced precision"
_KNOWN = {
    Labelling.COMPLETE: (
        "every mature prediction gets a label or misses it at random, "
        f"so {_EVERYTHING} can all be known"
    ),
    Labelling.SAMPLED: (
        "labels are a random sample within predicted positives and within predicted negatives, "
        f"so {_EVERYTHING} can all be known, estimated from the labels and from the number of "
        "predictions of either kind"
    ),
    Labelling.WEIGHTED: (
        "each label carries its sampling_probability, "
        f"so {_EVERYTHING} can all be known, each label weighted by it, once the labels have "
        "come: windows younger than that are held back"
    ),
    Labelling.NEGATIVES_BY_TIMEOUT: (
        "only positives are reported and silence past {timeout} is a negative, "
        f"so {_EVERYTHING} can all be known, but only for predictions older than {{timeout}}"
    ),
    Labelling.FLAGGED_ONLY: (
        "only predicted positives are ever labelled, so precision alone can be known; recall, "
        "false-positive rate, prevalence and balanced precision cannot, and are not shown"
    ),
}
"""What each labelling regime means, and what is identifiable under it."""


def describe(config: Config) -> str:
    """What a configuration means, in a few plain lines, one on each model's labels.

    >>> print(describe(Config(models={"fraud": {"labelling": "flagged_only"}})))
    Models: fraud.
    Windows: 1h, 1d, 7d, which move in steps of 1m.
    Feeds: none.
    Results: on 127.0.0.1:9108; dead letters in state/dead-letter.ndjson.
    fraud: only predicted positives are ever labelled, so precision alone can be known; recall,
    false-positive rate, prevalence and balanced precision cannot, and are not shown.
    """
    named = ", ".join(config.models) or f"any that events name, at most {config.max_models}"
    feeds = ", ".join(map(_feed, config.feeds)) or "none"
    models = config.models or {"any model": config.defaults}
    windows, step = ", ".join(config.windows), format_duration(config.pane)
    lines = [
        f"Models: {named}.",
        f"Windows: {windows}, which move in steps of {step}.",
        f"Feeds: {feeds}.",
        f"Results: on {config.exporter.listen}; dead letters in {config.dead_letter_path}.",
        *(f"{name}: {_sentence(model)}" for name, model in models.items()),
    ]
    return "\n".join(lines)


def _feed(feed: Feed) -> str:
    if isinstance(feed, FileFeed):
        return f"file {feed.path}" + (", followed" if feed.follow else "")
    if isinstance(feed, HttpFeed):
        return f"http on {feed.listen}"
    return f"kafka topics {', '.join(feed.topics)}"


def _sentence(model: ModelConfig) -> str:
    timeout = "no limit" if model.label_timeout is None else format_duration(model.label_timeout)
    known = _KNOWN[model.labelling].format(timeout=timeout)
    by_label = model.clock is WindowClock.LABEL
    return f"{known}{'; its windows go by the time of labels' if by_label else ''}."
