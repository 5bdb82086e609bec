"""The loop turns while a long batch is counted, on a clock that moves by the work that is done."""

from itertools import pairwise

import pytest
from service.test_service_loop import StoredRejections
from streams import batch_of

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.prometheus.process_series import CLOCK, LOOP_STALL
from monitor.service.liveness import REMEMBERED_SECONDS, SIGN_EVERY_SECONDS, Liveness
from monitor.service.loop import PUBLISH_EVERY_SECONDS, TURN_SECONDS, Service
from monitor.watch.detection import Detection
from monitor.watch.reference_finder import ReferenceFinder

DAY = 86_400
DAYS = 14
MODELS = 2
WATCHDOG_SECONDS = 60
SECONDS_A_PANE, SECONDS_A_REFERENCE = 0.2, 0.02
"""Of a machine that is two hundred times slower than one of 2024."""


def backlog():
    """Days of two models in one batch: an event each quarter of an hour."""
    events = []
    for n in range(DAYS * 96):
        of = {"id": f"p{n}", "ts": n * 900}
        made = {"model": f"m{n % MODELS}", "prediction": n % 5 == 0, "segment": {"k": f"v{n % 7}"}}
        events += [
            {"type": "prediction", **of, **made},
            {"type": "label", **of, "label": n % 4 == 0},
        ]
    return events


class OneBatch:
    """A feed that has all of it at once, and then nothing."""

    name = identity = "one batch"
    attached = True
    ended = False

    def __init__(self, events):
        self._batches = [batch_of(events, segments=("k",))]

    def poll(self):
        return self._batches.pop() if self._batches else None

    def close(self):
        """Nothing is open."""


class Counting:
    """A service over a backlog; what it does takes time on its clock."""

    def __init__(self, monkeypatch):
        self.clock, self.signs, self.work = ManualClock(), [], 0.0
        self._takes(monkeypatch, Detection, "update", SECONDS_A_PANE)
        self._takes(monkeypatch, ReferenceFinder, "of", SECONDS_A_REFERENCE)
        given = {"counts": {"tp": 3_200, "fp": 1_200, "fn": 800, "tn": 4_800}}
        config = Config(
            defaults={
                "segments": ["k"],
                "label_timeout": "1d",
                "maturity": "0s",
                "reference": given,
            },
            windows=["1d"],
        )
        self.service = Service(
            config,
            [OneBatch(backlog())],
            clock=self.clock,
            rejected=StoredRejections(),
            say=lambda _line: None,
            alive=lambda: self.signs.append(self.clock.monotonic()),
        )

    def _takes(self, monkeypatch, of, name, seconds):
        original = getattr(of, name)

        def slow(*args, **named):
            self.work += seconds
            self.clock.sleep(seconds)
            return original(*args, **named)

        monkeypatch.setattr(of, name, slow)


@pytest.fixture
def counting(monkeypatch):
    return Counting(monkeypatch)


def test_a_sign_of_life_is_given_in_time_however_long_a_batch_takes(counting):
    counting.service.turn()
    assert counting.work > 2 * WATCHDOG_SECONDS, "one batch, longer than the watchdog waits"
    ends = [*counting.signs, counting.clock.monotonic()]
    silences = [after - before for before, after in pairwise(ends)]
    step = SECONDS_A_PANE + SECONDS_A_REFERENCE
    assert max(silences) <= SIGN_EVERY_SECONDS + TURN_SECONDS + step
    assert counting.service.liveness.stall <= TURN_SECONDS + step


def test_snapshots_are_published_and_questions_answered_within_a_batch(counting, monkeypatch):
    published, asked = [], []

    def noted(service, original=Service._publish):
        original(service)
        published.append(counting.clock.monotonic())

    def answered(monitor):
        asked.append(monitor.watermark_ms)
        return False

    monkeypatch.setattr(Service, "_publish", noted)
    monkeypatch.setattr(counting.service.queries, "answer", answered)
    counting.service.turn()
    gaps = [after - before for before, after in pairwise(published)]
    step = SECONDS_A_PANE + SECONDS_A_REFERENCE
    assert max(gaps) <= PUBLISH_EVERY_SECONDS + TURN_SECONDS + step
    assert len(asked) > counting.work / (TURN_SECONDS + step) - 1


def test_a_stall_is_reported_while_it_lasts_and_for_five_minutes_after():
    clock = ManualClock()
    liveness = Liveness(clock)
    assert liveness.stall == 0, "the loop does not turn yet"
    clock.sleep(100)
    liveness.turned()
    assert liveness.stall == 0, "what came before the first turn is no stall"
    for seconds in (3, 40, 2):
        clock.sleep(seconds)
        assert liveness.stall == max(seconds, 40 if seconds == 2 else 0)
        liveness.turned()
    clock.sleep(REMEMBERED_SECONDS - 2)
    assert liveness.stall == REMEMBERED_SECONDS - 2, "the one that lasts"
    liveness.turned()
    clock.sleep(0.5)
    assert liveness.stall == REMEMBERED_SECONDS - 2
    liveness.turned()
    clock.sleep(REMEMBERED_SECONDS)
    liveness.turned()
    clock.sleep(1)
    liveness.turned()
    assert liveness.stall == REMEMBERED_SECONDS
    for _ in range(400):
        clock.sleep(1)
        liveness.turned()
    assert liveness.stall == 1


def test_the_loop_says_how_long_it_stalled_at_the_exporter(counting):
    counting.service.turn()
    readings = counting.service.liveness.readings
    assert readings[LOOP_STALL]() == {(): counting.service.liveness.stall}
    assert set(readings) == {CLOCK, LOOP_STALL}


def test_the_clock_of_the_host_is_at_the_exporter():
    clock = ManualClock(1_700_000_000.5)
    assert Liveness(clock).readings[CLOCK]() == {(): 1_700_000_000.5}
