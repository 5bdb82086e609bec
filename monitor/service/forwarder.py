"""Forwards what a monitor has counted to the monitor that judges the whole.

Several monitors each see a part of the events, as a part of the partitions of a topic. Each
sends the changes of its counts to one receiver as `counts`, as the job on Spark does. Nothing
is lost and nothing counts twice, whichever of them is killed whenever:

- Changes are summed in the engine (`monitor.labels.forwarding`) and are a part of its state.
- A checkpoint **seals** them as a batch, unless an earlier one is still on its way: the batch is
  taken out of the engine and stored in the same checkpoint, under the next number. So each
  change is either in the engine of a checkpoint, or in its batch, or was acknowledged before.
- A batch is sent once **two** checkpoints have it. The last two checkpoints stay on disk, and a
  start takes the older one where the newer is damaged; so every start knows the batch
  that was sent last, with the same number and content, or comes before it was sent.
- It is sent again until it is acknowledged. The receiver replaces rows of the same source,
  batch and place. The source is the identity of this state, so that no two monitors share it.
- While the receiver is away nothing is sealed, and the sums grow with distinct places only. A
  stop seals and sends what is left, as far as it comes in a few seconds.

A receiver that begins anew lacks all that was acknowledged. Its answers name the identity of
its state, which is asked for before anything is sent, and each request names the one that it is
for; a receiver with another state refuses (412), and names its own. Then this monitor begins anew
with the counts of all predictions that it remembers, for that state alone. A state that has, or may
have, counts from before another one is sent nothing: they would count twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from monitor.clock import SECOND_MS, Clock
from monitor.config.counting_settings import CountingSettings
from monitor.config.forward import ForwardConfig
from monitor.config.quantities import without_account
from monitor.engine import Monitor
from monitor.events.renumbering import State
from monitor.feeds.acknowledgement import NOT_A_FEED, acknowledgement
from monitor.labels.forwarding import Forwarding
from monitor.prometheus.forward_series import FORWARD_UNSENT, FailureReason
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription
from monitor.service import forward_faults
from monitor.service.forward_faults import ForwardFaults
from monitor.service.forward_requests import Post, ReceiverAnswer, ReceiverAwayError, poster
from monitor.service.forward_rest import Rest, send_rest
from monitor.service.forwarded_batch import ForwardedBatch
from monitor.service.receiver_settings import ReceiverSettings
from monitor.state.state_errors import StateError

_EVENTS_A_REQUEST = 2048
_CHECKPOINTS = 2
"""Checkpoints that have a batch before it is sent."""
_OK, _TOO_LARGE, _ANOTHER_STATE = 200, 413, 412
_UNKNOWN = "?"
"""Names no state, so that the answer says which one there is."""


class Forwarder:
    """Seals batches at checkpoints, and sends them on a thread of its own.

    Args:
        config: of the forwarding.
        identity: of this state.
        settings: by which this monitor counts.
        clock: wall and monotonic time.
        say: prints a one-line message for the operator.
        post: posts to the receiver; over HTTP by default.
    """

    def __init__(
        self,
        config: ForwardConfig,
        identity: str,
        settings: CountingSettings,
        *,
        clock: Clock,
        say: Callable[[str], None],
        post: Post | None = None,
    ) -> None:
        self._every = config.every / SECOND_MS
        self._clock = clock
        to = without_account(config.url)
        self._say: Callable[[str], None] = lambda text: say(f"forward {to}: {text}")
        self._faults = ForwardFaults(self._every, self._say)
        self._settings = ReceiverSettings(settings, self._say)
        self._lock = threading.Lock()
        self._source = f"shard-{identity}"
        self._post = poster(config, self._source) if post is None else post
        self._number = 0
        self._batch: ForwardedBatch | None = None
        self._checkpoints = 0
        self._acknowledged = 0
        self._receiver = ""
        self._served: set[str] = set()
        self._begins_anew = ""
        self._sealed: float | None = None
        self._sent = 0
        self._most = _EVENTS_A_REQUEST
        self._collected: Callable[[], int] = lambda: 0
        self._is_ending = False
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def checkpoint_every(self) -> float:
        """Seconds between two checkpoints, at most."""
        return self._every / _CHECKPOINTS

    def begin(self, monitor: Monitor, state: State | None, *, anew: bool = False) -> None:
        """Take up the state of a checkpoint, and collect the changes of an engine.

        Args:
            monitor: the engine, restored.
            state: from `checkpoint`; None where this state has never been forwarded.
            anew: models start anew under the configuration, or are left out.

        Raises:
            StateError: it was counted without forwarding for a while since; or the configuration
                drops changes that are not sent.
        """
        if state is not None:
            if not monitor.forwarding.is_on:
                raise StateError(
                    "forward: was taken out of the configuration for a while, so that what was "
                    "counted then is not known apart from what was forwarded; leave it out, or "
                    "begin with a new state directory here and at the receiver"
                )
            self._source, self._number = state["source"], state["number"]
            self._receiver, self._faults.succeeded = state["receiver"], state["succeeded"]
            self._served = {*state.get("served", [self._receiver])} - {""}
            if state["batch"] is not None:
                self._batch = ForwardedBatch.restored(self._source, state["batch"])
                self._checkpoints = 1
        monitor.forwarding.switch(on=True)
        self.check(monitor.forwarding, anew=anew)
        self._collected = lambda: monitor.forwarding.waiting

    def check(self, forwarding: Forwarding, *, anew: bool) -> None:
        """Refuse a configuration under which changes would be lost, or may be.

        Those on their way may be: a receiver that begins anew gets what models remember instead.

        Args:
            forwarding: of the engine, restored under that configuration.
            anew: models start anew under it, or are left out.

        Raises:
            StateError: there are such changes.
        """
        with self._lock:
            sealed = self._batch.changes if anew and self._batch is not None else 0
        if unsent := forwarding.dropped + sealed:
            raise StateError(forward_faults.unsent_text(unsent))

    def checkpoint(self, monitor: Monitor) -> State:
        """Seal a batch if one is due; return the state, before that of the engine is copied.

        Args:
            monitor: the engine.
        """
        self._collected = lambda: monitor.forwarding.waiting
        with self._lock:
            if self._begins_anew:
                self._receiver, self._begins_anew = self._begins_anew, ""
                self._served.add(self._receiver)
                self._batch = self._sealed = None
                monitor.forwarding.collect_again()
            now = self._clock.monotonic()
            due = self._sealed is None or now - self._sealed >= self._every
            if self._batch is None and (due or self._is_ending):
                counts = monitor.forwarding.take(monitor.times)
                if len(counts.group):
                    self._number += 1
                    self._batch = ForwardedBatch(self._source, self._number, counts)
                    self._checkpoints, self._sealed, self._sent = 0, now, 0
            return {
                "source": self._source,
                "number": self._number,
                "receiver": self._receiver,
                "served": sorted(self._served),
                "succeeded": self._faults.succeeded,
                "batch": None if self._batch is None else self._batch.state(),
            }

    def written(self, state: State) -> None:
        """Note that a checkpoint is on disk.

        Args:
            state: what `checkpoint` returned for that checkpoint.
        """
        with self._lock:
            stored = state["batch"]
            is_same = stored and self._batch and stored["number"] == self._batch.number
            if is_same and state["receiver"] == self._receiver:
                self._checkpoints += 1
        self._wake.set()

    def deliver(self) -> float | None:
        """Send the batch if one may be sent, once.

        What changes no count goes in requests of its own: nothing is lost where it is rejected.

        Returns:
            Seconds after which to send it again; None where it was taken, or there is none.
        """
        return self._trying(self._deliver)

    def _trying(self, step: Callable[[], float | None]) -> float | None:
        try:
            return step()
        except ReceiverAwayError as error:
            return self._faults.failed(FailureReason.UNREACHABLE, str(error))

    def _deliver(self) -> float | None:
        with self._lock:
            batch, receiver = self._batch, self._receiver
            ready = self._checkpoints >= _CHECKPOINTS and not self._begins_anew
        if batch is None or not ready:
            return None
        if not receiver:
            return self._introduce()
        if (wait := self._send(batch, receiver)) is None:
            with self._lock:
                self._batch = None
            self._faults.taken(self._clock.now())
        return wait

    def _send(self, batch: ForwardedBatch, receiver: str) -> float | None:
        """Send what is left of a batch; return after how many seconds again, None for never."""
        while self._sent < len(batch):
            counting = self._sent < batch.changing
            until = batch.changing if counting else len(batch)
            end = min(self._sent + self._most, until)
            answer = self._post(batch.lines(self._sent, end), receiver)
            if answer.status == _TOO_LARGE and self._most > 1:
                self._most = max(1, min(self._most, end - self._sent) // 2)
                continue
            if answer.status != _OK:
                return self._refused(answer)
            if (taken := acknowledgement(answer.body)) is None:
                return self._faults.failed(FailureReason.REFUSED, NOT_A_FEED)
            if answer.state not in ("", receiver):
                with self._lock:
                    self._served.add(answer.state)
                return self._faults.failed(FailureReason.REFUSED, forward_faults.OTHER_TOOK)
            if counting:
                self._faults.note_rejected(batch.number, taken)
            self._sent = end
            if self._settings.is_due(answer):
                with suppress(ReceiverAwayError):  # the next batch asks again
                    self._settings.compare(self._post(b"", _UNKNOWN))
        return None

    def start(self) -> None:
        """Begin to send on a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="forward", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send no more; a request that still runs is left to its timeout."""
        self._stopping.set()
        self._wake.set()

    def send_rest(self, checkpoint: Callable[[], bool], *, restored: bool) -> None:
        """Send what is left, once nothing more is counted, and say whether all of it is taken.

        Args:
            checkpoint: writes a checkpoint; returns whether it is on disk.
            restored: whether all events from before the start are counted; else nothing is sent.
        """
        self.stop()
        if not restored:
            self._say(forward_faults.NOT_RESTORED)
            return
        self._is_ending = True
        has_all = send_rest(self._step, checkpoint, sending=self._thread, clock=self._clock)
        self._say(self._faults.rest(None if has_all else self._unsent()))

    def _step(self) -> Rest:
        """Send a batch if one may be sent; ask the receiver whether it has all if none is left."""
        waits = self.deliver()
        if waits is None and self._receiver and not self._unsent():
            waits = self._trying(self._ask)
        if waits is not None and not self._begins_anew:
            return Rest.FAILED
        return Rest.WAITS if self._begins_anew or self._unsent() else Rest.TAKEN

    def _ask(self) -> float | None:
        """Ask whether the receiver has the state that has all counts; as `deliver`."""
        answer = self._post(b"", _UNKNOWN)
        same = answer.status == _ANOTHER_STATE and answer.state == self._receiver
        return None if same else self._refused(answer)

    def compare(self, settings: CountingSettings) -> None:
        """Compare other settings of this monitor with those of the receiver from now on."""
        self._settings.become(settings)

    def readings(
        self, restored: Callable[[], bool]
    ) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Return the series of the forwarding, and how each is read.

        Args:
            restored: whether all events from before the start are counted; until then nobody
                knows how many changes are unsent, and there is no sample.
        """
        return {
            **self._faults.readings,
            **self._settings.readings,
            FORWARD_UNSENT: lambda: {(): float(self._unsent())} if restored() else {},
        }

    def _unsent(self) -> int:
        return self._collected() + (batch.changes if (batch := self._batch) else 0)

    def _introduce(self) -> float | None:
        """Ask which state the receiver has, so that each batch is for that state alone.

        The batch is sent once two checkpoints say which one: every start knows who may have it.
        """
        answer = self._post(b"", _UNKNOWN)
        if answer.status == _OK:
            return self._faults.failed(FailureReason.REFUSED, NOT_A_FEED)
        if answer.status != _ANOTHER_STATE or not answer.state or self._is_own(answer):
            return self._refused(answer)
        if self._settings.is_due(answer):
            self._settings.compare(answer)
        with self._lock:
            self._receiver, self._checkpoints = answer.state, 0
            self._served.add(answer.state)
        return None

    def _is_own(self, answer: ReceiverAnswer) -> bool:
        return self._source == f"shard-{answer.state}"

    def _refused(self, answer: ReceiverAnswer) -> float:
        known = not answer.state or answer.state in self._served or self._is_own(answer)
        if known or answer.status != _ANOTHER_STATE:
            return self._faults.refused(answer, is_own=self._is_own(answer))
        with self._lock:
            self._begins_anew = answer.state
        return self._faults.begun_anew()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            wait = None if self._stopping.is_set() else self.deliver()
            while wait is not None and not self._stopping.wait(wait):
                wait = self.deliver()
