"""Shards that forward to a receiver, each a process with a state directory, in one thread."""

import asyncio

import httpx
from shards import lines_of
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.http import create_feed_app
from monitor.feeds.http.feed_settings import SETTINGS_HEADER, STATE_HEADER
from monitor.service.forward_requests import ReceiverAnswer, ReceiverAwayError

NOW = 1_700_000_000
EVERY = 10
TO = "forward http://receiver:9109/v1/events"
"""What a shard logs about its receiver begins with this."""


def config_of(folder, **more):
    """One configuration for shards and receiver, apart from what each has of its own."""
    model = {"label_timeout": "2h", "horizon": "1d", "segments": ["region"]}
    return Config(
        models={"a": model, "b": model},
        windows=["1h"],
        feeds=[{"type": "http", "listen": "127.0.0.1:0"}],
        state={"directory": folder, "checkpoint_every": "30s"},
        **more,
    )


def with_models(config, **changes):
    """The configuration with other settings of each model."""
    models = {name: one.model_copy(update=changes) for name, one in config.models.items()}
    return config.model_copy(update={"models": models})


def other_segments(config):
    """The configuration with models that start anew under it."""
    return with_models(config, segments=("region", "channel"))


class Written:
    """The feeds of a process, whose journal is written as soon as a request comes."""

    def __init__(self, process):
        self._process = process
        self.ready, self.fault = True, ""

    def store(self, posted):
        done = self._process.posted.store(posted)
        self._process.write()
        return done


class Cluster:
    """Shards and a receiver in one thread, each with a state directory of its own."""

    def __init__(self, folder, shards=3):
        self.folder, self.clock = folder, ManualClock(NOW)
        self.asked = []
        self.receiver = None
        self.generation = 0
        self.loses_answers = False
        self.start_receiver()
        self.shards = [self._shard(i) for i in range(shards)]

    def start_receiver(self):
        self.receiver = Process(self.receiver_config, self.clock)
        self.receiver.turn()

    @property
    def receiver_config(self):
        return config_of(self.folder / f"receiver-{self.generation}")

    def kill_receiver(self):
        if self.receiver is not None:
            self.receiver.close()
        self.receiver = None

    def lose_receiver(self):
        """Its state is gone, and it starts anew."""
        self.kill_receiver()
        self.generation += 1
        self.start_receiver()

    def return_to_receiver(self, generation):
        """An earlier one, with its state, takes the place of the present one."""
        self.kill_receiver()
        self.generation = generation
        self.start_receiver()

    def _shard(self, i):
        config = config_of(
            self.folder / f"shard-{i}", forward={"to": "http://receiver:9109", "every": f"{EVERY}s"}
        )
        shard = Process(config, self.clock, self.post)
        while not shard.posted.restored:
            shard.turn()
        return shard

    def kill_shard(self, i):
        self.shards[i].close()
        self.shards[i] = self._shard(i)

    def give(self, i, events):
        """Events posted to a shard, acknowledged and counted."""
        if not events:
            return
        done = self.shards[i].post(lines_of(events) + b"\n")
        self.shards[i].write()
        assert done.result(0) is None
        self.shards[i].turn()

    def wait(self, i):
        """Time for a checkpoint."""
        self.clock.sleep(EVERY / 2)
        self.shards[i].turn()
        self.shards[i].turn()

    def deliver(self, i):
        return self.shards[i].forwarder.deliver()

    def step(self, i, step):
        """A step of a law, for a shard or the receiver."""
        if step in ("wait", "deliver"):
            getattr(self, step)(i)
        elif step == "kill":
            self.kill_shard(i)
        elif step == "stop":
            self.shards[i].stop()
            self.shards[i] = self._shard(i)
        elif step == "away":
            self.kill_receiver()
        elif self.receiver is None:
            self.start_receiver()
        else:
            self.clock.sleep(31)  # a checkpoint
            self.receiver.turn()

    def post(self, lines, state):
        """A request to the receiver, by its own app."""
        self.asked.append(lines)
        if self.receiver is None:
            raise ReceiverAwayError("cannot be reached: refused")
        posted = self.receiver.posted
        settings_of_feed = posted._settings[0]
        app = create_feed_app(
            Written(self.receiver), self.receiver._decoder, settings_of_feed, self.clock
        )

        async def ask():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://r") as client:
                headers = {STATE_HEADER: state} if state else {}
                return await client.post("/v1/events", content=lines, headers=headers)

        answer = asyncio.run(ask())
        self.receiver.turn()
        if self.loses_answers and lines:
            raise ReceiverAwayError("cannot be reached: timed out")
        return ReceiverAnswer(
            answer.status_code,
            answer.headers.get(STATE_HEADER, ""),
            answer.content,
            settings=answer.headers.get(SETTINGS_HEADER, ""),
        )

    def settle(self):
        """Forward all that is left."""
        if self.receiver is None:
            self.start_receiver()
        for _ in range(8):
            for i in range(len(self.shards)):
                self.wait(i)
                self.deliver(i)
        self.receiver.settle()

    def received(self, now=None):
        return self.receiver.service._monitor.snapshot(now)

    def close(self):
        for process in (*self.shards, self.receiver):
            if process is not None:
                process.close()
