"""YAML as plain values, with the line of each and everything that is wrong as YAML.

Every scalar stays the text that was written, except null: `no` is a name,
`12:30:45` is no number and `007` keeps its zeros. What a text means is decided
by the setting that it is for. Variables are filled in after parsing, inside
scalars, so that no variable can add a key.

Knows YAML and `${VAR}`, not the settings. Merges (`<<`) and tags are refused;
anchors and aliases work.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from monitor.errors import ConfigError

KeyPath = tuple[str | int, ...]
"""Where a value stands: keys of mappings and positions in lists, from the top."""

_DEEPEST = 20
_MOST_NODES = 10_000
_LONGEST_SHOWN = 60
_NULLS = ("null", "Null", "NULL", "~")
_PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_LITERAL = re.compile(r"[-+]?[0-9.][0-9_.eE+-]*|true|false", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")


class Fault(NamedTuple):
    """One thing that is wrong in a file.

    Attributes:
        line: from 1 on.
        path: where it is.
        text: what is wrong, what is there, and what is allowed.
    """

    line: int
    path: KeyPath
    text: str


class Place(NamedTuple):
    """Where a value was written, and how.

    Attributes:
        line: from 1 on.
        shown: the value as a message shows it.
    """

    line: int
    shown: str


@dataclass(slots=True)
class Document:
    """A YAML file as values.

    Attributes:
        value: mappings, tuples, text and None.
        places: where each value stands, by its path.
        faults: what is wrong already, whatever the settings are.
        broken: paths whose value is not the one meant; worth no further fault.
    """

    value: Any = None
    places: dict[KeyPath, Place] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    broken: set[KeyPath] = field(default_factory=set)


def read_document(text: str, name: str, environ: Mapping[str, str]) -> Document:
    """Values and lines of a YAML text that holds one mapping.

    Args:
        text: the YAML.
        name: what messages call it.
        environ: the variables that `${VAR}` can name.

    Raises:
        ConfigError: it is not YAML, empty, or no mapping.

    >>> read_document("models: {no: {threshold: .5}}", "m.yaml", {}).value
    {'models': {'no': {'threshold': '.5'}}}
    """
    node = _compose(text, name)
    if node is None:
        raise ConfigError((f"{name}: is empty; write at least 'models: {{NAME: {{}}}}'",))
    if not isinstance(node, yaml.MappingNode):
        kind = "a list" if isinstance(node, yaml.SequenceNode) else repr(node.value)
        fault = f"{name}:{_line(node)}: must be a mapping, got {kind}; start with 'models:'"
        raise ConfigError((fault,))
    walk = _Walk(name, environ)
    walk.document.value = walk.mapping(node, ())
    return walk.document


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        number, problem = _problem(error, text)
    except yaml.reader.ReaderError as error:
        number = text.count("\n", 0, error.position) + 1
        problem = f"holds the character U+{ord(text[error.position]):04X}"
    except RecursionError:
        number, problem = 1, "is nested too deeply"
    got = _text_of(number, text)[:_LONGEST_SHOWN]
    hint = "check quotes, brackets, indentation"
    if "\\t" in problem:
        hint = "indent by spaces, not tabs"
    elif "${" in got:
        hint = "put quotes around ${NAME} inside { } and [ ]"
    raise ConfigError((f"{name}:{number}: is not YAML: {problem}, got {got!r}; {hint}",)) from None


def _problem(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """The line to look at, and what PyYAML says about it."""
    problem = (error.problem or "cannot be parsed").removeprefix("but ")
    number = error.problem_mark.line + 1 if error.problem_mark else 1
    if error.context_mark is None:
        return number, problem
    began = error.context_mark.line + 1
    if not _text_of(number, text):  # the end of the text: what was never closed matters
        return began, f"{problem} ({error.context})"
    return number, f"{problem} ({error.context}, line {began})"


def _text_of(number: int, text: str) -> str:
    lines = text.splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


def shown_path(path: KeyPath) -> str:
    """A path as a message shows it, with a colon; nothing for the top.

    >>> shown_path(("models", "fraud.v2", "segments", 0))
    "models['fraud.v2'].segments[0]: "
    """
    text = ""
    for step in path:
        plain = isinstance(step, str) and step.replace("-", "_").isidentifier()
        text += f".{step}" if plain else f"[{step!r}]"
    return f"{text.removeprefix('.')}: " if path else ""


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _shown(node: yaml.Node, value: Any) -> str:
    if not isinstance(node, yaml.ScalarNode):
        text = _flow(value)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    if value is None:
        return "nothing"
    literal = node.style is None and _LITERAL.fullmatch(node.value)
    shown = node.value if literal else repr(value)
    return shown if value == node.value else f"{shown} (from {node.value!r})"


def _flow(value: Any) -> str:
    """A value in one line, about as it would be written."""
    if isinstance(value, dict):
        inside = (f"{_flow(key)}: {_flow(inner)}" for key, inner in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_flow, value))}]"
    if value is None:
        return "null"
    return str(value) if str(value).isprintable() else repr(value)


class _Walk:
    """One pass over the nodes, which fills a `Document`."""

    def __init__(self, name: str, environ: Mapping[str, str]) -> None:
        self.document = Document()
        self._name = name
        self._environ = environ
        self._nodes = 0

    def fault(self, node: yaml.Node, path: KeyPath, text: str) -> None:
        self.document.faults.append(Fault(_line(node), path, f"{shown_path(path)}{text}"))

    def broken(self, node: yaml.Node, path: KeyPath, text: str) -> None:
        """A fault that leaves no value to check."""
        self.fault(node, path, text)
        self.document.broken.add(path)

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self._nodes += 1
        if len(path) > _DEEPEST or self._nodes > _MOST_NODES:
            limits = f"keep to {_DEEPEST} levels and {_MOST_NODES} values, aliases counted"
            where = f"{self._name}:{_line(node)}"
            raise ConfigError((f"{where}: is nested too deeply or too large; {limits}",))
        if node.tag not in _PLAIN_TAGS:
            self.broken(node, path, f"must not have a tag, got {node.tag!r}; remove it")
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.entry(item, (*path, i)) for i, item in enumerate(node.value))
        return self.scalar(node, path) if isinstance(node, yaml.ScalarNode) else None

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            here = (*path, key) if isinstance(key, str) else path
            if not isinstance(key, str):
                self.fault(key_node, path, "has a key that is no text; write key: value")
            elif key in values:
                first = self.document.places[here].line
                text = f"key {key!r} is given twice, first in line {first}; keep one"
                self.fault(key_node, path, text)
            else:
                values[key] = self.entry(value_node, here, _line(key_node))
        return values

    def entry(self, node: yaml.Node, path: KeyPath, line: int | None = None) -> Any:
        """A value under a key or in a list, its place noted."""
        line = _line(node) if line is None else line
        value = self.value(node, path)
        self.document.places[path] = Place(line, _shown(node, value))
        return value

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> str | None:
        plain = node.style is None
        if plain and node.value in _NULLS:
            return None
        if plain and not node.value:
            if path[:-1] != ("models",):
                self.broken(node, path, "has no value; give it one or remove the key")
            return None
        return self.filled(node, path)

    def filled(self, node: yaml.Node, path: KeyPath) -> str:
        """The text of a scalar with its variables filled in."""

        def fill(match: re.Match[str]) -> str:
            literal, name, default = match.groups()
            if literal:
                return str(literal)
            if name is None:
                allowed = "write ${NAME}, ${NAME:-default}, or $${ for ${ itself"
                self.broken(node, path, f"names no variable, got {node.value!r}; {allowed}")
                return ""
            value = self._environ.get(name, "")
            if default is not None:
                return value or str(default)
            if name not in self._environ:
                allowed = f"set it or write ${{{name}:-default}}"
                self.broken(
                    node, path, f"variable {name} is not set, got {node.value!r}; {allowed}"
                )
            return value

        return _VARIABLE.sub(fill, node.value)
