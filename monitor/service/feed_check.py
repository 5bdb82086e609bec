"""Looks at what the configured feeds would read first, and counts none of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from monitor.config import Config, Feed, FileFeed, KafkaFeed, SqlFeed
from monitor.config.fields import is_url
from monitor.config.quantities import count_of
from monitor.errors import FeedError
from monitor.events.columns import VERSION_KEY, EventBatch
from monitor.events.record_order import RecordOrder
from monitor.events.reject_reasons import Rejection
from monitor.feeds import files
from monitor.feeds.blocks import TornError, blocks, pieces
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decompression import decompressed
from monitor.feeds.follow.names import matching
from monitor.feeds.mapping.guessing import Say
from monitor.feeds.mapping.mapped_lines import lines_decoder
from monitor.feeds.segment_keys import segment_keys
from monitor.feeds.sql.database_url import absent_file, fault_of_url

SQL_SECONDS = 10.0
"""How long a database may take to answer."""
_MOST_FILES = 20
_MOST_ROWS = 100
"""Rows of a database to look at."""


class Finding(NamedTuple):
    """What was seen of a feed.

    Attributes:
        is_fault: True where nothing, or not what the mapping names, would be read; False for
            what is worth knowing, or could not be looked at.
        text: one line.
        feed: that it was seen of; None until that is known.
        rejected: those of the records looked at that cannot be used.
    """

    is_fault: bool
    text: str
    feed: Feed | None = None
    rejected: Sequence[Rejection] = ()


def check_feeds(config: Config) -> list[Finding]:
    """Look at the first records of each feed: local files, and databases that answer.

    Args:
        config: with the feeds; those that `unavailable_feeds` names are left out.
    """
    settings = DecodeSettings.from_config(config)
    return [
        found._replace(text=f"feeds[{number}]: {found.text}", feed=feed)
        for number, feed in enumerate(config.feeds)
        for found in _found(feed, settings)
    ]


def _found(feed: Feed, settings: DecodeSettings) -> Iterator[Finding]:
    if isinstance(feed, FileFeed):
        yield from _files(feed, settings)
    elif isinstance(feed, SqlFeed) and not fault_of_url(feed.url.get_secret_value()):
        yield from _database(feed, settings)
    elif isinstance(feed, KafkaFeed):
        yield _unchecked("the messages of topics")


def _files(feed: FileFeed, settings: DecodeSettings) -> Iterator[Finding]:
    path = os.fspath(feed.path)
    if path == files.STDIN:
        yield _unchecked("standard input")
    elif is_url(path):
        yield _unchecked("objects of stores")
    else:
        there = [match for match in matching(path) if os.path.exists(match)]  # noqa: PTH110  # texts
        for match in there[:_MOST_FILES]:
            yield from _file(match, feed, settings)
        if len(there) > _MOST_FILES:
            yield _unchecked(f"{count_of(len(there) - _MOST_FILES, 'more file')}")
        if not there and feed.follow:
            yield _unchecked(f"{path}, which does not exist yet")


def _file(name: str, feed: FileFeed, settings: DecodeSettings) -> Iterator[Finding]:
    if not os.path.isfile(name):  # noqa: PTH113  # a text
        yield _unchecked(f"{name}, which is no regular file")
        return
    said: list[str] = []
    try:
        first = _first(name, feed, Decoder(settings), said.append)
        head = files.first_rows(name)
    except (FeedError, OSError, TornError) as error:
        yield _fault(str(error))
        return
    yield from (Finding(False, text) for text in said)
    if first is None or not first.records:
        yield _unchecked(f"{name}, which is empty")
        return
    if rejected := _rejected(first):
        yield rejected
        if rejected.is_fault:
            return
    yield from _disorder(name, first, feed)
    if len(first.predictions) or len(first.outcomes):
        yield from _missing_keys(name, head, feed, settings)
    if not head.tabular:
        whole = len(head.rows) < files.FIRST_ROWS and not feed.follow
        for absent in _absent(feed, files.columns_of(head), len(head.rows)):
            yield Finding(whole, f"{name}: {absent}")


def _first(name: str, feed: FileFeed, decoder: Decoder, say: Say) -> EventBatch | None:
    """The first events as `run` reads them: it guesses no names in files that grow."""
    if not feed.follow:
        return next(files.read([name], decoder, mappings={name: feed}, say=say), None)
    with Path(name).open("rb") as stream:
        block = next(blocks(decompressed(pieces(stream)), files.CHUNK_BYTES), None)
    lines = lines_decoder(decoder, feed)
    return None if block is None else lines.decode_lines(block.data, source=name)


def _missing_keys(
    name: str, head: files.FirstRows, feed: FileFeed, settings: DecodeSettings
) -> Iterator[Finding]:
    """Yield the configured segment keys that none of the first records has."""
    there = segment_keys(head.rows, feed, tabular=head.tabular)
    for key in settings.segment_keys:
        if key not in (*there, VERSION_KEY):
            looked = count_of(len(head.rows), "record")
            hint = f"there are {', '.join(there)}" if there else "there are none"
            yield Finding(False, f"{name}: segments: the first {looked} lack {key!r}; {hint}")


def _absent(feed: FileFeed, names: Collection[str], records: int) -> Iterator[str]:
    """Yield what the mapping of JSON names, and none of its records has."""
    for field, source in feed.fields.items():
        if isinstance(source, str) and not any(_reaches(source, name) for name in names):
            near = get_close_matches(source, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"they have {', '.join(names)}"
            looked = count_of(records, "record")
            yield f"fields.{field}: there is no {source!r} in the first {looked}; {hint}"


def _reaches(source: str, name: str) -> bool:
    """Return whether a name with dots is a value, lies within it, or has it within itself."""
    return f"{name}.".startswith(f"{source}.") or source.startswith(f"{name}.")


def _database(feed: SqlFeed, settings: DecodeSettings) -> Iterator[Finding]:
    answers: SimpleQueue[Finding | None] = SimpleQueue()
    # A daemon, so that a query that does not end does not delay the end of the program.
    asking = Thread(target=lambda: answers.put(_asked(feed, settings)), daemon=True)
    asking.start()
    try:
        found = answers.get(timeout=SQL_SECONDS)
    except Empty:
        found = _unchecked(f"the database, which has not answered for {SQL_SECONDS:.0f} s")
    if found is not None:
        yield found


def _asked(feed: SqlFeed, settings: DecodeSettings) -> Finding | None:
    """Run the query for its first rows; None where all can be used."""
    from monitor.feeds.sql.cursor import Cursor, CursorError  # noqa: PLC0415  # an extra
    from monitor.feeds.sql.row_decoder import RowDecoder  # noqa: PLC0415  # as above
    from monitor.feeds.sql.row_finder import find_rows  # noqa: PLC0415  # as above
    from monitor.feeds.sql.row_query import FailedQuery, QueryError, RowQuery  # noqa: PLC0415  # as above

    if absent := absent_file(feed.url.get_secret_value()):
        return _fault(FailedQuery.CONNECT.advised(f"no such file: {absent!r}; check the url"))
    try:
        found = find_rows(RowQuery(feed).read, feed.cursor, Cursor(feed.start, {}), _MOST_ROWS)
        rows = RowDecoder(f"sql {feed.name}", feed, Decoder(settings))
        batch = rows.decode(found.columns, found.fresh.rows)
    except QueryError as error:
        if error.reason is FailedQuery.CONNECT:
            why = f"the database, which cannot be reached from here: {error}"
            return _unchecked(error.reason.advised(why))
        return _fault(error.reason.advised(f"the query fails: {error}"))
    except (CursorError, FeedError) as error:
        return _fault(FailedQuery.COLUMNS.advised(str(error)))
    if not found.fresh.rows:
        return _unchecked("the rows of the database, of which there are none yet")
    return _rejected(batch)


def _disorder(name: str, first: EventBatch, feed: FileFeed) -> Iterator[Finding]:
    """Yield how far the first predictions are out of the order of time, if they are."""
    order, column = RecordOrder(), feed.fields.get("ts")
    order.add(first)
    if fault := order.fault(0, column if isinstance(column, str) else "ts"):
        yield Finding(False, f"{name}: {fault}")


def _rejected(batch: EventBatch) -> Finding | None:
    """Return why records of a batch are rejected, a fault where all are; None where none is."""
    if not batch.rejected:
        return None
    first, looked = batch.rejected[0], f"the first {count_of(batch.records, 'record')}"
    why = f"cannot be used, {first.position}: {first.reason}: {first.detail}"
    if len(batch.rejected) == batch.records:
        return _fault(f"{looked} {why}")._replace(rejected=batch.rejected)
    some = f"{len(batch.rejected):,} of {looked} {why}"
    return Finding(is_fault=False, text=some, rejected=batch.rejected)


def _fault(text: str) -> Finding:
    return Finding(is_fault=True, text=text)


def _unchecked(what: str) -> Finding:
    return Finding(is_fault=False, text=f"unchecked: {what}")
