"""`precision-monitor state`: inspects the state on disk, or changes it while no monitor runs."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from monitor.cli.output import show
from monitor.config.quantities import count_of, format_size, format_time, parse_time
from monitor.errors import UsageError
from monitor.events.columns import NO_TIME
from monitor.events.renumbering import State
from monitor.service.stopped_forwarding import stop_forwarding
from monitor.service.taking_back import take_back
from monitor.state import StateError, StateLock
from monitor.state.inspection import InspectedFile, inspect
from monitor.state.salvage import salvage

_DAMAGED = 1
_TORN = (
    "; its end is not whole: it never became durable, or is damaged; a start repairs it, or cuts "
    "it off"
)


def run(args: Namespace) -> int:
    """Print a line for each file, or the content of the newest good checkpoint.

    Returns:
        0, or 1 if a file is damaged; of `salvage`, if the copy lacks something.

    Raises:
        StateError: the directory cannot be read, or what is asked for cannot be written.
        UsageError: an option of the action is missing, or another action has it.
    """
    if (args.action == "salvage") != (args.to is not None):
        raise UsageError("--to: belongs to salvage; write state salvage DIR --to NEW_DIR")
    asked = args.model is not None, args.time is not None
    if asked != (args.action == "take-back",) * 2:
        raise UsageError(
            "--model, --time: belong to take-back; write state take-back DIR --model NAME "
            "--time 2026-11-01T00:00:00Z"
        )
    if args.action == "salvage":
        return _salvage(Path(args.directory), Path(args.to))
    if args.action == "take-back":
        return _take_back(Path(args.directory), args.model, args.time)
    if args.action == "stop-forwarding":
        with _locked(Path(args.directory)) as directory:
            show(stop_forwarding(directory))
        return 0
    found = list(inspect(Path(args.directory)))
    lines = _checked(found) if args.action == "check" else _shown(found)
    for line in lines:
        show(line)
    return _DAMAGED if any(file.fault for file in found) else 0


def _salvage(directory: Path, to: Path) -> int:
    lost = 0
    with StateLock(directory) if directory.is_dir() else nullcontext():
        for file in salvage(directory, to):
            lost += file.lost
            show(f"{file.path}: {file.text}")
    show(f"copied to {to}; {_incomplete(lost)}")
    return _DAMAGED if lost else 0


def _take_back(directory: Path, model: str, time: str) -> int:
    try:
        moment = parse_time(time)
    except ValueError as error:
        raise UsageError(f"--time: {error}, got {time!r}") from error
    with _locked(directory):
        show(take_back(directory, model, moment))
    return 0


@contextmanager
def _locked(directory: Path) -> Iterator[Path]:
    if not directory.is_dir():
        raise StateError(f"{directory}: is not a directory")
    with StateLock(directory):
        yield directory


def _incomplete(files: int) -> str:
    if not files:
        return "nothing is lost"
    return f"{files} {'file is' if files == 1 else 'files are'} incomplete"


def _checked(found: list[InspectedFile]) -> Iterator[str]:
    for file in found:
        yield f"{file.path}: {file.fault or _well(file)}"
    faults = sum(bool(file.fault) for file in found)
    yield (
        f"{count_of(len(found), 'file')}, {faults} damaged"
        if found
        else "no state in this directory"
    )


def _well(file: InspectedFile) -> str:
    if file.checkpoint is not None:
        records = file.checkpoint.state["engine"]["records"]
        return f"good, {format_size(file.nbytes)}, {count_of(records, 'record')}"
    requests = count_of(file.bodies, "request")
    return f"good, {format_size(file.nbytes)}, {requests}{_TORN if file.torn else ''}"


def _shown(found: list[InspectedFile]) -> Iterator[str]:
    good = [file for file in found if file.checkpoint is not None]
    journal = [file for file in found if file.path.suffix == ".journal"]
    if good and good[-1].checkpoint is not None:
        yield f"{good[-1].path}"
        yield from _described(good[-1].checkpoint.state)
    else:
        yield "no checkpoint"
    size = format_size(sum(file.nbytes for file in journal))
    requests = sum(file.bodies for file in journal)
    yield f"journal: {count_of(len(journal), 'segment')}, {size}, {count_of(requests, 'request')}"


def _described(state: State) -> Iterator[str]:
    engine = state["engine"]
    times = [m["time"] for m in engine["times"]["models"]] if "times" in engine else []
    watermark = max((time for time in times if time != NO_TIME), default=None)
    yield f"written: {format_time(round(state['at'] * 1000))} by version {state['version']}"
    yield f"counting since: {format_time(round(state['began'] * 1000))}"
    yield f"configuration: {state['fingerprint']}"
    yield f"records: {engine['records']}"
    yield f"watermark: {'none' if watermark is None else format_time(watermark)}"
    join, models = engine["join"], [model["name"] for model in engine["catalogue"]["models"]]
    yield f"models: {', '.join(models) or 'none'}"
    yield f"series: {len(engine['catalogue']['series'])}"
    yield f"predictions stored: {int((join['predictions'][:, 0] != 0).sum())}"
    yield f"labels waiting for their prediction: {len(join['held']['key'])}"
    for identity, position in state["positions"].items():
        yield f"position of {identity}: {json.dumps(position)}"
