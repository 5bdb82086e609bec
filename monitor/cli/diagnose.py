"""`precision-monitor diagnose`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.cli.diagnose_classes import (
    has_many_classes,
    run_classes,
    show_remote_classes,
)
from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show, tell
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.recorded_input import check_segments, check_usable, config_of, paths_of
from monitor.cli.rejected_predictions import RejectedPredictions
from monitor.cli.remote import Remote, remote_of
from monitor.cli.replay_text import so_far_text
from monitor.cli.status_text import status_lines
from monitor.diagnosis import Diagnosis, diagnose
from monitor.diagnosis.beginning import with_news
from monitor.diagnosis.ending_unjudged import with_unjudged_end
from monitor.diagnosis.ending_unlabelled import with_unlabelled_end
from monitor.diagnosis.label_notes import with_audits, with_label_sources
from monitor.diagnosis.predicted_versions import PredictedVersions
from monitor.diagnosis.recorded import RecordedComparison, settings_of
from monitor.drift import Verdict
from monitor.engine import CountingMonitor, Monitor
from monitor.errors import UsageError
from monitor.exporter.api.score_shares import scores_now, scores_text
from monitor.exporter.api.status_answer import StatusAnswer
from monitor.report.deciding_window import answering, deciding_window, label_fault_of
from monitor.report.diagnosis_json import diagnosis_json
from monitor.report.diagnosis_text import COLUMNS, diagnosis_text
from monitor.report.findings import with_model_now
from monitor.report.headline import headline
from monitor.snapshot import Snapshot

if TYPE_CHECKING:
    from monitor.cli.report_data import ReportData

_FINE, _FINDING = 0, 1


def run(args: Namespace) -> int:
    """Explain why precision moved.

    Returns:
        The exit code; 1 if `--fail-on` names the verdict.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    failing = _verdicts(args.fail_on)
    if args.url is not None:
        return _finding(_ask(args), failing)
    config = config_of(args)
    paths, mapping = paths_of(args, config), mapping_of(args)
    config = with_recorded_classes(config, paths, mapping)
    feed = RecordedFeed(paths, config, mapping)
    if has_many_classes(config, args.model):
        # Without --before, the reference is compared with, which only judging finds.
        classes = Monitor(config) if args.before is None else CountingMonitor(config)
        return run_classes(args, classes, feed, failing=failing)
    monitor = Monitor(config)
    compared = RecordedComparison(
        monitor,
        args.model,
        before=args.before,
        after=args.after,
        notation=feed.faults.notation,
    )
    data = None if args.html is None else _report_data(monitor, args.after)
    predicted, rejected = PredictedVersions(monitor), RejectedPredictions()
    for batch in feed.batches():
        monitor.apply(batch)
        predicted.add(batch)
        rejected.add(batch)
    monitor.carry(feed.reached())
    snapshot = monitor.snapshot()
    check_usable(snapshot, feed)
    check_segments(snapshot, feed, asked=args.segments is not None)
    try:
        diagnosis = rejected.beside(_diagnosis(monitor, compared, predicted))
    except UsageError:
        if not _ranges_or_form(args):
            _show_so_far(monitor, snapshot, args.model)
        raise
    if data is not None:
        _write(args.html, data.report(diagnosis), headline(diagnosis))
    else:
        show(diagnosis_json(diagnosis) if args.json else diagnosis_text(diagnosis))
    if feed.torn is not None:
        raise feed.torn
    return _finding(diagnosis.verdict, failing)


def _show_so_far(monitor: Monitor, snapshot: Snapshot, name: str | None) -> None:
    """Print the answers of the model that cannot be compared yet, where it is clear which it is."""
    asked = [one for one in snapshot.models if name in {None, one.name}]
    if len(asked) == 1:
        show(so_far_text(snapshot, asked[0], lambda one: scores_text(scores_now(monitor, one))))


def _ranges_or_form(args: Namespace) -> bool:
    """Return True if ranges or another form than text are asked for."""
    return bool(args.before or args.after or args.json or args.html)


def _show_status(remote: Remote, name: str | None) -> None:
    """Print the answers of a running monitor's model that cannot be compared yet."""
    status = remote.answer("status", {"model": name, "limit": "2"}, StatusAnswer)
    if len(status.models) == 1:
        show("\n".join(status_lines(status.models[0], COLUMNS)))


def _finding(verdict: str, failing: frozenset[Verdict]) -> int:
    return _FINDING if verdict in failing else _FINE


def _report_data(monitor: Monitor, after: str | None) -> ReportData:
    from monitor.cli.report_data import ReportData  # noqa: PLC0415  # needed for a report only

    return ReportData(monitor, after)


def _ask(args: Namespace) -> str:
    """Print the diagnosis of a running monitor; return its verdict, "" for none."""
    remote = remote_of(args)
    query = {"model": args.model, "before": args.before, "after": args.after}
    try:
        found = remote.json("diagnosis", query)
    except UsageError:
        if not _ranges_or_form(args):
            _show_status(remote, args.model)
        raise
    if "confusions" in found:
        return show_remote_classes(args, found, lambda: remote.text("diagnosis", query))
    if args.html is not None:
        from monitor.cli.report_data import remote_report  # noqa: PLC0415  # only a report needs it

        _write(args.html, remote_report(remote, query), found["headline"])
    else:
        show(json.dumps(found, indent=2) if args.json else remote.text("diagnosis", query).rstrip())
    return str(found["verdict"])


def _write(path: str, report: str, summary: str) -> None:
    try:
        Path(path).write_bytes(report.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"--html: cannot be written, got {path!r}: {error.strerror}") from error
    tell(f"{summary}\n{path}: written")


def _verdicts(names: Sequence[str]) -> frozenset[Verdict]:
    known = [str(verdict) for verdict in Verdict]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"they are {', '.join(known)}"
            raise UsageError(f"--fail-on: no such verdict, got {name!r}; {hint}")
    return frozenset(map(Verdict, names))


def _diagnosis(
    monitor: Monitor, compared: RecordedComparison, predicted: PredictedVersions
) -> Diagnosis:
    model = compared.model()
    mature_until = compared.mature_until(model)
    snapshot, state = monitor.snapshot(), compared.state(model)
    deciding = deciding_window(state, [one.name for one in snapshot.windows])
    answers = answering(state, deciding)
    after = compared.after(model, answers.length_ms)
    setting = settings_of(monitor.config, model)
    before = compared.before(model, after, answers.range_of_level)
    found = diagnose(
        before,
        after,
        model=model,
        labelling=setting.labelling,
        mature_until=mature_until,
        scatter=compared.day_scatter(model, before, after),
        objective=setting.objective.precision,
        fault=label_fault_of(state, deciding, after.source),
    )
    found = with_news(found, monitor, compared.now(model), predicted)
    found = with_unjudged_end(found, monitor.history, state)
    found = with_unlabelled_end(found, monitor, state)
    found = with_model_now(found, snapshot, state)
    number = monitor.models.index(model)
    errors = monitor.label_errors
    found = with_audits(found, errors.findings(number), errors.of(number), snapshot.lost_audits)
    return with_label_sources(found, monitor.label_sources.of(number))
