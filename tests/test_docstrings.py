"""Docstrings of public functions: each lists its arguments, and the errors that it raises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "monitor"

_Function = ast.FunctionDef | ast.AsyncFunctionDef

REFERENCE = re.compile(r"\b(?:[Ss]ee|[Aa]s) `(?P<owner>\w+)\.(?P<name>\w+)`")
"""Phrase by which a method's docstring refers to the one with the same arguments and errors."""


class Documented(NamedTuple):
    """A public function with the docstring that has to describe it.

    Attributes:
        place: file and line.
        name: `function`, `Class.method`, or `Class` for its `__init__`.
        function: as parsed.
        docstring: of the class for an `__init__`, else its own.
    """

    place: str
    name: str
    function: _Function
    docstring: str

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments besides `self` and `cls`."""
        given = self.function.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        extra = [arg for arg in (given.vararg, given.kwarg) if arg]
        return [arg.arg for arg in [*named, *extra] if arg.arg not in {"self", "cls"}]

    @property
    def raises(self) -> bool:
        """True if the function itself raises an error."""
        return any(isinstance(node, ast.Raise) and node.exc for node in _own_nodes(self.function))


def _own_nodes(function: _Function) -> Iterator[ast.AST]:
    """Nodes of a function, without those of functions inside it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _public_functions(path: Path) -> Iterator[Documented]:
    """Public functions of a module and methods of its public classes; overloads left out."""
    yield from _in_body(ast.parse(path.read_text()), path.relative_to(PACKAGE.parent))


def _in_body(owner: ast.Module | ast.ClassDef, path: Path) -> Iterator[Documented]:
    prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
    for node in owner.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _in_body(node, path)
        elif isinstance(node, _Function):
            place = f"{path}:{node.lineno}"
            if node.name == "__init__":
                text = ast.get_docstring(owner) or ""
                yield Documented(place, prefix.rstrip("."), node, text)
            elif not node.name.startswith("_") and not _is_overload(node):
                yield Documented(place, prefix + node.name, node, ast.get_docstring(node) or "")


def _is_overload(function: _Function) -> bool:
    return any(ast.unparse(decorator) == "overload" for decorator in function.decorator_list)


@cache
def _all_public_functions() -> list[Documented]:
    modules = sorted(PACKAGE.rglob("*.py"))
    return [function for path in modules for function in _public_functions(path)]


@cache
def _by_name() -> dict[str, Documented]:
    return {function.name: function for function in _all_public_functions()}


def _described(function: Documented) -> str:
    """Its docstring, and that of the method of the same name to which it refers."""
    found = REFERENCE.search(function.docstring)
    own = function.name.rpartition(".")[2]
    if found and found["name"] == own and found["owner"] + "." + own != function.name:
        referred = _by_name().get(f"{found['owner']}.{own}")
        return f"{function.docstring}\n{referred.docstring if referred else ''}"
    return function.docstring


def _section(docstring: str, title: str) -> str:
    """Text of the sections of this title; empty without one."""
    sections = re.findall(rf"^{title}:\n((?:[ \t]+.*\n?|\n)*)", docstring, re.MULTILINE)
    return "\n".join(sections)


def _describes(section: str, argument: str) -> bool:
    return bool(re.search(rf"^ {{4}}\*{{0,2}}{argument}: ", section, re.MULTILINE))


def test_public_functions_with_two_arguments_describe_each() -> None:
    lacking = []
    for function in _all_public_functions():
        if len(function.arguments) > 1:
            section = _section(_described(function), "Args")
            found = [name for name in function.arguments if not _describes(section, name)]
            lacking += [f"{function.place}: {function.name}: {', '.join(found)}"] if found else []
    assert not lacking, "\n".join(["no Args for:", *lacking])


def test_described_arguments_exist() -> None:
    unknown = []
    for function in _all_public_functions():
        section = _section(function.docstring, "Args")
        named = re.findall(r"^ {4}\*{0,2}(\w+): ", section, re.MULTILINE)
        unknown += [
            f"{function.place}: {function.name}: {name}"
            for name in named
            if name not in function.arguments
        ]
    assert not unknown, "\n".join(["Args for what is no argument:", *unknown])


def test_public_functions_that_raise_say_what() -> None:
    lacking = [
        f"{function.place}: {function.name}"
        for function in _all_public_functions()
        if function.raises and not _section(_described(function), "Raises")
    ]
    assert not lacking, "\n".join(["no Raises for:", *lacking])


@pytest.mark.parametrize(
    ("text", "found"),
    [("One.\n\nArgs:\n    a: b.\n\nRaises:\n    E: c.", "    a: b.\n\n"), ("One.", "")],
)
def test_sections_end_where_the_next_begins(text: str, found: str) -> None:
    assert _section(text, "Args") == found
