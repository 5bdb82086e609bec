"""Questions to the monitor are answered by the thread that feeds it."""

import threading
from contextlib import contextmanager

import pytest

from monitor.engine import Monitor
from monitor.exporter.api.engine_access import EngineUnavailableError
from monitor.service.query_queue import MAX_WAITING, QueryQueue


def nothing(_):
    return None


@contextmanager
def asking(queries, read):
    found = []

    def ask():
        try:
            found.append(queries(read))
        except (EngineUnavailableError, ValueError) as error:
            found.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    yield found
    thread.join(10)


def test_a_question_is_answered_by_the_thread_that_feeds_the_monitor():
    queries, monitor = QueryQueue(), Monitor()
    with asking(queries, lambda _: threading.get_ident()) as found:
        while not queries.answer(monitor):
            pass
    assert found == [threading.get_ident()]
    assert not queries.answer(monitor)


def test_an_error_reaches_the_request_that_caused_it_and_no_other():
    queries, monitor = QueryQueue(), Monitor()
    with asking(queries, lambda monitor: monitor.history("nobody")) as found:
        while not queries.answer(monitor):
            pass
    assert isinstance(found[0], ValueError)


def test_waiting_requests_get_an_error_when_the_monitor_stops():
    queries = QueryQueue()
    with asking(queries, nothing) as found:
        while not queries._waiting:
            pass
        queries.close()
    assert isinstance(found[0], EngineUnavailableError)
    with pytest.raises(EngineUnavailableError, match="stopped"):
        queries(nothing)


def test_too_many_questions_are_refused_at_once():
    queries = QueryQueue()
    threads = [threading.Thread(target=_ignored, args=(queries,)) for _ in range(MAX_WAITING)]
    for thread in threads:
        thread.start()
    while len(queries._waiting) < MAX_WAITING:
        pass
    with pytest.raises(EngineUnavailableError, match="too many"):
        queries(nothing)
    queries.close()
    for thread in threads:
        thread.join(10)


def _ignored(queries):
    with pytest.raises(EngineUnavailableError):
        queries(nothing)
