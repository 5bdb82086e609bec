"""`precision-monitor diagnose`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches

from monitor.cli.compared import Compared, settings_of
from monitor.cli.output import show, tell
from monitor.cli.progress import Progress
from monitor.clock import SystemClock
from monitor.config import Config, FileFeed, load_config
from monitor.diagnosis import Diagnosis, diagnose
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.errors import FeedError, UsageError
from monitor.exporters.diagnosis_json import diagnosis_json
from monitor.exporters.diagnosis_text import diagnosis_text
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings

_FINE, _FINDING = 0, 1


def run(args: Namespace) -> int:
    """Say why precision moved; exit code 1 where the verdict is one that was asked to fail."""
    failing = _verdicts(args.fail_on)
    config = _config(args)
    paths = _paths(args, config)
    monitor = Monitor(config)
    compared = Compared(monitor, args.model, before=args.before, after=args.after)
    torn = _feed(monitor, paths)
    diagnosis = _diagnosis(monitor, compared)
    _tell_what_was_not_used(monitor, args.segments)
    show(diagnosis_json(diagnosis) if args.json else diagnosis_text(diagnosis))
    if torn is not None:
        raise torn
    return _FINDING if diagnosis.verdict in failing else _FINE


def _verdicts(names: Sequence[str]) -> frozenset[Verdict]:
    known = [str(verdict) for verdict in Verdict]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"they are {', '.join(known)}"
            raise UsageError(f"--fail-on: no such verdict, got {name!r}; {hint}")
    return frozenset(map(Verdict, names))


def _config(args: Namespace) -> Config:
    """The configuration; `--segments` replaces what it breaks down by."""
    config = load_config(args.config) if args.config else Config.without_file()
    if args.segments is None:
        return config
    keys = tuple(dict.fromkeys(key for key in args.segments.split(",") if key))
    if not keys:
        raise UsageError(f"--segments: must name a key, got {args.segments!r}; write KEY,KEY")
    chosen = {"segments": keys}
    return config.model_copy(
        update={
            "defaults": config.defaults.model_copy(update=chosen),
            "models": {
                name: model.model_copy(update=chosen) for name, model in config.models.items()
            },
        }
    )


def _paths(args: Namespace, config: Config) -> list[str]:
    if args.url is not None:
        raise UsageError(
            f"--url: a running monitor cannot be asked in this version, which does not serve "
            f"/api/v1/diagnosis yet, got {args.url!r}; give its recorded events with --feed FILE"
        )
    paths = args.feed or [str(f.path) for f in config.feeds if isinstance(f, FileFeed)]
    if not paths:
        raise UsageError("--feed: must name recorded events; give --feed FILE, or - for stdin")
    return list(paths)


def _feed(monitor: Monitor, paths: list[str]) -> FeedError | None:
    """Count all events; the error of a torn file of which some could be read."""
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    progress = Progress(sys.stderr, SystemClock())
    try:
        for batch in files.read(paths, decoder, progress=progress):
            monitor.apply(batch)
    except FeedError as error:
        if not monitor.models or monitor.watermark_ms is None:
            raise
        return error
    finally:
        progress.close()
    return None


def _diagnosis(monitor: Monitor, compared: Compared) -> Diagnosis:
    model = compared.model()
    mature_until = compared.mature_until(model)
    after = compared.after(model)
    return diagnose(
        compared.before(model, after),
        after,
        model=model,
        labelling=settings_of(monitor.config, model).labelling,
        mature_until=mature_until,
    )


def _tell_what_was_not_used(monitor: Monitor, segments: str | None) -> None:
    snapshot = monitor.snapshot()
    rejected = {str(reason): n for reason, n in snapshot.rejected.items() if n}
    if rejected:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in rejected.items())
        tell(f"{sum(rejected.values()):,} records were rejected: {reasons}")
    for key in (segments or "").split(","):
        values = {s.value for s in snapshot.series if s.segment == key}
        if key and values <= {"__missing__"}:
            tell(f"--segments: no prediction carries the key {key!r}")
