"""Settings of a feed over HTTP, and what its answers say of the state that they feed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from monitor.clock import SECOND_MS, Stopwatch
from monitor.config import Config, HttpFeed
from monitor.config.counting_settings import CountingSettings, counting_settings
from monitor.config.inference import InferenceConfig
from monitor.config.mapping import MappedRecords
from monitor.feeds.http.bodies import BodyLimits
from monitor.feeds.http.memory_budget import MemoryBudget
from monitor.web.access import Access, read_access

STATE_HEADER = "Precision-Monitor-State"
"""Identity of the state that has the events; a request that names another one is refused."""
SETTINGS_HEADER = "Precision-Monitor-Settings"
"""Digest of the settings by which events become counts, see `monitor.config.counting_settings`."""


@dataclass(slots=True, kw_only=True)
class FeedSettings:
    """Settings of a feed; may change while it runs.

    Attributes:
        name: prefix of the positions of records.
        access: authenticates clients.
        limits: limits of a body.
        budget: memory of all requests in progress.
        max_per_second: records per second that each client may send; None for no limit.
        inference: how to extract predictions from payloads of inference servers; None to
            refuse such payloads.
        mapping: which columns of posted events hold their fields; None where they are named
            like these.
        state_id: identity of the state that events are stored in; clients that name another
            one are refused.
        counting: the settings by which events become counts; none where answers do not say.
    """

    name: str
    access: Access
    limits: BodyLimits
    budget: MemoryBudget
    max_per_second: float | None = None
    inference: InferenceConfig | None = None
    mapping: MappedRecords | None = None
    state_id: str = ""
    counting: CountingSettings | None = None

    @classmethod
    def read(
        cls, feed: HttpFeed, config: Config, queue_full: Stopwatch, state_id: str = ""
    ) -> FeedSettings:
        """Return the settings of a configured feed.

        Args:
            feed: as configured.
            config: the configuration that it is of.
            queue_full: runs while requests are refused for want of memory.
            state_id: identity of the state.

        Raises:
            ConfigError: a token file or web configuration cannot be used.
        """
        return cls(
            name=feed.listen,
            access=read_access(feed.token_files, feed.web_config),
            limits=BodyLimits(feed.max_body_bytes, feed.body_timeout / SECOND_MS),
            budget=MemoryBudget(feed.max_queue_bytes, queue_full),
            max_per_second=feed.max_events_per_second,
            inference=feed.inference,
            mapping=feed if feed.is_mapped else None,
            state_id=state_id,
            counting=counting_settings(config),
        )

    def become(self, other: FeedSettings) -> None:
        """Adopt other settings from the next request on, except `name` and `inference`."""
        self.access, self.limits = other.access, other.limits
        self.max_per_second, self.mapping = other.max_per_second, other.mapping
        self.counting = other.counting
        self.budget.resize(other.budget.size)

    @property
    def refusal(self) -> dict[str, Any]:
        """What an answer to a request for another state says beside its headers."""
        return {} if self.counting is None else {"settings": self.counting.values}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of answers, by which senders know the state and how events are counted."""
        if self.counting is None:
            return {STATE_HEADER: self.state_id}
        return {STATE_HEADER: self.state_id, SETTINGS_HEADER: self.counting.digest}
