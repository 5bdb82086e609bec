"""The answer to a scrape: the series of the snapshot, then those of the process.

The first part is by far the longer one; it is rendered and compressed once for each
snapshot and format, however many clients scrape it. The second part is fresh each
time. Both go into one gzip stream: a copy of the compressor's state after the first part
continues it.

The answer has at most as many series as the limit allows, see `series_limit`.
"""

import sys
import threading
import zlib
from collections.abc import Callable
from typing import NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.openmetrics import exposition as openmetrics_encoder

from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.series_limit import LeftOut, limited
from monitor.prometheus.text import TextWriter
from monitor.snapshot import Snapshot

_GZIP_WINDOW = 31
"""zlib's number for: largest window, gzip header and trailer."""
_FASTEST = 1


class _Compressed(NamedTuple):
    """The part of the snapshot as gzip.

    Attributes:
        start: the bytes that the compressor has given so far.
        compressor: its state after them; copy it before use.
    """

    start: bytes
    compressor: "zlib._Compress"


class Exposition:
    """Renders scrapes; safe to use from any thread, one rendering at a time.

    Args:
        read: returns the latest snapshot; a rendering is reused while it returns the same object.
        registry: series that are not the snapshot's.
        limit: returns the maximum number of series, those of the registry included, which are
            always there; no limit by default.
        say: called when the limit leaves out something else than before.

    Attributes:
        left_out: what the limit leaves out of the latest snapshot.
    """

    def __init__(
        self,
        read: Callable[[], Snapshot],
        registry: CollectorRegistry,
        *,
        limit: Callable[[], int] = lambda: sys.maxsize,
        say: Callable[[LeftOut], None] = lambda _: None,
    ) -> None:
        self._read = read
        self._registry = registry
        self._limit = limit
        self._say = say
        self.left_out = LeftOut()
        self._writer = TextWriter()
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._texts: dict[bool, bytes] = {}
        self._compressed: dict[bool, _Compressed] = {}

    def render(self, *, openmetrics: bool = False, gzip: bool = False) -> bytes:
        """Return the body of an answer to a scrape.

        Args:
            openmetrics: use OpenMetrics 1.0.0 instead of Prometheus text.
            gzip: compress it.
        """
        encode = openmetrics_encoder.generate_latest if openmetrics else generate_latest
        with self._lock:
            text = self._text(openmetrics=openmetrics)
            rest = encode(self._registry)
            if not gzip:
                return text + rest
            start, compressor = self._compressed_text(text, openmetrics=openmetrics)
            compressor = compressor.copy()
            return start + compressor.compress(rest) + compressor.flush()

    def families(self) -> tuple[list[Metric], list[Metric]]:
        """Return what a scrape shows: the families of the snapshot, and those of the registry."""
        with self._lock:
            exported = self._limited(self._read())
        return list(SnapshotCollector(lambda: exported).collect()), list(self._registry.collect())

    def _text(self, *, openmetrics: bool) -> bytes:
        snapshot = self._read()
        if snapshot is not self._snapshot:
            self._snapshot, self._texts, self._compressed = snapshot, {}, {}
        if openmetrics not in self._texts:
            exported = self._limited(snapshot)
            self._texts[openmetrics] = self._writer.write(exported, openmetrics=openmetrics)
        return self._texts[openmetrics]

    def _limited(self, snapshot: Snapshot) -> Snapshot:
        own = sum(len(family.samples) for family in self._registry.collect())
        exported, left = limited(snapshot, self._limit() - own)
        before, self.left_out = self.left_out, left
        if left != before:
            self._say(left)
        return exported

    def _compressed_text(self, text: bytes, *, openmetrics: bool) -> _Compressed:
        if openmetrics not in self._compressed:
            compressor = zlib.compressobj(_FASTEST, zlib.DEFLATED, _GZIP_WINDOW)
            self._compressed[openmetrics] = _Compressed(compressor.compress(text), compressor)
        return self._compressed[openmetrics]
