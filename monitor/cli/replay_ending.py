"""Last lines of `replay`: what was read, rejected and judged, and what to do next."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from textwrap import wrap

from monitor.cli.next_command import PIPED, next_command
from monitor.cli.parser.command import PROGRAM
from monitor.cli.rejected_predictions import many_predictions_rejected
from monitor.cli.rejected_records import RejectedRecords
from monitor.cli.usable import many_rejected, unjudged
from monitor.clock import DAY_MS, SECOND_MS
from monitor.config.quantities import count_of, format_time
from monitor.counts import Outcome
from monitor.diagnosis.ending_unlabelled import end_behind_a_week
from monitor.diagnosis.label_silence import labels_silent_since
from monitor.diagnosis.no_outcomes import without_outcomes
from monitor.diagnosis.time_ranges import JUDGED_MS
from monitor.diagnosis.unjudged_end import unjudged_end
from monitor.diagnosis.unlabelled_end import UnlabelledEnd
from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.drift.versions_compared import (
    COMPARABLE,
    DiagnoseCommand,
    VersionTraffic,
    compared_over_time,
)
from monitor.feeds.files import is_read_once
from monitor.labels.error_words import lost_audits_text, too_high_text
from monitor.labels.faults import LabelFault, fault_of_rates
from monitor.metrics.label_errors import NO_ERRORS
from monitor.report.compared import Compared
from monitor.report.deciding_window import deciding_window
from monitor.report.findings import of_model
from monitor.report.missing_evidence import useless_reference
from monitor.report.model_kinds import words_of
from monitor.report.printable import one_line
from monitor.report.two_answers import doubt_beside
from monitor.report.unjudged_words import unjudged_advice, unjudged_text
from monitor.snapshot import ModelState, Snapshot
from monitor.windows.history import History

_COLUMNS = 100
_NAMED = 3
_FEWEST_DAYS = 2
"""Days of outcomes of which one can be compared with the other."""
_DATE = len("2026-01-31")
_DEGRADED = words_of(Verdict.MODEL_DEGRADED, None).title.lower()


def ending(
    snapshot: Snapshot,
    args: Namespace,
    faults: RejectedRecords,
    history: Callable[[str], History],
    contradictions: Sequence[str] = (),
    *,
    of_times: str = "",
) -> str:
    """Return the last lines.

    Nothing counts as judged where most records were rejected, or those of a class, or where no
    record has a positive value; unless a model pages by the others all the same.

    Args:
        snapshot: after all records.
        args: of `replay`, as parsed.
        faults: of the rejected records.
        history: gives the hours of a model's totals.
        contradictions: as of `RecordedFeed`.
        of_times: a sentence on all times; "" for none.
    """
    notation = faults.notation
    unfit = "; ".join(contradictions) or _unfit(snapshot, faults)
    left_out = many_predictions_rejected(snapshot, faults)
    paging = {model.name for model in snapshot.models if model.watched.degradation_detected}
    if unfit and not paging:
        lines = wrap(f"{_read(snapshot)} Not judged: {unfit}.", _COLUMNS)
        fields = [text.partition(":")[0] for text in contradictions]
        options = " ".join(notation.classes(field, {"positive": ["VALUE"]}) for field in fields)
        lines += [f"Next: say which values are of the positive class: {options}."] if fields else []
        return "\n".join(lines)
    names = [window.name for window in snapshot.windows]
    found = {
        model.name: of_model(snapshot, model, deciding_window(model, names))
        for model in snapshot.models
    }
    uncounted = [f"Not counted: {one}." for one in (unfit or left_out,) if one]
    said = [_read(snapshot), of_times, *uncounted, *_judged(found, paging)]
    lines = wrap(" ".join(filter(None, said)), _COLUMNS)
    lines += _versions(snapshot, args, _first_worse(found, paging))  # a command stays on its line
    ends = dict(_unlabelled_ends(snapshot, found, history))
    distrusted = {one for one in ends if found[one].verdict is Verdict.LABELS_NOT_TRUSTWORTHY}
    awaited = _unjudged_ends(snapshot, distrusted, history)
    for name, end in (*ends.items(), *awaited):
        lines += wrap(f"{one_line(name)}: {end}.", _COLUMNS)
    if found or any(snapshot.events.values()):
        if blocked := _unknown_rates(snapshot, args, _moved(found, paging)):
            step = blocked
        elif not int(snapshot.lifetime.counts.total.sum()):
            step = f"{without_outcomes(snapshot, notation)}."
        elif many_rejected(snapshot) and not paging:
            step = "mend the records that were rejected, which no figure has: see stderr."
        else:
            is_final = all(map(_is_final, snapshot.models))
            stretches = partial(_stretches, snapshot, history)
            step = _next(found, paging, args, ends, stretches, is_final=is_final)
        piped = any(map(is_read_once, args.files)) and f" {PIPED}" in step
        lines.append(f"Next: {f'save standard input as {PIPED}; ' if piped else ''}{step}")
    return "\n".join(lines)


def _unfit(snapshot: Snapshot, faults: RejectedRecords) -> str:
    is_unused = sum(snapshot.rejected.values()) == snapshot.records
    return "" if is_unused else unjudged(snapshot, faults)


def _read(snapshot: Snapshot) -> str:
    rejected = {str(reason): n for reason, n in snapshot.rejected.items() if n}
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in rejected.items())
    unused = f"{sum(rejected.values()):,} rejected" + (f" ({reasons})" if reasons else "")
    text = f"{count_of(snapshot.records, 'event')} read, {unused}."
    if misnamed := snapshot.labels.misnamed:
        text += f" Labels of a class that their model does not have, without effect: {misnamed:,}."
    if snapshot.lost_audits is not None:
        clause = lost_audits_text(snapshot.lost_audits)
        text += f" {clause[0].upper()}{clause[1:]}."
    return text


def _judged(found: Mapping[str, Compared], paging: Collection[str]) -> Iterator[str]:
    """Yield what happened to each model, or how many models have each verdict."""
    words = {
        name: f"nothing yet ({one.obstacle})" if _is_open(one) else _happened(one)
        for name, one in found.items()
    }
    for name in paging:
        degraded = words[name] if found[name].verdict in DEGRADED else _DEGRADED
        words[name] = f"{degraded}, pages"
    words = {name: f"{text}{doubt_beside(found[name])}" for name, text in words.items()}
    if len(words) <= _NAMED:
        named = (f"{one_line(name)}: {text}" for name, text in words.items())
    else:
        tally = Counter(
            "nothing yet" if _is_open(one) and name not in paging else words[name]
            for name, one in found.items()
        )
        named = (f"{count_of(n, 'model')}: {text}" for text, n in tally.items())
    if words:
        yield f"Judged: {'; '.join(named)}."


def _happened(found: Compared) -> str:
    title = words_of(found.verdict, found.because).title.lower()
    if not found.worse_version:
        return title
    worse = found.worse_version[0].lower() + found.worse_version[1:]
    return worse if _is_quiet(found) else f"{title}, {worse}"


def _swapped(model: ModelState) -> tuple[VersionTraffic, VersionTraffic] | None:
    """Return the version before the newest, and the newest, which none predicted beside."""
    last = model.version_last_ms
    known = [
        VersionTraffic(name, 0, first, last[name])
        for name, first in sorted(model.versions, key=lambda one: one[1])
        if name in last
    ]
    before = max(known[:-1], key=lambda one: one.last, default=None)
    if before is None or before.last >= known[-1].first:
        return None
    return before, known[-1]


def _versions(snapshot: Snapshot, args: Namespace, following: str) -> Iterator[str]:
    """Yield how to compare the versions of each model but one, whose versions are next."""
    for model in snapshot.models:
        comparable = model.labelling in COMPARABLE and model.label_errors == NO_ERRORS
        now = model.versions_now
        shadows = () if now is None or now.shadows is None else now.shadows.versions
        versions = len({name for name, _ in (*model.versions, *shadows)})
        if versions > 1 and comparable and model.name != following:
            several = ["--model", model.name] if len(snapshot.models) > 1 else []
            beside = f" ({len(shadows):,} of them shadow)" if shadows else ""
            how = f"{next_command('compare', args, several)} compares the newest"
            if not shadows and (pair := _swapped(model)) is not None:
                command = next_command("diagnose", args, several)
                how = compared_over_time(*pair, DiagnoseCommand(command, SECOND_MS))
            yield f"{one_line(model.name)} has {versions:,} versions{beside}: {how}."


def _unknown_rates(snapshot: Snapshot, args: Namespace, moved: Sequence[str]) -> str:
    """Return what to do where rates of wrong labels are undefined; "" where they are not.

    `diagnose` compares nothing then.

    Args:
        snapshot: after all records.
        args: of `replay`, as parsed.
        moved: models to look at; of the first one.
    """
    model = next((one for one in snapshot.models if one.name in moved[:1]), None)
    if model is None or model.label_errors.known:
        return ""
    match fault_of_rates(model.configured_label_errors, model.audits):
        case LabelFault.LABEL_ERRORS_TOO_HIGH:
            high = too_high_text(model.configured_label_errors, model.label_limits)
            return f"lower the rates, or set `label_errors: audit`: {high}."
        case LabelFault.AUDITS_TOO_FEW:
            several = ["--model", model.name] if len(snapshot.models) > 1 else []
            command = next_command("audit", args, [*several, "--sample", "500"])
            return f"{command} draws cases to audit."
        case _:
            return "have cases labelled by people who do not see the prediction."


def _next(
    found: Mapping[str, Compared],
    paging: Collection[str],
    args: Namespace,
    ends: Mapping[str, UnlabelledEnd],
    stretches: Callable[[], list[str]],
    *,
    is_final: bool,
) -> str:
    """Return the next step where there are outcomes: by the verdict."""
    if moved := _moved(found, paging):
        several = ["--model", moved[0]] if len(found) > 1 else []
        if moved[0] not in ends:
            return f"{next_command('diagnose', args, several)} says why."
        week = ends[moved[0]].week_before
        command = next_command("diagnose", args, [*several, "--after", week])
        return f"{command} judges the week before, which has labels."
    if worse := _first_worse(found, paging):
        several = ["--model", worse] if len(found) > 1 else []
        return f"{next_command('compare', args, several)} shows both versions."
    if all(_is_open(one) or _is_too_few(one) for one in found.values()):
        more = "name another reference (--reference FILE)" if is_final else "replay more days"
        compared = next_command("diagnose", args, stretches())
        return f"{more}, or compare two stretches of time: {compared}."
    if args.config:
        return f"{PROGRAM} run -c {shlex.quote(args.config)} watches new events."
    return f"{next_command('init', args)} writes a configuration to watch new events."


def _stretches(snapshot: Snapshot, history: Callable[[str], History]) -> list[str]:
    """Return two stretches of mature outcomes to compare: the last week, or half, and all before.

    They are of the first model that has two days of them, which is named where there are several.
    Without one, letters stand for the times.
    """
    for model in snapshot.models:
        opens, cells = history(model.name)
        counted = opens[cells[:, : len(Outcome)].any(axis=1)]
        if not len(counted):
            continue
        first, mature = int(counted[0]) // DAY_MS, int(snapshot.windows[-1].close[model.row])
        end = min(mature // DAY_MS, int(counted[-1]) // DAY_MS + 1)
        if end - first < _FEWEST_DAYS:
            continue
        divide = end - min((end - first) // 2, JUDGED_MS // DAY_MS)
        days = [format_time(day * DAY_MS)[:_DATE] for day in (first, divide, end)]
        named = ["--model", model.name] if len(snapshot.models) > 1 else []
        return [*named, "--before", f"{days[0]}..{days[1]}", "--after", f"{days[1]}..{days[2]}"]
    return ["--before", "A..B", "--after", "C..D"]


def _unlabelled_ends(
    snapshot: Snapshot, found: Mapping[str, Compared], history: Callable[[str], History]
) -> Iterator[tuple[str, UnlabelledEnd]]:
    """Yield the stretch without labels of each model that it keeps from judging, or will soon."""
    for model in snapshot.models:
        distrusted = found[model.name].verdict is Verdict.LABELS_NOT_TRUSTWORTHY
        end = end_behind_a_week(model, history(model.name))
        if end is not None and (distrusted or labels_silent_since(model) is not None):
            yield model.name, end


def _unjudged_ends(
    snapshot: Snapshot, distrusted: Collection[str], history: Callable[[str], History]
) -> Iterator[tuple[str, str]]:
    """Yield what is known of the predictions that no verdict judges, for each other model."""
    for model in snapshot.models:
        lengths = [int((w.close - w.open)[model.row]) for w in snapshot.windows_of(model)]
        end = unjudged_end(model, history(model.name), max(lengths, default=0))
        if end is not None and model.name not in distrusted:
            yield model.name, ". ".join(filter(None, [unjudged_text(end), unjudged_advice(end)]))


def _moved(found: Mapping[str, Compared], paging: Collection[str]) -> list[str]:
    """Return the models of which a window shows a change, or that page."""
    return [
        name
        for name, one in found.items()
        if name in paging or not (_is_open(one) or _is_too_few(one) or _is_quiet(one))
    ]


def _first_worse(found: Mapping[str, Compared], paging: Collection[str]) -> str:
    """Return the model whose versions are the next to look at; "" where something else is."""
    worse = [name for name, one in found.items() if one.worse_version]
    return worse[0] if worse and not _moved(found, paging) else ""


def _is_final(model: ModelState) -> bool:
    """Return True where nothing can be compared with the reference, however many days follow."""
    reference = model.watched.reference
    replaced = reference is not None and reference.source == "trailing"
    return bool(useless_reference(model)) and not replaced


def _is_open(found: Compared) -> bool:
    """Return True where nothing is compared; a fault of labels is a result."""
    return bool(found.obstacle) and found.verdict is Verdict.INSUFFICIENT_EVIDENCE


def _is_too_few(found: Compared) -> bool:
    """Return True where the outcomes exclude nothing that matters."""
    return found.because is Because.TOO_FEW


def _is_quiet(found: Compared) -> bool:
    return found.verdict is Verdict.NO_CHANGE or found.because is Because.STEADY
