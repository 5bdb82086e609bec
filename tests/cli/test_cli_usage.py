import os
import subprocess
import sys

import pytest
from cli.commands import ran

from monitor.cli.parser import COMMANDS
from monitor.cli.parser.command_line import EXIT_CODES
from monitor.kernel import kernel_in_use
from monitor.version import __version__

PROGRAM = [sys.executable, "-m", "monitor"]


def test_version_waits_for_no_library():
    heavy = "{'numpy', 'scipy', 'pydantic', 'starlette', 'msgspec'}"
    code = (
        "import atexit, sys; from monitor.cli import main; "
        f"atexit.register(lambda: print(sorted({heavy} & sys.modules.keys()))); main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"precision-monitor {__version__} (kernel: {kernel_in_use()})\n[]\n"


def test_garbage_is_searched_once_a_command_is_imported_and_never_in_its_modules():
    code = (
        "import gc, sys; from monitor.cli import main; began = []; usual = gc.get_freeze_count(); "
        "search = lambda phase, _: began.append(gc.get_freeze_count()) if phase == 'start' else 0; "
        "gc.callbacks.append(search); sys.argv[1:] = ['schema']; main(); "
        "print(gc.isenabled(), min([*began, gc.get_freeze_count()]) > usual, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "True True\n"


def test_an_unknown_kernel_is_wrong_usage(capsys, monkeypatch):
    monkeypatch.setenv("PRECISION_MONITOR_KERNEL", "rust")
    done = ran(capsys, "--version")
    assert done.code == 2
    assert "PRECISION_MONITOR_KERNEL: must be c or python, got 'rust'" in done.err


def test_help_names_every_command_with_examples_and_exit_codes(capsys):
    help_ = ran(capsys, "--help")
    assert help_.code == 0
    assert all(f"\n    {name}" in help_.out for name in COMMANDS)
    assert "examples:" in help_.out
    listed = " ".join(help_.out.partition("exit codes:")[2].split())
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning}".replace("`", "") in listed
    assert max(map(len, help_.out.splitlines())) <= 88


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_example(capsys, name):
    help_ = ran(capsys, name, "--help")
    assert help_.code == 0
    assert f"precision-monitor {name}" in help_.out.partition("examples:")[2]
    assert max(map(len, help_.out.splitlines())) <= 88


def test_no_command_shows_the_help_and_is_wrong_usage(capsys):
    nothing = ran(capsys)
    assert (nothing.code, nothing.out) == (2, "")
    assert "examples:" in nothing.err


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["replya"], "did you mean 'replay'?"),
        (["replay"], "FILE: must name recorded events; give files, or - for standard input"),
        (["run"], "the following arguments are required: -c/--config"),
        (["replay", "x", "--jsn"], "unrecognized arguments: --jsn"),
        (["demo", "--seconds", "-1"], "must be seconds from 0 to 86400, got '-1'"),
        (["demo", "--seconds", "nan"], "must be seconds from 0 to 86400, got 'nan'"),
        (["demo", "--listen", "here"], "--listen: must be an address with a port"),
    ],
)
def test_wrong_usage_is_one_line_on_stderr(capsys, words, reported):
    wrong = ran(capsys, *words)
    assert (wrong.code, wrong.out) == (2, "")
    assert reported in wrong.err
    assert wrong.err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_traceback():
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*PROGRAM, "schema"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_interrupt_is_no_traceback(capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("monitor.cli.schema.run", interrupted)
    assert ran(capsys, "schema") == (130, "", "")


def test_a_configuration_is_checked_without_the_engine():
    code = (
        "import sys, monitor.cli.check_config; print({'monitor.engine', 'scipy'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["compare", "F", "--last", "-3d"], "--last: must be a duration above 0, got '-3d'; "),
        (["compare", "F", "--last", "0d"], "--last: must be a duration above 0, got '0d'; "),
        (["compare", "F", "--last"], "--last: needs a value; write it like --last 7d; see "),
        (["compare", "F", "--last", "--json"], "--last: needs a value; write it like --last 7d; "),
        (["audit", "F", "--range", "-3d"], "--range: must be a range, got '-3d'; write A..B "),
        (["audit", "F", "--range"], "--range: needs a value; write it like --range 2026-07; "),
        (["diagnose", "F", "--before", "-3d"], "--before: must be a range, got '-3d'; write A..B"),
        (
            ["replay", "F", "--openmetrics", "F.out", "--step", "-3h"],
            "--step: must be a duration above 0, got '-3h'; write it like 1h",
        ),
        (
            ["rules", "--label-silence", "0d"],
            "--label-silence: must be a duration above 0, got '0d'; write it like 12h",
        ),
        (
            ["state", "take-back", "F", "--model", "m", "--time", "-3d"],
            "--time: must be a time; write a date like 2026-11-01 ",
        ),
        (["replay", "-c"], "--config: needs a value; write it like --config FILE; see "),
    ],
)
def test_a_time_that_cannot_be_used_is_reported_with_its_option_and_an_example(
    capsys, tmp_path, words, reported
):
    path = tmp_path / "F"
    path.write_text('{"id": "a", "ts": 0, "prediction": 1, "label": 1, "version": "1"}\n')
    done = ran(
        capsys, *(word.replace("F", str(path)) if word[0] == "F" else word for word in words)
    )
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert f": {reported}" in done.err
