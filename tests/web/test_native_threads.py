"""Threads that granian begins end before `BackgroundServer.stop` returns."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from monitor.web import native_threads
from monitor.web.native_threads import name_this_thread, wait_for_threads

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc of Linux")

SLOW_LAST_CALL = """
import sys, threading, time, urllib.request
from asyncio import selector_events
from monitor.web.server import BackgroundServer

wake = selector_events.BaseSelectorEventLoop._write_to_self

def slow_wake(loop):
    wake(loop)
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.3)  # as on a loaded machine: the server ends, its native thread has not

class LongShutdown:
    def __del__(self, sleep=time.sleep):
        sleep(1)

async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x"})

selector_events.BaseSelectorEventLoop._write_to_self = slow_wake
sys.until_the_interpreter_has_shut_down = LongShutdown()
with BackgroundServer(app) as server:
    urllib.request.urlopen(server.url).read()
"""
"""Without the wait for native threads this program aborts (exit code -6)."""


@linux
def test_a_program_that_stops_its_server_and_ends_is_not_aborted():
    ended = subprocess.run([sys.executable, "-c", SLOW_LAST_CALL], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@linux
def test_threads_are_found_by_the_name_of_the_thread_that_began_them():
    inner_runs, end = threading.Event(), threading.Event()

    def outer():
        name_this_thread("outer-of-the-test")
        threading.Thread(target=lambda: (inner_runs.set(), end.wait())).start()

    threading.Thread(target=outer).start()
    assert inner_runs.wait(60)
    turns = []
    assert not wait_for_threads("outer-of-the-test", 0.05, sleep=turns.append)
    assert sum(turns) == pytest.approx(0.05)
    assert wait_for_threads("outer-of-the-test", 60, sleep=lambda _: end.set())


def test_no_thread_of_a_name_is_no_wait():
    assert wait_for_threads("nobody", 60, sleep=pytest.fail)


def test_a_kernel_that_refuses_a_name_does_not_stop_the_server(monkeypatch, tmp_path):
    (tmp_path / str(threading.get_native_id()) / "comm").mkdir(parents=True)  # cannot be written
    monkeypatch.setattr(native_threads, "_TASKS", tmp_path)
    name_this_thread("http-0")
    assert wait_for_threads("http-0", 60, sleep=pytest.fail)
