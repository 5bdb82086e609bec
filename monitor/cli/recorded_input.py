"""Input of commands on recorded events: configuration, files, and checks of the records."""

from __future__ import annotations

from argparse import Namespace

from monitor.cli.given_config import given_config
from monitor.cli.mapped_files import RecordedFeed
from monitor.cli.output import tell
from monitor.cli.recorded_tables import table_names
from monitor.cli.unknown_segments import unknown_segments, warn_of_unknown_segments
from monitor.cli.usable import (
    NO_RECORDS,
    rejected_text,
    tell_of_repeats,
    tell_of_reversed,
    unjudged,
)
from monitor.config import Config, FileFeed
from monitor.errors import FeedError, UsageError
from monitor.snapshot import Snapshot


def config_of(args: Namespace) -> Config:
    """Return the configuration; `--segments` replaces its segment keys.

    Raises:
        MonitorError: the configuration has faults, or `--segments` names no key.
    """
    config = given_config(args)
    if args.segments is None:
        return config
    keys = tuple(dict.fromkeys(key for key in args.segments.split(",") if key))
    if not keys:
        raise UsageError(f"--segments: must name a key, got {args.segments!r}; write KEY,KEY")
    return with_segments(config, dict.fromkeys(config.models, keys), keys)


def with_segments(
    config: Config, by_model: dict[str, tuple[str, ...]], defaults: tuple[str, ...]
) -> Config:
    """Return the configuration with other segment keys.

    Args:
        config: the configuration.
        by_model: keys of each configured model.
        defaults: keys of all other models.
    """
    models = {name: model.with_segments(by_model[name]) for name, model in config.models.items()}
    rest = config.defaults.with_segments(defaults)
    return config.model_copy(update={"defaults": rest, "models": models})


def paths_of(args: Namespace, config: Config) -> list[str]:
    """Return the files to read.

    Args:
        args: as parsed.
        config: its files and databases are read where the command names no file.

    Raises:
        UsageError: there is no file.
    """
    configured = [str(f.path) for f in config.feeds if isinstance(f, FileFeed)]
    paths = [*args.files, *args.feed] or [*configured, *table_names(config)]
    if not paths:
        raise UsageError("FILE: must name recorded events; give files, or - for standard input")
    return paths


def check_usable(snapshot: Snapshot, feed: RecordedFeed, *, pairs: int = 0) -> None:
    """Print how many records were rejected, and warn where most of the others repeat an id.

    Args:
        snapshot: after all records.
        feed: what was read.
        pairs: further predictions of an id that are no duplicates, since versions are compared.

    Raises:
        FeedError: all were, or there is none.
    """
    if not snapshot.records:
        raise FeedError(NO_RECORDS)
    if text := rejected_text(snapshot, feed.faults):
        if sum(snapshot.rejected.values()) == snapshot.records:
            raise FeedError(text)
        tell(f"warning: {text}" if unjudged(snapshot, feed.faults) else text)
    tell_of_repeats(snapshot, feed.faults.notation, pairs)
    tell_of_reversed(snapshot, feed.faults.notation)
    feed.warn_of_order(snapshot)


def check_segments(snapshot: Snapshot, feed: RecordedFeed, *, asked: bool) -> None:
    """Refuse, or warn of, a segment key that no prediction has.

    Args:
        snapshot: after all records.
        feed: what was read.
        asked: the keys come from `--segments`.

    Raises:
        UsageError: a key of `--segments` is one.
    """
    if not asked:
        warn_of_unknown_segments(snapshot, feed)
        return
    for fault in unknown_segments(snapshot, feed).values():
        raise UsageError(f"--segments: {fault}")
