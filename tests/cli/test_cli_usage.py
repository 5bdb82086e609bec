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
        (["replay"], "the following arguments are required: FILE"),
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
