"""`precision-monitor init`."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from monitor.cli.init_mappings import MappedFile, mapped_files, with_feeds
from monitor.cli.init_source import Looked, looked_at
from monitor.cli.learned_classes import alike, class_names, in_order, scored_classes
from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show, tell
from monitor.cli.proposed_reference import ProposedReference
from monitor.cli.recorded_classes import with_classes
from monitor.cli.rejection_hints import CLASSES_OF_SCORES, have_scores_alone
from monitor.cli.survey import Segment, SurveyedModel, Surveyor, proposed_segments, segment_field
from monitor.cli.usable import mostly_rejected, rejected_text, tell_of_repeats, tell_of_reversed
from monitor.config import Config, Labelling
from monitor.config.classes import MOST_CLASSES
from monitor.config.mapping import ClassValues, FixedValue, MappedRecords
from monitor.config.quantities import count_of
from monitor.config.yaml_text import flow, scalar
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES
from monitor.errors import FeedError, UsageError
from monitor.feeds.mapping.field_sources import sources_of_records
from monitor.feeds.mapping.written import OptionNotation
from monitor.feeds.segment_keys import MOST_KEYS
from monitor.report.missing_evidence import day_text
from monitor.report.printable import one_line
from monitor.snapshot import Snapshot

_THRESHOLD = 0.5
_ASSUMED = "assumed: the events carry scores and no predictions"
_GIVEN = "as given: the events carry scores and no predictions"
_STDOUT = "-"
_WORDS = {
    Labelling.COMPLETE: "every prediction gets a label, or misses it at random",
    Labelling.SAMPLED: "labels seem to be a sample, of predicted positives more than of others",
    Labelling.FLAGGED_ONLY: "no predicted negative has a label: recall cannot be known",
    Labelling.NEGATIVES_BY_TIMEOUT: "every label is positive: silence seems to mean negative",
}
_NO_LABELS = "assumed: no label came"
_NO_FEED = "no label came: add a feed of labels, which precision-monitor init"
"""Before the files to name."""
_TOO_MANY = (
    f"has more than {MOST_CLASSES} classes, and a model has {MOST_CLASSES} at most: give the rare "
    "ones one name, such as other, before they are sent"
)


def run(args: Namespace) -> int:
    """Look at recorded events, and write a configuration for them.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option or the file cannot be used, or the configuration is there.
    """
    output = Path(args.output)
    if args.output != _STDOUT and output.exists():
        raise UsageError(f"--output: is there already, got {args.output!r}; name another, or -")
    with ExitStack() as places:
        looked = [places.enter_context(looked_at(one, args.properties)) for one in args.places]
        text, models, torn = _surveyed(looked, mapping_of(args), args.threshold)
    _write(args.output, output, text)
    for model in models:
        tell(_found(model))
        if model.unlabelled:
            tell(f"warning: {one_line(model.name)}: {model.unlabelled}")
        if same := alike(model.classes):
            tell(
                f"warning: {one_line(model.name)}: {', '.join(map(one_line, same))} differ in "
                "their case alone; where they are one class, write one name before they are sent"
            )
        if not model.reference.within:
            tell(
                f"{one_line(model.name)}: these events do not complete a reference; the one of "
                f"{model.reference.first} is the first to be {_complete(model.reference)}"
            )
    if torn is not None:
        raise torn
    return 0


def _surveyed(
    looked: Sequence[Looked], given: MappedRecords | None, threshold: float | None
) -> tuple[str, tuple[SurveyedModel, ...], FeedError | None]:
    """Return the configuration for some events, what they show by model, and where they tear.

    Args:
        looked: the events.
        given: the mapping of the options; None without one.
        threshold: that of the option; None to assume one.
    """
    mapped = mapped_files(looked, given)
    where = ", ".join(one.name for one in looked)
    scored = not any("prediction" in one.fields for one in mapped)
    assumed = _THRESHOLD if threshold is None else threshold
    config = _config(threshold=assumed if scored else None)
    columns = [column for one in mapped for column in one.columns]
    names = scored_classes(columns) if scored else ()
    surveyor, feed = _read(mapped, with_classes(config, names) if names else config)
    if not names and have_scores_alone(feed.faults):
        raise FeedError(f"{where}: nothing is written: {CLASSES_OF_SCORES}")
    found = () if names else class_names(feed.faults, names, _taken(surveyor, mapped))
    while found and len(names) < MOST_CLASSES:
        names = in_order((*names, *found[: MOST_CLASSES - len(names)]))
        surveyor, feed = _read(mapped, with_classes(config, names))
        found = class_names(feed.faults, names)
    if found:
        tell(f"{where}: {_TOO_MANY}")
    snapshot = surveyor.monitor.snapshot()
    if text := rejected_text(snapshot, feed.faults):
        if mostly_rejected(snapshot) or _loses_a_file(mapped, snapshot):
            raise FeedError(f"{where}: nothing is written, since {text}")
        tell(text)
    tell_of_repeats(snapshot, feed.faults.notation)
    tell_of_reversed(snapshot, feed.faults.notation)
    feed.warn_of_order(snapshot)
    models = surveyor.models()
    if not models:
        raise FeedError(f"{where}: has no predictions; give the input that has them")
    segments = () if names else _segments(mapped)
    why = _ASSUMED if threshold is None else _GIVEN
    decided = f"threshold: {assumed} # {why}" if scored else ""
    lacking = _lacking_feed(looked, snapshot)
    if lacking:
        tell(f"warning: {lacking}")
    text = "\n".join(_document(mapped, models, segments, decided, lacking))
    return text, models, feed.torn


def _read(mapped: Sequence[MappedFile], config: Config) -> tuple[Surveyor, RecordedFeed]:
    """Read all events, and return what was seen of them, and the feed with its faults."""
    surveyor = Surveyor(config)
    paths = [one.looked.path for one in mapped]
    if len(mapped) == 1:
        feed = RecordedFeed(paths, config, mapped[0].mapping)
    else:
        feed = RecordedFeed(paths, with_feeds(config, mapped), None)
        feed.faults.completed_as(OptionNotation())
    for batch in feed.batches():
        surveyor.monitor.apply(batch)
    return surveyor, feed


def _loses_a_file(mapped: Sequence[MappedFile], snapshot: Snapshot) -> bool:
    """Return whether one of several files has labels, and none of them can be used."""
    labelled = any("label" in one.fields for one in mapped)
    return len(mapped) > 1 and labelled and not _has_labels(snapshot)


def _has_labels(snapshot: Snapshot) -> bool:
    return bool(snapshot.labels.received or snapshot.lifetime.counts.total.any())


def _lacking_feed(looked: Sequence[Looked], snapshot: Snapshot) -> str:
    """Return that a feed of labels is missing, and how to get it; "" where labels came."""
    if _has_labels(snapshot):
        return ""
    return f"{_NO_FEED} {shlex.join(one.name for one in looked)} LABELS writes"


def _taken(surveyor: Surveyor, mapped: Sequence[MappedFile]) -> frozenset[str]:
    """Return which of 0 and 1 came as classes; none where the mapping says what stands for them."""
    snapshot = surveyor.monitor.snapshot()
    labelled = snapshot.lifetime.counts
    came = {
        "0": int(labelled.actual_negative.sum())
        + sum(model.predictions_negative for model in snapshot.models),
        "1": int(labelled.actual_positive.sum())
        + sum(model.predictions_positive for model in snapshot.models),
    }
    named = any(one.mapping.names_classes for one in mapped)
    return frozenset(name for name, cases in came.items() if cases and not named)


def _write(name: str, output: Path, text: str) -> None:
    if name == _STDOUT:
        show(text)
        return
    try:
        output.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output: cannot be written, got {name!r}: {error.strerror}") from error
    tell(f"{name}: written; check it, then: precision-monitor run -c {name}")


def _config(threshold: float | None) -> Config:
    config = Config.without_file()
    defaults = config.defaults.model_copy(update={"threshold": threshold})
    return config.model_copy(update={"defaults": defaults})


def _segments(mapped: Sequence[MappedFile]) -> tuple[Segment, ...]:
    """Return the segment keys of the files with predictions, as labels need none."""
    found = {
        segment.key: segment
        for one in mapped
        if one.has_predictions or len(mapped) == 1
        for segment in proposed_segments(one.head.rows, sources_of_records(one.mapping, ()).used)
    }
    return tuple(sorted(found.values(), key=lambda segment: segment.values)[:MOST_KEYS])


def _found(model: SurveyedModel) -> str:
    labelled = int(model.counts.total)
    labels = [f"{labelled:,} labelled" if labelled else "no labels yet"]
    if model.late_days is not None:
        labels.append(f".99 of the labels within {_days(model.late_days)}")
    words = f"; {_WORDS[model.labelling]}" if labelled else ""
    return (
        f"{one_line(model.name)}: {count_of(model.predictions, 'prediction')} in "
        f"{_days(model.days)}, {', '.join(labels)}{words}"
    )


def _labelling_words(model: SurveyedModel) -> str:
    """Return how labels seem to come, or that none shows it."""
    return _WORDS[model.labelling] if int(model.counts.total) else _NO_LABELS


def _timeout_from(model: SurveyedModel) -> str:
    """Return what the label timeout is derived from."""
    if not int(model.counts.total):
        return f"no label came in these {_days(model.days)}; later labels do not count"
    if model.late_days is not None:
        return f".99 of the labels came within {_days(model.late_days)}"
    unknown = "the events do not show how late labels come"
    if model.unlabelled is None:
        return unknown
    return f"{unknown}; hardly any in the last {_days(model.unlabelled.days)}"


def _days(days: float) -> str:
    hours = 24
    number, unit = (f"{days:.3g}", "day") if days >= 1 else (f"{days * hours:.2g}", "hour")
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def _document(
    mapped: Sequence[MappedFile],
    models: tuple[SurveyedModel, ...],
    segments: tuple[Segment, ...],
    decided: str,
    lacking: str,
) -> Iterator[str]:
    yield "# Written by precision-monitor init; config/README.md has every key."
    yield "models:"
    for model in models:
        yield from _model(model, segments, decided)
    longest = max(models, key=lambda model: model.predictions)
    carries = f"what the volume of {scalar(longest.name)} carries"
    if longest.windows.left_out:
        carries += f"; {' and '.join(longest.windows.left_out)} would need more days"
    yield f"windows: [{', '.join(longest.windows.names)}] # {carries}"
    yield "feeds:"
    for one in mapped:
        yield from _feed(one, segments)
    if lacking:
        yield f"  # {one_line(lacking)}"
    yield "exporter: {listen: 127.0.0.1:9108}"


def _model(model: SurveyedModel, segments: tuple[Segment, ...], decided: str) -> Iterator[str]:
    yield f"  {scalar(model.name)}:"
    if model.classes:
        found = f"{len(model.classes)} that came; add those that may"
        yield f"    classes: {flow([*model.classes])} # {found}"
    elif decided:
        yield f"    {decided}"
    if segments:
        keys = ", ".join(scalar(segment.key) for segment in segments)
        counts = ", ".join(str(segment.values) for segment in segments)
        yield f"    segments: [{keys}] # of {counts} values"
    if not model.classes:
        yield f"    labelling: {model.labelling} # {_labelling_words(model)}"
    if model.unlabelled:
        yield f"    # {model.unlabelled}"
    yield f"    label_timeout: {model.timeout} # {_timeout_from(model)}"
    first, fits = model.reference.first, _fits(model.reference, many=bool(model.classes))
    yield f"    reference: {{first: {first}}} # what windows are compared with; {fits}"


def _fits(reference: ProposedReference, *, many: bool) -> str:
    """Return what a reference suffices for, and when it is complete if it is not yet."""
    found = "long enough for detectors"
    if many:
        found = (
            f"a class that is to be watched by the hour needs {FEWEST_POSITIVES:,} cases and "
            f"{FEWEST_FALSE_POSITIVES} false positives in it; others are watched by the day"
        )
    elif not reference.suffices:
        longer = f", {reference.detectable} would have enough" if reference.detectable else ""
        found = f"too few labels for detectors{longer}"
    if reference.extended:
        found = f"extended to {reference.extended} for want of outcomes: {found}"
    return found if reference.within else f"{found}; {_complete(reference)}"


def _complete(reference: ProposedReference) -> str:
    return f"complete about {day_text(reference.complete_ms)}"


def _feed(mapped: MappedFile, segments: tuple[Segment, ...]) -> Iterator[str]:
    looked, mapping = mapped.looked, mapped.mapping
    first, *others = (f"{key}: {flow(value)}" for key, value in looked.feed.items())
    yield f"  - {first}"
    yield from (f"    {line}" for line in others)
    if looked.comment:
        yield f"    # {looked.comment}"
    fields: dict[str, Any] = {
        field: {"value": source.value} if isinstance(source, FixedValue) else source
        for field, source in mapping.fields.items()
    }
    for segment in segments:
        there = {segment.column, segment.column.partition(".")[0]} & {*mapped.columns}
        if there and segment.column != segment_field(segment):
            fields[segment_field(segment)] = segment.column
    if fields:
        checked = f" # by names and values: check {', '.join(mapped.guessed)}"
        yield f"    fields: {flow(fields)}{checked if mapped.guessed else ''}"
    if mapping.values:
        values = {str(field): _listed(classes) for field, classes in mapping.values.items()}
        yield f"    values: {flow(values)}"
    time = mapping.time.model_dump(mode="json", exclude_defaults=True)
    if time:
        yield f"    time: {flow(time)}"


def _listed(classes: ClassValues) -> dict[str, Any]:
    found: dict[str, Any] = classes.model_dump(mode="json", exclude_defaults=True)
    return found
