"""The real command whose state directory goes while it runs."""

import shutil
import signal

import httpx
import pytest
from benchmarks.kills import Service, until

from monitor.service.state_watch import StateWatch
from monitor.state import StateFault, StateFaults, StateGoneError

EVENT = b'{"type":"prediction","id":"%d","ts":1,"prediction":1}\n'


def test_what_is_gone_is_reported_once_and_so_is_its_return():
    gone, said, faults = [], [], StateFaults()

    def check():
        if gone:
            raise StateGoneError("state: was removed")

    watch = StateWatch([lambda: None, check], said.append, faults)
    for now in (False, True, True, False, False, True):
        gone[:] = [1] * now
        watch.look()
        assert watch.fault == ("state: was removed" if now else "")
    assert said == [
        "state: was removed; nothing is saved until then",
        "the state directory is in place again",
        "state: was removed; nothing is saved until then",
    ]
    assert faults.counts[StateFault.DIRECTORY_GONE] == 2


@pytest.fixture
def service(tmp_path):
    (tmp_path / "events.ndjson").touch()
    made = Service(tmp_path)
    made.start()
    made.until_ready()
    yield made
    made.kill()
    made.close()


def post(service, number):
    return httpx.post(f"{service.feed}/v1/events", content=EVENT % number)


@pytest.mark.slow
def test_while_the_state_directory_is_gone_nothing_is_acknowledged(tmp_path, service):
    assert post(service, 1).status_code == 200
    state = tmp_path / "state"
    state.rename(tmp_path / "elsewhere")
    refused = post(service, 2)
    assert refused.status_code == 503
    assert "the state directory was removed or replaced" in refused.json()["error"]
    assert str(tmp_path) not in refused.text
    until(lambda: not service.is_ready())
    readiness = httpx.get(f"{service.exporter}/readyz").text
    assert readiness == "not ready: the state directory was removed or replaced; see the log\n"
    assert httpx.get(f"{service.exporter}/healthz").status_code == 200
    assert httpx.get(f"{service.exporter}/metrics").status_code == 200
    until(lambda: service.faults() > 0)
    assert not state.exists()
    (tmp_path / "elsewhere").rename(state)
    service.until_ready()
    assert post(service, 2).status_code == 200
    assert service.kill() == -signal.SIGKILL
    service.start()
    service.until_ready()
    assert service.counts()["predictions"] == 2
    log = (tmp_path / "log").read_text()
    assert f"{state}: was removed or replaced" in log
    assert "the state directory is in place again" in log


def test_a_start_with_a_new_state_directory_says_that_counting_begins(tmp_path, service):
    shutil.rmtree(tmp_path / "state")
    assert post(service, 1).status_code == 503
    assert service.kill(signal.SIGTERM) == 0
    assert not (tmp_path / "state").exists()
    service.start()
    service.until_ready()
    log = (tmp_path / "log").read_text()
    assert log.count(f"no state in {tmp_path / 'state'}; counting begins") == 2
    assert post(service, 1).status_code == 200
