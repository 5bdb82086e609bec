"""Precision monitor: did the model get worse, or did positives become rarer?

`Monitor` counts predictions and labels; `ConfusionCounts`, `metrics` and `drift`
are useful on their own. `monitor/README.md` is the tour of the code.
"""

from typing import TYPE_CHECKING

from monitor.public import load as __getattr__
from monitor.version import __version__

if TYPE_CHECKING:
    from monitor import drift, metrics
    from monitor.config import Config, load_config
    from monitor.counts import ConfusionCounts
    from monitor.errors import MonitorError
    from monitor.python.comparing import compare
    from monitor.python.embedded import EmbeddedMonitor as Monitor
    from monitor.python.version_tables import compare_versions
    from monitor.snapshot import Snapshot

__all__ = [
    "Config",
    "ConfusionCounts",
    "Monitor",
    "MonitorError",
    "Snapshot",
    "__getattr__",
    "__version__",
    "compare",
    "compare_versions",
    "drift",
    "load_config",
    "metrics",
]
