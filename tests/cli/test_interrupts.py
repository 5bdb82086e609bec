"""Ctrl-C ends a command at any moment: nothing that numpy calls can lose the interrupt."""

import subprocess
import sys
from enum import EnumType

import pytest
from cli.commands import ran

from monitor.cli.demo_alerts import _SimulatedDays
from monitor.clock import ManualClock
from monitor.demo.faults.simulation import NORMAL, WORSE


@pytest.fixture
def asked(monkeypatch):
    """Members of enumerations that numpy asks whether they are arrays.

    Python 3.11 answers by code in Python, and numpy drops what that code raises; later versions
    answer without it, and are asked here in the same way.
    """
    found = []

    def note(cls, name):
        if name.startswith("__array"):
            found.append(f"{cls.__name__}.{name}")
        raise AttributeError(name)

    monkeypatch.setattr(EnumType, "__getattr__", note, raising=False)
    return found


def test_no_member_of_an_enumeration_becomes_an_array(asked):
    days = _SimulatedDays(list, ManualClock())
    for world in (NORMAL,) * 12 + (WORSE,) * 6:
        days._day(world)
    assert days.snapshot.windows[0].counts[0].tp > 0
    assert asked == []


def test_none_does_where_recorded_flights_are_counted_and_explained(asked, capsys):
    done = ran(capsys, "demo", "--no-serve", "--seconds", "0")
    assert (done.code, done.err) == (0, "")
    assert asked == []


IMPORTS = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
NAME = sys.argv.pop(1)

class Interrupts:
    def find_spec(name, *_):
        if name == NAME:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("cut short")  # as libraries in C do

sys.meta_path.insert(0, Interrupts)
from monitor.cli import main
code = main()
sys.exit(code if NAME in sys.modules else "never imported")
"""


@pytest.mark.parametrize("name", ["monitor.cli.entry", "monitor.cli.replay", "numpy"])
def test_ctrl_c_within_an_import_ends_the_command_without_a_fault(name):
    command = [sys.executable, "-c", IMPORTS, name, "replay", "-"]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
