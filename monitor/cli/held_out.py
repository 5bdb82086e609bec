"""Outcomes of a held-out test set: the reference that most teams have on the first day.

A test set is one table or file of events. Its times do not matter, and it may have none.
Every label in it counts, however late it came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from monitor.cli.mapped_files import RecordedFeed, mappings_of
from monitor.cli.output import tell
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.usable import rejected_text
from monitor.cli.written_reference import is_written_reference, written_references
from monitor.config import Config, ModelConfig, Reference
from monitor.config.classes import LearnedNames
from monitor.config.mapping import FixedValue, MappedRecords
from monitor.config.quantities import count_of
from monitor.counts import ConfusionCounts, Outcome
from monitor.engine import CountingMonitor
from monitor.errors import FeedError, UsageError
from monitor.feeds import files
from monitor.feeds.decode.settings import DEFAULT_MODEL
from monitor.feeds.mapping.field_sources import fields_of
from monitor.feeds.mapping.guessing import mapping_for_table
from monitor.feeds.mapping.written import Notation, notation_for
from monitor.report.printable import one_line
from monitor.snapshot import ModelState, Snapshot

_COLUMN = "COLUMN"
_POSITIVE = "--positive prediction=VALUE --positive label=VALUE"
_SHOWN = 12
"""Columns, or models, that a message names at most."""


class HeldOut(NamedTuple):
    """The test set of one model.

    Attributes:
        model: its name.
        counts: labelled outcomes, scalars; there are actual positives and negatives.
        predictions: labelled or not.
    """

    model: str
    counts: ConfusionCounts
    predictions: int

    @property
    def reference(self) -> dict[str, dict[str, int]]:
        """The setting `reference` of the model."""
        cells = self.counts.cells.tolist()
        named = zip((cell.name.lower() for cell in Outcome), cells, strict=True)
        return {"counts": {name: int(count) for name, count in named}}


def read_held_out(
    path: str,
    config: Config,
    given: MappedRecords | None,
    *,
    threshold: float | None = None,
    command: str = "",
) -> tuple[HeldOut, ...]:
    """Count a test set; print what is guessed about its columns, and what is left out.

    Args:
        path: of the file, as `replay` reads it, not standard input; or of what `reference`
            printed, in YAML.
        config: the models, and the mapping of a configured feed of this path.
        given: mapping of the options; None without one.
        threshold: scores at or above it are positive predictions, where records hold no
            prediction; None for those of the models.
        command: to name beside options of a mapping, where the command that reads the file does
            not take them; "" where it does.

    Returns:
        The models of the file, at least one; none of more than two classes, which are named.

    Raises:
        FeedError: the file cannot be read, has models of more than two classes only, or lacks
            predictions, labels or one of the classes.
        UsageError: the path is standard input or a pipe, or all models have more than two classes.
    """
    if files.is_read_once(path):
        raise UsageError(f"reference: must be a file, got {path!r}; write the table to one")
    if is_written_reference(path):
        counts = written_references(path).items()
        return tuple(HeldOut(name, one, int(one.total)) for name, one in counts)
    _check_configured(config)
    _check_recorded(config, path, given)
    counting = _counting(config, threshold)
    ((_, configured),) = mappings_of([path], config, given)
    notation = notation_for(configured, command)
    mapping = _mapping(path, counting, configured, notation)
    monitor = CountingMonitor(counting)
    feed = RecordedFeed([path], counting, mapping)
    feed.faults.completed_as(notation)
    for batch in feed.batches():
        monitor.apply(batch)
    if feed.torn is not None:
        raise feed.torn
    snapshot = monitor.snapshot()
    if text := rejected_text(snapshot, feed.faults):
        if sum(snapshot.rejected.values()) == snapshot.records:
            raise FeedError(f"{path}: {text}")
        tell(f"{path}: {text}")
    many = [model for model in snapshot.models if model.classes and _made(model)]
    for model in many:
        tell(f"{model.name}: left out: {_of_many(model.classes['all'].names)}")
    found = tuple(_models(path, snapshot, notation))
    if many and not found:
        raise FeedError(f"{path}: has predictions of models of more than two classes only")
    if not found:
        raise FeedError(f"{path}: has no predictions; give the file that has them")
    return found


def with_references(config: Config, path: str, found: Sequence[HeldOut]) -> Config:
    """Return the configuration with the reference of each model of a test set.

    Args:
        config: a model of it that the test set lacks stays as it is. Without models, the only
            model of the test set stands for every model.
        path: of the test set, for messages.
        found: the test set; one without a name of its model is of the only configured one.

    Raises:
        UsageError: no models are configured, and the test set has several; or it is of none of
            those that are.
    """
    if config.models:
        found = _of_configured(config, path, found)
    for one in found:
        tell(f"{one.model}: reference: {count_of(int(one.counts.total), 'outcome')} of {path}")
    references = {
        one.model: {"reference": Reference.model_validate(one.reference)} for one in found
    }
    if config.models:
        models = {
            name: model.model_copy(update=references.get(name))
            for name, model in config.models.items()
        }
        return config.model_copy(update={"models": models})
    if len(found) > 1:
        names = ", ".join(references)
        raise UsageError(
            f"--reference: {path} has several models, got {names}; configure them (-c FILE)"
        )
    (only,) = references.values()
    return config.model_copy(update={"defaults": config.defaults.model_copy(update=only)})


def another_model_text(path: str, found: Sequence[HeldOut], models: Iterable[str]) -> str:
    """Return that models are compared with the reference of another one; "" where none is.

    Args:
        path: of the test set.
        found: the test set, of one model that stands for all.
        models: names of those that are compared. A model or a test set without a name is taken
            for the same.
    """
    (of,) = (one.model for one in found)
    others = [one_line(name) for name in models if name not in (of, DEFAULT_MODEL)]
    if of == DEFAULT_MODEL or not others:
        return ""
    named = ", ".join([*islice(others, _SHOWN), *["…"] * (len(others) > _SHOWN)])
    return (
        f"CAUTION: {path} is the reference of model {of!r}, and {named} "
        f"{'is' if len(others) == 1 else 'are'} compared with it; where it is not the same model, "
        "give its own reference"
    )


def _of_configured(config: Config, path: str, found: Sequence[HeldOut]) -> Sequence[HeldOut]:
    """Return the test set of configured models, and name those of others.

    Raises:
        UsageError: there is none.
    """
    names = list(config.models)
    if len(found) == len(names) == 1 and found[0].model == DEFAULT_MODEL:
        return [found[0]._replace(model=names[0])]
    others = [one.model for one in found if one.model not in config.models]
    if len(others) == len(found):
        raise UsageError(
            f"--reference: {path} is of {', '.join(map(one_line, others))}, and configured "
            f"{'is' if len(names) == 1 else 'are'} {', '.join(islice(names, _SHOWN))}; give the "
            "reference of a configured model"
        )
    for name in others:
        tell(
            f"{one_line(name)}: not configured, so its outcomes of {path} are the reference of none"
        )
    return [one for one in found if one.model in config.models]


def _counting(config: Config, threshold: float | None) -> Config:
    """The same models and classes, without time limits of labels, segments, windows."""

    def plain(model: ModelConfig) -> ModelConfig:
        limit = model.threshold if threshold is None or model.has_many_classes else threshold
        return ModelConfig(threshold=limit, classes=model.classes, label_timeout=None)

    models = {name: plain(model) for name, model in config.models.items()}
    return Config(models=models, defaults=plain(config.defaults), pane="1d", windows=["1d"])


def _check_recorded(config: Config, path: str, given: MappedRecords | None) -> None:
    """Refuse a file of a model that nobody has configured, and that has more than two classes."""
    found = with_recorded_classes(config, [path], given)
    if found is not config:
        _check_configured(found, f"; if it has two, write {_POSITIVE}")


def _check_configured(config: Config, ending: str = "") -> None:
    """Refuse a configuration of models of more than two classes alone.

    Args:
        config: the configuration.
        ending: of the message.
    """
    models = config.models or {"": config.defaults}
    if all(model.has_many_classes for model in models.values()):
        name, model = next(iter(models.items()))
        one = f"model {name!r}" if name else "this one"
        raise UsageError(f"reference: {one} {_of_many(model.classes)}{ending}")


def _of_many(classes: tuple[str, ...]) -> str:
    learned = isinstance(classes, LearnedNames)
    has = "learns its classes" if learned else f"has {len(classes)} classes"
    return (
        f"{has}, and a file is the reference of models of two only; let it be a time: "
        "reference.first, .window or .trailing"
    )


def _mapping(
    path: str, config: Config, mapping: MappedRecords | None, notation: Notation
) -> MappedRecords | None:
    head = files.first_rows(path)
    columns = files.columns_of(head)
    typed = "type" in fields_of(columns, mapping)
    wanted = mapping if typed else _at_no_time(mapping)
    if not columns:
        return wanted
    found = mapping_for_table(path, columns, wanted, tell, notation.columns)
    _check(path, columns, fields_of(columns, found), config, notation)
    return found


def _at_no_time(mapping: MappedRecords | None) -> MappedRecords:
    """The mapping with one time for all records, which a table may then lack or have wrong."""
    given = MappedRecords() if mapping is None else mapping
    fields = {**given.fields, "ts": FixedValue(0), "label_ts": FixedValue(0)}
    return MappedRecords(fields=fields, values=given.values, time=given.time)


def _check(
    path: str,
    columns: Sequence[str],
    fields: Collection[str],
    config: Config,
    notation: Notation,
) -> None:
    """Refuse records that hold whole outcomes, and lack a field of them.

    Raises:
        FeedError: there is no label, no prediction, or a score without a threshold.
    """
    if {"type", "tp"} & set(fields):
        return
    shown = f"got {', '.join(columns[:_SHOWN])}"
    if "label" not in fields:
        raise FeedError(
            f"{path}: has no column for the label, {shown}; say which it is: "
            f"{notation.columns({'label': _COLUMN})}"
        )
    if not {"prediction", "score"} & set(fields):
        raise FeedError(
            f"{path}: has no column for the prediction, {shown}; say which it is: "
            f"{notation.columns({'prediction': _COLUMN})}, or "
            f"{notation.columns({'score': _COLUMN})} with a threshold"
        )
    models = list(config.models.values()) or [config.defaults]
    if "prediction" not in fields and all(model.threshold is None for model in models):
        raise FeedError(
            f"{path}: has scores and no predictions; give the threshold of the model as "
            "models.NAME.threshold in a configuration, or "
            f"`precision-monitor reference {path} --threshold T > reference.yaml`, which "
            "--reference takes"
        )


def _models(path: str, snapshot: Snapshot, notation: Notation) -> Iterator[HeldOut]:
    for model in snapshot.models:
        made, counts = _made(model), snapshot.lifetime.counts[model.row]
        if not model.classes and (made or int(counts.total)):
            _check_classes(path, model, counts, notation)
            yield HeldOut(model.name, counts, max(made, int(counts.total)))


def _made(model: ModelState) -> int:
    return model.predictions_positive + model.predictions_negative


def _check_classes(
    path: str, model: ModelState, counts: ConfusionCounts, notation: Notation
) -> None:
    where = f"{path}: {model.name}"
    if not int(counts.total):
        raise FeedError(
            f"{where}: no prediction has a label; a reference is made of labelled outcomes"
        )
    for name, cases in (
        ("positives", counts.actual_positive),
        ("negatives", counts.actual_negative),
    ):
        if not int(cases):
            raise FeedError(
                f"{where}: has no actual {name} among "
                f"{count_of(int(counts.total), 'outcome')}, and a reference needs both "
                "classes; say how the positive class is written: "
                f"{notation.classes('label', {'positive': ['VALUE']})}"
            )
