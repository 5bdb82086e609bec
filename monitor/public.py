"""Lazy loading of the public names of the package `monitor`.

`import monitor` loads neither NumPy nor a submodule, and `precision-monitor --help`
starts quickly: each public name is imported when it is first used.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "Config": "monitor.config",
    "ConfusionCounts": "monitor.counts",
    "Monitor": "monitor.python.embedded",
    "MonitorError": "monitor.errors",
    "Snapshot": "monitor.snapshot",
    "compare": "monitor.python.comparing",
    "compare_versions": "monitor.python.version_tables",
    "load_config": "monitor.config",
}
_OWN_NAMES = {"Monitor": "EmbeddedMonitor"}
"""Public names that differ from those in their modules."""
_PACKAGES = ("drift", "metrics")


def load(name: str) -> Any:
    """Import and return a public name of the package.

    Args:
        name: the name without the prefix `monitor.`.

    Raises:
        AttributeError: the package has no public name like this.
    """
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), _OWN_NAMES.get(name, name))
    if name in _PACKAGES:
        return import_module(f"monitor.{name}")
    raise AttributeError(f"module 'monitor' has no attribute {name!r}")
