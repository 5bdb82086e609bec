"""Lazy loading of the public functions of `monitor.config`.

A program that builds a `Config` in Python reads no file: it loads neither PyYAML nor
the wording of errors.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "describe": "monitor.config.description",
    "json_schema": "monitor.config.schema",
    "load_config": "monitor.config.loader",
    "parse_config": "monitor.config.loader",
}


def load(name: str) -> Any:
    """Import and return a public function of the package.

    Args:
        name: the name without the prefix `monitor.config.`.

    Raises:
        AttributeError: the package has no public name like this.
    """
    if name not in _MODULES:
        raise AttributeError(f"module 'monitor.config' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
