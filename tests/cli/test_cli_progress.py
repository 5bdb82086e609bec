import io

from monitor.cli.progress import Progress
from monitor.clock import ManualClock


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_one_line_renews_itself_and_leaves_nothing_behind():
    clock, terminal = ManualClock(), Terminal()
    progress = Progress(terminal, clock)
    for mebibytes in (1, 2, 3):
        clock.sleep(0.15)
        progress(mebibytes << 20, 0)
    progress.close()
    assert terminal.getvalue() == "\rread 2 MiB" + "\r" + " " * 10 + "\r"


def test_a_short_reading_says_nothing():
    clock, stream = ManualClock(), io.StringIO()
    progress = Progress(stream, clock)
    clock.sleep(4.9)
    progress(1 << 20, 1 << 20)
    progress.close()
    assert stream.getvalue() == ""
