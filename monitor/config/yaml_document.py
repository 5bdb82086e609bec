"""Parses YAML into plain values with their lines, and reports every fault in the YAML.

All scalars except null stay text: `no` is a name, `12:30:45` is not a number, and
`007` keeps its zeros. The type of a setting decides how its text is read. Variables
(`${VAR}`) are substituted after parsing, within scalars, so that a variable cannot
add a key.

Merges (`<<`) and tags are refused; anchors and aliases work.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from monitor.errors import ConfigError

KeyPath = tuple[str | int, ...]
"""Path of a value from the top: keys of mappings and positions in lists."""

_DEEPEST = 20
_MOST_NODES = 10_000
_LONGEST_SHOWN = 60
_NULLS = ("null", "Null", "NULL", "~")
_PLAIN_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
_LITERAL = re.compile(r"[-+]?[0-9.][0-9_.eE+-]*|true|false", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")


class ConfigFault(NamedTuple):
    """A fault in a configuration file.

    Attributes:
        line: line number, from 1.
        path: path of the invalid value.
        text: what is wrong, the value, and what is allowed.
    """

    line: int
    path: KeyPath
    text: str


class WrittenValue(NamedTuple):
    """A value as the file has it.

    Attributes:
        line: line number, from 1.
        shown: the value as messages show it.
    """

    line: int
    shown: str


@dataclass(slots=True)
class Document:
    """A parsed YAML file.

    Attributes:
        value: mappings, tuples, text and None.
        written: line and text of each value, by its path.
        faults: faults in the YAML itself.
        broken: paths without a usable value, whose further faults are not reported.
    """

    value: Any = None
    written: dict[KeyPath, WrittenValue] = field(default_factory=dict)
    faults: list[ConfigFault] = field(default_factory=list)
    broken: set[KeyPath] = field(default_factory=set)


def read_document(text: str, name: str, environ: Mapping[str, str]) -> Document:
    """Parse YAML text that contains one mapping.

    Args:
        text: the YAML.
        name: name of the text in messages.
        environ: variables for `${VAR}`.

    Raises:
        ConfigError: the text is not YAML, is empty, or is not a mapping.

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
    parser = _Parser(name, environ)
    parser.document.value = parser.mapping(node, ())
    return parser.document


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        number, problem = _problem(error, text)
    except yaml.reader.ReaderError as error:
        number = text.count("\n", 0, error.position) + 1
        problem = f"contains the character U+{ord(text[error.position]):04X}"
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
    """Line number and description of a problem that PyYAML reports."""
    problem = (error.problem or "cannot be parsed").removeprefix("but ")
    number = error.problem_mark.line + 1 if error.problem_mark else 1
    if error.context_mark is None:
        return number, problem
    began = error.context_mark.line + 1
    if not _text_of(number, text):  # at the end of the text: report where it begins
        return began, f"{problem} ({error.context})"
    return number, f"{problem} ({error.context}, line {began})"


def _text_of(number: int, text: str) -> str:
    lines = text.splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


def shown_path(path: KeyPath) -> str:
    """Format a path for a message, with a colon; empty for the top.

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
        text = _flow(node)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    if value is None:
        return "nothing"
    literal = node.style is None and _LITERAL.fullmatch(node.value)
    shown = node.value if literal else repr(value)
    return shown if value == node.value else f"{node.value!r} (with its variables)"


def _flow(node: yaml.Node) -> str:
    """Format a value on one line as the file has it, without the values of variables."""
    if isinstance(node, yaml.MappingNode):
        inside = (f"{_flow(key)}: {_flow(value)}" for key, value in node.value)
        return f"{{{', '.join(inside)}}}"
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(map(_flow, node.value))}]"
    text = str(node.value)
    if isinstance(node, yaml.ScalarNode) and node.style is None and text in _NULLS:
        return "null"
    return text if text.isprintable() else repr(text)


class _Parser:
    """Converts nodes to values in one pass, and fills a `Document`."""

    def __init__(self, name: str, environ: Mapping[str, str]) -> None:
        self.document = Document()
        self._name = name
        self._environ = environ
        self._nodes = 0

    def fault(self, node: yaml.Node, path: KeyPath, text: str) -> None:
        self.document.faults.append(ConfigFault(_line(node), path, f"{shown_path(path)}{text}"))

    def broken(self, node: yaml.Node, path: KeyPath, text: str) -> None:
        """Report a fault that leaves no value to validate."""
        self.fault(node, path, text)
        self.document.broken.add(path)

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self._nodes += 1
        if len(path) > _DEEPEST or self._nodes > _MOST_NODES:
            limits = f"use at most {_DEEPEST} levels and {_MOST_NODES} values, counting aliases"
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
                self.fault(key_node, path, "has a key that is not text; write key: value")
            elif key in values:
                first = self.document.written[here].line
                text = f"key {key!r} is given twice, first on line {first}; keep one"
                self.fault(key_node, path, text)
            else:
                values[key] = self.entry(value_node, here, _line(key_node))
        return values

    def entry(self, node: yaml.Node, path: KeyPath, line: int | None = None) -> Any:
        """Convert a value under a key or in a list, and record its line."""
        line = _line(node) if line is None else line
        value = self.value(node, path)
        self.document.written[path] = WrittenValue(line, _shown(node, value))
        return value

    def scalar(self, node: yaml.ScalarNode, path: KeyPath) -> str | None:
        plain = node.style is None
        if plain and node.value in _NULLS:
            return None
        if plain and not node.value:
            if path[:-1] != ("models",):
                self.broken(node, path, "has no value; give it one or remove the key")
            return None
        return self.substituted(node, path)

    def substituted(self, node: yaml.Node, path: KeyPath) -> str:
        """Return the text of a scalar with its variables replaced by their values."""

        def replacement(match: re.Match[str]) -> str:
            literal, name, default = match.groups()
            if literal:
                return str(literal)
            if name is None:
                allowed = "write ${NAME}, ${NAME:-default}, or $${ for ${ itself"
                self.broken(node, path, f"names no valid variable, got {node.value!r}; {allowed}")
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

        return _VARIABLE.sub(replacement, node.value)
