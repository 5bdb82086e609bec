"""Settings of forwarding what was counted to another monitor."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from monitor.config import quantities as q
from monitor.config.fields import (
    BaseUrl,
    HeaderName,
    HeaderValue,
    PositiveDuration,
    Section,
    setting,
)

_PATH = "v1/events"
_OWN, _OWN_PREFIX = ("content-type", "content-encoding", "content-length"), "precision-monitor-"
_SHORTEST_MS, _LONGEST_MS = 100, 300_000


def _is_soon(every: int) -> int:
    if every > _LONGEST_MS:
        raise q.unfit("must be at most 5m", "lower it")
    if every < _SHORTEST_MS:
        raise q.unfit("must be at least 100ms", "raise it")
    return every


def _is_no_other_path(to: str) -> str:
    path = urlsplit(to).path.strip("/")
    if "/v1/" in f"/{path}/" and not path.endswith(_PATH):
        raise q.unfit("must not be another path of a feed than /v1/events", "leave it out")
    return to


def _is_not_own(name: str) -> str:
    if name.lower().startswith(_OWN_PREFIX) or name.lower() in _OWN:
        raise q.unfit("must not be a header that the monitor sets itself", "leave it out")
    return name


class ForwardConfig(Section):
    """Where a monitor that sees a part of the events sends what it has counted."""

    to: Annotated[BaseUrl, AfterValidator(_is_no_other_path)] = Field(
        description="URL of the http feed of the monitor that counts the whole, such as "
        "http://monitor:9109; /v1/events is added."
    )
    every: Annotated[PositiveDuration, AfterValidator(_is_soon)] = setting(
        "10s", "Wall time between two batches, 100ms to 5m; there are two checkpoints for each."
    )
    timeout: PositiveDuration = setting("10s", "A request that takes longer has failed.")
    headers: Mapping[Annotated[HeaderName, AfterValidator(_is_not_own)], HeaderValue] = setting(
        {}, "Headers of each request, such as those with a token; values stay hidden."
    )

    @property
    def url(self) -> str:
        """URL that counts are posted to."""
        base = self.to.rstrip("/")
        return base if base.endswith(f"/{_PATH}") else f"{base}/{_PATH}"
