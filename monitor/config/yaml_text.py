"""Values as YAML that people can read, for the configurations that commands write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
"""Bare words that YAML does not read as text."""


def flow(value: Any) -> str:
    """Return a value on one line.

    >>> flow({"counts": {"tp": 1, "fp": 2}, "of": ["a b", "no"]})
    '{counts: {tp: 1, fp: 2}, of: ["a b", "no"]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value)


def scalar(text: str) -> str:
    """Return a text: bare where it is a plain name, else in quotes.

    >>> scalar("claims.csv"), scalar("yes"), scalar("${HOME}")
    ('claims.csv', '"yes"', '"$${HOME}"')
    """
    bare = text.replace("_", "").replace("-", "").replace(".", "").replace("/", "")
    named = bare.isalnum() and bare.isascii() and text[0].isalpha() and "${" not in text
    return (
        text
        if named and text.lower() not in _YAML_WORDS
        else json.dumps(text, ensure_ascii=False).replace("${", "$${")
    )
