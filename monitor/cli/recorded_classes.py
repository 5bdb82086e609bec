"""Learns the classes that recorded events name, where nobody has listed any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import fspath
from typing import TypeGuard

from monitor.cli.learned_classes import alike, class_names, in_order, scored_classes
from monitor.cli.mapped_files import mappings_of
from monitor.cli.output import tell
from monitor.cli.recorded_tables import is_table
from monitor.cli.rejected_records import RejectedRecords
from monitor.config import Config
from monitor.config.classes import MANY, MOST_CLASSES
from monitor.config.fields import is_url
from monitor.config.mapping import ClassField, MappedRecords, text_of
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.mapping.field_sources import fields_of
from monitor.feeds.odd_values import number_further_classes
from monitor.report.printable import one_line

_HEAD_BYTES = 300_000
"""Bytes of lines of each file in which at least three classes have to come."""
_SHOWN = 6
_STRAY = 100
"""Predictions of which one with another class is a stray one."""
_UNFIT = RejectReason.BAD_VALUE


def with_classes(config: Config, names: tuple[str, ...]) -> Config:
    """Return the configuration with these classes for models that it does not list.

    Args:
        config: the configuration.
        names: of the classes, three at least.
    """
    defaults = config.defaults.model_copy(update={"classes": names, "threshold": None})
    return config.model_copy(update={"defaults": defaults})


def with_recorded_classes(
    config: Config, paths: Sequence[str], given: MappedRecords | None
) -> Config:
    """Return the configuration with the classes that recorded events name; print what they are.

    Classes are the names that are predicted, three to 50 of them. A label with another name may
    stand for none, such as "open", and stays rejected. The configuration stays as it is where a
    person has configured models, classes or which values the two classes have; where files cannot
    be read twice; and where a person has to look at the names: two that differ in their case alone,
    a third one that hardly occurs, names beside 0 and 1, and those that most labels do not have.

    Args:
        config: the configuration.
        paths: the files.
        given: the mapping of the options; None without one.
    """
    mappings = {path: one for path, one in mappings_of(paths, config, given) if one is not None}
    if config.models or config.defaults.has_class_names or not _are_open(paths, mappings):
        return config
    try:
        names = _learned(config, paths, mappings)
    except FeedError:  # whoever reads the files reports it
        return config
    if not names:
        return config
    shown = ", ".join([*map(one_line, names[:_SHOWN]), *["…"] * (len(names) > _SHOWN)])
    tell(
        f"{', '.join(paths)}: has predictions of {len(names)} classes, {shown}; to make this "
        "permanent, precision-monitor init FILE writes them to a configuration"
    )
    return with_classes(config, names)


def _are_open(paths: Sequence[str], mappings: dict[str, MappedRecords]) -> bool:
    """Return whether files can be read twice, and no mapping says which are the two classes."""
    once = any(files.is_read_once(path) or is_url(path) or is_table(path) for path in paths)
    return not once and not any(one.names_classes for one in mappings.values())


def _learned(
    config: Config, paths: Sequence[str], mappings: dict[str, MappedRecords]
) -> tuple[str, ...]:
    """Return the names of the classes, in order; none where a person has to look at them."""
    columns = list(dict.fromkeys(c for p in paths for c in files.columns_of(files.first_rows(p))))
    scored = not any("prediction" in fields_of(columns, mappings.get(p)) for p in paths)
    names, seen = scored_classes(columns) if scored else (), _Seen()
    if not names:
        for path in paths:
            seen.add(next(_read([path], config, mappings, _HEAD_BYTES), EventBatch()))
        names = seen.names(())
    if len(names) < MANY:
        return ()
    further = names
    while further and len(names) <= MOST_CLASSES:
        seen = _Seen()
        for batch in _read(paths, with_classes(config, names), mappings):
            seen.add(batch)
        further = seen.names(names)
        names = in_order({*names, *further}) if further else names
    return () if alike(names) or len(names) > MOST_CLASSES or seen.has_other_labels else names


def _read(
    paths: Sequence[str],
    config: Config,
    mappings: dict[str, MappedRecords],
    chunk_bytes: int = files.CHUNK_BYTES,
) -> Iterator[EventBatch]:
    """Read files; what is guessed about their columns is printed when they are read to count."""
    return files.read(
        [fspath(path) for path in paths],
        Decoder(DecodeSettings.from_config(config)),
        chunk_bytes=chunk_bytes,
        mappings=mappings,
        say=lambda _: None,
        threads=DecoderThreads(config.decoders),
    )


@dataclass(slots=True)
class _Seen:
    """What events show of their classes.

    Attributes:
        records: how many there are.
        labelled: how many of the accepted ones have a label.
        rejected: the rejected ones.
        taken: which of 0 and 1 came as classes.
    """

    records: int = 0
    labelled: int = 0
    rejected: RejectedRecords = field(default_factory=lambda: RejectedRecords({}))
    taken: set[str] = field(default_factory=set)

    def add(self, batch: EventBatch) -> None:
        self.records += batch.records
        self.labelled += len(batch.labels) + len(batch.outcomes)
        self.rejected.add(batch.rejected)
        predicted = (batch.predictions, batch.outcomes)
        came = [int(v) for one in predicted for v in set(one.predicted_positive.tolist())]
        self.taken |= {str(value) for value in came}
        self.taken |= {str(value) for value in set(batch.labels.value.tolist()) & {0, 1}}

    def names(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of classes that are predicted and not known yet.

        Args:
            known: names of classes; with none, none are found where a person has to look at them.
        """
        if not known and not self._are_plain():
            return ()
        taken = () if known else self.taken  # with names, 0 and 1 stand for no class
        found = class_names(self.rejected, known, taken)
        return tuple(name for name in found if name in self._predicted or name in taken)

    def _are_plain(self) -> bool:
        """Return whether predictions are of at least three classes, none of them a stray one."""
        predicted, number = self._predicted, self.rejected.number(_UNFIT, ClassField.PREDICTION)
        if self.taken:
            frequent = number * _STRAY >= self.records
            return frequent and number_further_classes([*predicted], self.taken)
        most = [cases for _, cases in predicted.most_common(MANY)]
        return len(most) == MANY and most[-1] * _STRAY >= predicted.total()

    @property
    def has_other_labels(self) -> bool:
        """Whether most labels are none of the classes."""
        return self.rejected.number(_UNFIT, ClassField.LABEL) > self.labelled

    @property
    def _predicted(self) -> Counter[str]:
        """How often the first predictions that do not fit have each value."""
        examples = self.rejected.examples(_UNFIT, ClassField.PREDICTION)
        return Counter(text_of(one.value) for one in examples if _may_name(one.value))


def _may_name(value: object) -> TypeGuard[str | float]:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
