"""A feed without a disk, whose stored events can be inspected and whose intake can fail."""

import asyncio
from concurrent.futures import Future

import httpx
import pytest

from monitor.clock import ManualClock
from monitor.errors import MonitorError
from monitor.feeds.decode import DecodeSettings, LiveDecoder, ModelFields
from monitor.feeds.http import FeedSettings, create_feed_app
from monitor.feeds.http.bodies import BodyLimits
from monitor.feeds.http.memory_budget import MemoryBudget
from monitor.web.access import Access

NOW = 1_700_000_000.0
MAX_BYTES = 100_000


class ListIntake:
    """An intake that stores events in a list, and counts them on demand."""

    def __init__(self):
        self.posted = []
        self.ready = True
        self.full = False
        self.fault = ""

    def store(self, posted):
        done = Future()
        if self.full:
            posted.reservation.release()
            done.set_exception(MonitorError("disk full"))
        else:
            self.posted.append(posted)
            done.set_result(None)
        return done

    def count(self):
        for posted in self.posted:
            posted.reservation.release()

    @property
    def lines(self):
        return b"".join(posted.lines for posted in self.posted)


class Client:
    """Sends requests to an ASGI app without a socket."""

    def __init__(self, app):
        self._app = app

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, **what):
        return self.request("POST", path, **what)

    def request(self, method, path, **what):
        async def ask():
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                return await client.request(method, path, **what)

        return asyncio.run(ask())


class Feed:
    """A feed with its client and its parts."""

    def __init__(
        self,
        tokens=(),
        max_bytes=MAX_BYTES,
        budget=4 * MAX_BYTES,
        seconds=5.0,
        threshold=None,
        *,
        decoding=None,
        **settings,
    ):
        self.intake = ListIntake()
        self.budget = MemoryBudget(budget)
        self.clock = ManualClock(NOW)
        settings = FeedSettings(
            name="feed",
            access=Access(tokens),
            limits=BodyLimits(max_bytes, seconds),
            budget=self.budget,
            **settings,
        )
        decoder = LiveDecoder(decoding or DecodeSettings(default=ModelFields(threshold)))
        self.app = create_feed_app(self.intake, decoder, settings, self.clock)
        self.client = Client(self.app)

    def inference_events(self):
        """The object that joins requests with responses."""
        (route,) = [route for route in self.app.routes if route.path == "/v1/cloudevents"]
        return route.endpoint.__self__._inference

    def post(self, body, path="/v1/events", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, content=body, headers=named)


@pytest.fixture
def make_feed():
    return Feed


@pytest.fixture
def feed():
    return Feed()
