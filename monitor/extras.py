"""Gives the command that installs an extra, in the way the program itself was installed."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_NAME = "precision-monitor"


def install_command(extra: str) -> str:
    """Return the command that installs an extra into this Python's environment.

    A program that was installed from a folder or a link is not on an index: the command
    names the same folder or link.

    Args:
        extra: such as `parquet`.
    """
    return f"{_pip()} install {_requirement(extra, _origin())}"


def _origin() -> dict[str, Any]:
    """Return pip's record of the program's source; empty where it came from an index."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        folder = Path(__file__).resolve().parents[1]
        return (
            {"url": folder.as_uri(), "dir_info": {}}
            if (folder / "pyproject.toml").is_file()
            else {}
        )
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def _requirement(extra: str, origin: dict[str, Any]) -> str:
    url = origin.get("url", "")
    if not url:
        return f"'{_NAME}[{extra}]'"
    if not url.startswith("file:"):
        version = origin.get("vcs_info", {})
        link = f"{version['vcs']}+{url}@{version['commit_id']}" if version else url
        return f"'{_NAME}[{extra}] @ {link}'"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{editable}'{unquote(urlsplit(url).path)}[{extra}]'"


def _pip() -> str:
    """The pip of this environment, by its full path inside a virtual environment."""
    pip = Path(sys.executable).with_name("pip")
    return str(pip) if sys.prefix != sys.base_prefix and pip.exists() else "pip"
