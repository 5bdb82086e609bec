import threading

import pytest

from monitor.state import Body, Commits, Journal, StateFullError

DEADLINE = 120


class Disk:
    """A sync that waits to be let through, or fails."""

    def __init__(self):
        self.open = threading.Event()
        self.open.set()
        self.waits = threading.Event()
        self.broken = False
        self.syncs = 0

    def sync(self, _):
        if not self.open.is_set():
            self.waits.set()
        assert self.open.wait(DEADLINE)
        self.syncs += 1
        if self.broken:
            raise OSError(28, "No space left on device")


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
def reported():
    return []


@pytest.fixture
def commits(tmp_path, disk, reported):
    with Journal(tmp_path, sync=disk.sync) as journal:
        journal.append([Body(0, b"begun")])
        commits = Commits(journal, say=reported.append)
        commits.start()
        yield commits
        disk.open.set()
        commits.close()


def nothing(_):
    pass


def test_what_waits_meanwhile_shares_the_next_sync(commits, disk):
    disk.open.clear()
    before = disk.syncs
    stored = []
    waiting = [commits.submit(Body(i, b"x"), lambda _, i=i: stored.append(i)) for i in range(100)]
    assert not any(done.done() for done in waiting)
    disk.open.set()
    for done in waiting:
        done.result(DEADLINE)
    assert stored == list(range(100))
    assert disk.syncs - before <= 2


def test_a_body_is_stored_before_it_is_done(commits):
    stored = []
    done = commits.submit(Body(1, b"x"), lambda _: stored.append(1))
    done.add_done_callback(lambda _: stored.append(2))
    done.result(DEADLINE)
    assert stored[0] == 1


def test_while_the_disk_is_full_bodies_fail_and_it_is_reported_once(commits, disk, reported):
    disk.broken = True
    stored = []
    for _ in range(3):
        with pytest.raises(StateFullError):
            commits.submit(Body(1, b"x"), lambda _: stored.append(1)).result(DEADLINE)
    assert stored == []
    disk.broken = False
    commits.submit(Body(1, b"x"), nothing).result(DEADLINE)
    assert ["No space left" in line for line in reported] == [True, False]
    assert reported[1] == "the journal can be written again"


def test_closing_keeps_what_waits_and_refuses_what_comes_later(commits, disk):
    disk.open.clear()
    first = commits.submit(Body(1, b"x"), nothing)
    closing = threading.Thread(target=commits.close)
    closing.start()
    disk.open.set()
    closing.join(DEADLINE)
    assert first.result(DEADLINE) is None
    with pytest.raises(StateFullError, match="the program is stopping"):
        commits.submit(Body(1, b"x"), nothing).result(DEADLINE)


def test_who_no_longer_waits_does_not_stop_it(commits):
    stored = threading.Event()
    assert not commits.submit(Body(1, b"x"), lambda _: stored.set()).cancel()
    assert stored.wait(DEADLINE)


@pytest.fixture
def old_segments(tmp_path, disk):
    """A journal of three segments, and the commits that append to it."""
    with Journal(tmp_path, segment_bytes=1, sync=disk.sync) as journal:
        for number in range(3):
            journal.append([Body(number, b"x")])
        commits = Commits(journal, say=nothing)
        commits.start()
        yield journal, commits
        disk.open.set()
        commits.close()


def test_the_loop_waits_for_no_disk_while_segments_are_deleted(old_segments, disk, tmp_path):
    journal, commits = old_segments
    disk.open.clear()
    commits.delete_before(journal.end)
    assert disk.waits.wait(DEADLINE)
    journal.check_place()
    assert journal.nbytes
    disk.open.set()
    commits.close()
    assert len(list(tmp_path.glob("*.journal"))) == 1


def test_segments_that_cannot_be_deleted_are_reported_by_the_next_call(old_segments, disk):
    journal, commits = old_segments
    disk.broken = True
    commits.delete_before(journal.end)
    with pytest.raises(StateFullError):
        commits.submit(Body(9, b"x"), nothing).result(DEADLINE)
    disk.broken = False
    with pytest.raises(StateFullError, match="No space left"):
        commits.delete_before(journal.end)


def test_a_new_segment_holds_nobody_up_who_asks_for_the_place(old_segments, disk):
    journal, commits = old_segments
    disk.open.clear()
    stored = commits.submit(Body(4, b"x"), nothing)
    assert disk.waits.wait(DEADLINE)
    journal.check_place()
    disk.open.set()
    stored.result(DEADLINE)
