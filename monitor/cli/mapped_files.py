"""Reads recorded files by the mapping of the options, or of the configured feeds."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from os import fspath
from pathlib import Path

from monitor.cli.days_alone import DaysAlone
from monitor.cli.further_hints import further_hints
from monitor.cli.init_mappings import linked_fields
from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.cli.progress import Progress
from monitor.cli.recorded_tables import feed_of, is_table, tables
from monitor.cli.rejected_records import RejectedRecords
from monitor.clock import SystemClock
from monitor.config import Config, FileFeed
from monitor.config.fields import is_url
from monitor.config.mapping import MappedRecords, mapped_records
from monitor.config.quantities import count_of
from monitor.config.yaml_text import flow
from monitor.errors import ColumnError, FeedError, UsageError
from monitor.events.columns import EventBatch
from monitor.events.labels_ahead import LabelsAhead
from monitor.events.record_order import RecordOrder
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.id_texts import IdTexts
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.mapping.guessing import mapping_for_table
from monitor.feeds.mapping.written import ASKED, taken_columns
from monitor.feeds.merge import merged
from monitor.feeds.segment_keys import SmallKeys, segment_keys, small_segment_keys
from monitor.feeds.stores import matching_objects
from monitor.snapshot import Snapshot

_LISTS = ("positive", "negative", "missing")
_EVERY_FILE = (
    "; options are those of every file: where the columns of files differ, write for each a feed "
    f"with its `fields` in a configuration, which -c names and {PROGRAM} init FILE FILE writes"
)
_NAMED = 3
"""Files whose columns a message names."""
MAPPING_OPTIONS = ("field", "constant", *_LISTS, "zone", "unit", "time-format")
"""Names of options, without their dashes."""
"""Options that give the mapping."""


class RecordedFeed:
    """Recorded files as one stream of batches.

    Args:
        paths: the files, patterns of objects in a store, and databases of configured feeds
            (`recorded_tables`).
        config: models, and the mapping of each configured feed.
        given: the mapping of the options, which completes that of a feed and takes precedence;
            None without one.
        id_texts: notes the texts of some ids; None to note none.

    Raises:
        FeedError: no object of a store matches a pattern, or the store cannot be read.

    Attributes:
        records: records read so far.
        faults: rejected records so far.
        contradictions: a line for each field whose values contradict the given positive ones;
            none before the last batch.
        order: how far the records so far are out of the order of time.
        days_alone: whether times say the day alone.
        torn: the error of a file that ends in a damaged part; None without one.
    """

    def __init__(
        self,
        paths: Sequence[str],
        config: Config,
        given: MappedRecords | None,
        *,
        id_texts: IdTexts | None = None,
    ) -> None:
        self.records = 0
        self.contradictions: tuple[str, ...] = ()
        self.torn: FeedError | None = None
        self.days_alone = DaysAlone()
        self.order, self._ahead = RecordOrder(), LabelsAhead(config)
        self._said: set[str] = set()
        self._again: Counter[str] = Counter()
        self._config = config
        settings = replace(DecodeSettings.from_config(config), id_texts=id_texts)
        self._decoder = Decoder(settings)
        self._mappings: dict[str, MappedRecords] = {}
        self._paths: list[str] = []
        for path, mapping in mappings_of(paths, config, given):
            found = _expanded(path)
            self._paths += found
            if mapping is not None:
                self._mappings |= dict.fromkeys(found, mapping)
        self.faults = RejectedRecords({path: self._mappings.get(path) for path in self._paths})

    def batches(self) -> Iterator[EventBatch]:
        """Yield all batches, with progress and warnings on stderr.

        Raises:
            FeedError: a file or a database cannot be read at all.
        """
        progress = Progress(sys.stderr, SystemClock())
        try:
            for batch in self._merged(progress):
                self.records += batch.records
                self.faults.add(batch.rejected)
                self.order.add(batch)
                self._ahead.add(batch)
                self.days_alone.add(batch)
                yield batch
        except FeedError as error:
            self.torn = self._for_every_file(error)
            if not self.records:
                raise self.torn from error
        finally:
            progress.close()
            for text, number in self._again.items():
                tell(f"{count_of(number, 'other file')}: {text}")
        for fault in self._decoder.class_tally.faults():
            tell(f"warning: {fault}")
        self.contradictions = tuple(self._decoder.class_tally.contradictions())
        if self.faults.total * 2 > self.records:
            self.faults.further = self._further_hints()

    def _further_hints(self) -> tuple[str, ...]:
        """Return what else records lack in the file where most are rejected."""
        reason = self.faults.most_frequent
        path = "" if reason is None else self.faults.path_of(reason)
        if not path or is_url(path) or is_table(path) or files.is_read_once(path):
            return ()
        mapping = self._mappings.get(path)
        return tuple(further_hints(path, self._config, mapping, self.faults))

    def _merged(self, progress: Progress) -> Iterator[EventBatch]:
        streams = tables(self._paths, self._config, self._decoder, self._mappings)
        paths = [path for path in self._paths if not is_table(path)]
        if paths:
            read = files.read(
                paths,
                self._decoder,
                progress=progress,
                mappings=self._mappings,
                say=self._say,
                threads=DecoderThreads(self._config.decoders),
            )
            streams.append(read)
        return streams[0] if len(streams) == 1 else merged(streams)

    def _for_every_file(self, error: FeedError) -> FeedError:
        """Return the error with what to write where files have columns of their own."""
        mapped = [self._mappings.get(path) for path in self._paths]
        configured = all(one is not None and one.is_of_feed for one in mapped)
        if not isinstance(error, ColumnError) or len(mapped) == 1 or configured:
            return error
        if self._by_init:
            return ColumnError(f"{str(error).partition(f'; {ASKED}')[0]}; {self._by_init}")
        return ColumnError(f"{error}{_EVERY_FILE}")

    @cached_property
    def _by_init(self) -> str:
        """Return how `init` gives each file its columns; "" where it would not know them."""
        once = any(is_url(p) or is_table(p) or files.is_read_once(p) for p in self._paths)
        if once or len(self._paths) == 1 or self._mappings:
            return ""
        with suppress(FeedError):
            feeds = linked_fields(self._paths)
            named = [f"{path} {flow(fields)}" for path, fields in feeds.items() if fields]
            if named:
                command = shlex.join([PROGRAM, "init", *self._paths])
                return (
                    f"where the columns of files differ, each needs a feed with its `fields`, as "
                    f"{', '.join(named[:_NAMED])}: {command} writes them to monitor.yaml, and "
                    f"{PROGRAM} replay -c monitor.yaml reads it"
                )
        return ""

    def _say(self, text: str) -> None:
        self.faults.columns |= taken_columns(text)
        if ASKED in text:
            lack, _, asked = text.partition(ASKED)
            self.faults.asked = self._by_init or f"{ASKED}{asked}"
            text = f"{lack}{self.faults.asked}"
        path, _, rest = text.partition(": ")
        if rest in self._said and path in self._paths:
            self._again[rest] += 1
            return
        self._said.add(rest)
        tell(text)

    def reached(self) -> dict[str, int]:
        """Return the time that labels in the records of predictions reach, see `LabelsAhead`."""
        return self._ahead.reached()

    def warn_of_order(self, snapshot: Snapshot) -> None:
        """Print a warning where the order of the records changes what is counted or judged.

        Args:
            snapshot: after all records.
        """
        column = self.faults.columns.get("ts", "ts") if len(self._paths) == 1 else "ts"
        if fault := self.order.fault(snapshot.labels.without_prediction, column):
            tell(f"warning: {fault}")

    def segment_keys(self) -> tuple[str, ...]:
        """Return the segment keys that the first records of each file could be split by."""
        found = (segment_keys(h.rows, m, tabular=h.tabular) for h, m in self._heads())
        return tuple(dict.fromkeys(chain.from_iterable(found)))

    def small_segment_keys(self) -> SmallKeys:
        """Return the keys of few values by which the first records of the files are segmented."""
        return small_segment_keys(
            (head.rows, mapping, head.tabular) for head, mapping in self._heads()
        )

    def _heads(self) -> Iterator[tuple[files.FirstRows, MappedRecords | None]]:
        """Yield the first records of each file that can be read twice, and its mapping."""
        for path in self._paths:
            if is_table(path) or files.is_read_once(path):
                continue
            head, mapping = files.first_rows(path), self._mappings.get(path)
            with suppress(FeedError):
                mapping = mapping_for_table(path, files.columns_of(head), mapping, lambda _: None)
            yield head, mapping


def mappings_of(
    paths: Sequence[str], config: Config, given: MappedRecords | None
) -> list[tuple[str, MappedRecords | None]]:
    """Return each path with its mapping; None where it has none.

    Args:
        paths: the files.
        config: the mapping of the feed that has the path, or whose pattern it matches; of the
            database that the path stands for.
        given: the mapping of the options, which completes that of a feed and takes precedence;
            None without one.
    """
    files_read = [f for f in config.feeds if isinstance(f, FileFeed)]
    configured = {path: feed_of(path, config) or _feed_of(path, files_read) for path in paths}
    return [(path, _completed(configured[path], given)) for path in paths]


def _completed(
    configured: MappedRecords | None, given: MappedRecords | None
) -> MappedRecords | None:
    """The mapping of the options, with what a configured feed says besides."""
    if configured is None or given is None:
        return given or configured
    values = {**configured.values, **given.values}
    for field in configured.values.keys() & given.values.keys():
        lists = given.values[field].model_dump(exclude_unset=True)
        values[field] = configured.values[field].model_copy(update=lists)
    time = configured.time.model_copy(update=given.time.model_dump(exclude_unset=True))
    fields = {**configured.fields, **given.fields}
    return given.model_copy(update={"fields": fields, "values": values, "time": time})


def _feed_of(path: str, feeds: Sequence[FileFeed]) -> FileFeed | None:
    """The feed of this path, else of the first one whose pattern it matches."""
    place = _place(path)
    same = (feed for feed in feeds if _place(fspath(feed.path)) == place)
    alike = (feed for feed in feeds if Path(place).match(_place(fspath(feed.path))))
    return next(chain(same, alike), None)


def _place(path: str) -> str:
    """A path however it is written: `./a.csv` and `a.csv` are one file."""
    return path if is_url(path) or path == files.STDIN else str(Path(path).resolve())


def _expanded(path: str) -> list[str]:
    """The objects of a pattern, which no shell expands; other paths as they are."""
    if not is_url(path):
        return [path]
    found = matching_objects(path)
    if not found:
        raise FeedError(f"{path}: no object matches; check the pattern")
    return found


def mapping_of(args: Namespace) -> MappedRecords | None:
    """Return the mapping of a command's options; None without one.

    Args:
        args: as parsed.

    Raises:
        UsageError: an option cannot be used.
    """
    fields: dict[str, object] = dict(_pairs("field", args.field))
    fields |= {name: {"value": value} for name, value in _pairs("constant", args.constant)}
    values: dict[str, dict[str, list[str]]] = {}
    for option in _LISTS:
        for field, value in _pairs(option, getattr(args, option)):
            values.setdefault(field, {}).setdefault(option, []).append(value)
    for lists in values.values():
        lists.setdefault("missing", []).append("")
    written = {"zone": args.zone, "unit": args.unit, "format": args.time_format}
    time = {name: value for name, value in written.items() if value}
    if not (fields or values or time):
        return None
    try:
        return mapped_records(fields, values, time)
    except ValueError as error:
        raise UsageError(f"mapping: {error}") from error


def _pairs(option: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, sign, value = text.partition("=")
        if not (name and sign):
            raise UsageError(f"--{option}: must be NAME=VALUE, got {text!r}")
        yield name, value
