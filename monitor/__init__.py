"""Precision monitor: did the model get worse, or did positives become rarer?

    feeds ─▶ decode ─▶ join ─▶ windows ─▶ metrics ─▶ drift ─▶ exporters
    bytes    columns   labels   which      pure       what     what people
    with a   of events meet     outcomes   functions  moved,   and machines
    position           their    count now  of counts  and why  read
                       prediction

`Monitor` is the flow up to the snapshot; `ConfusionCounts` and `metrics` are
useful on their own. Names are loaded when first used, so that importing the
package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor import drift, metrics
    from monitor.config import Config, load_config
    from monitor.counts import ConfusionCounts
    from monitor.engine import Monitor
    from monitor.errors import MonitorError
    from monitor.snapshot import Snapshot

__version__ = "0.1.0"

__all__ = [
    "Config",
    "ConfusionCounts",
    "Monitor",
    "MonitorError",
    "Snapshot",
    "drift",
    "load_config",
    "metrics",
]

_HOMES = {
    "Config": "monitor.config",
    "load_config": "monitor.config",
    "ConfusionCounts": "monitor.counts",
    "Monitor": "monitor.engine",
    "MonitorError": "monitor.errors",
    "Snapshot": "monitor.snapshot",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("metrics", "drift"):
        return import_module(f"monitor.{name}")
    raise AttributeError(f"module 'monitor' has no attribute {name!r}")
