"""Rules about modules: what they import, where they define things, how long and how named."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from flow import ORDER

import monitor

PACKAGE = Path(monitor.__file__).parent
ROOT_MODULES = (PACKAGE / "__init__.py", PACKAGE / "public.py")
"""They hand on names of every stage."""
EVERY_MODULE = sorted(PACKAGE.rglob("*.py"))
MODULES = [path for path in EVERY_MODULE if path not in ROOT_MODULES]

TESTS = Path(__file__).parent
OTHER_TESTS = {"benchmarks", "deploy", "golden", "system"}
"""Folders of tests that belong to no package: of speed and accuracy, `deploy/`, the whole."""

MOST_LINES = 350
MOST_LINES_OF_INIT = 39

SAME_MEANING = {
    "app": "the ASGI app of a listener: one for the exporter, one for the feed",
    "compare": "two things compared: versions by the command, time ranges by the API",
    "openapi": "a listener's OpenAPI document",
    "public": "the public names of a package, and those of the whole",
    "recorded": "recorded events: the commands that read them, and their comparison",
    "reference": "what before means: the settings, and the reference once it is mature",
    "routes": "the HTTP routes of a listener's part",
    "schema": "the schema of the configuration: the command prints what config defines",
    "source": "the protocol of a source, and Kafka's implementation",
    "threshold": "the command, and the search for a threshold",
}
"""Module names that several packages use for the same thing, with what it is."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def stage_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def imported_stages(path: Path) -> Iterator[str]:
    """Stages that a module imports from, wherever in its text."""
    for node in ast.walk(tree_of(path)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import hides its direction"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("monitor."))


def only_hands_on(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, an import, or an assignment of `__all__`."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=[]):
            return all(map(only_hands_on, body))
    return False


def shared(names: Iterator[tuple[str, Path]]) -> dict[str, list[str]]:
    """Names of several modules, with these."""
    found = defaultdict(set)
    for name, path in names:
        found[name].add(name_of(path))
    return {name: sorted(paths) for name, paths in found.items() if len(paths) > 1}


def public_classes() -> Iterator[tuple[str, Path]]:
    for path in EVERY_MODULE:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path


def inits() -> list[Path]:
    return [path for path in EVERY_MODULE if path.name == "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_from_its_left_in_the_flow(path: Path) -> None:
    left = ORDER[: ORDER.index(stage_of(path)) + 1]
    assert set(imported_stages(path)) - set(left) == set()


def test_every_stage_has_its_place() -> None:
    assert {stage_of(path) for path in MODULES} == set(ORDER)


def test_no_module_is_longer_than_350_lines() -> None:
    assert [name_of(p) for p in EVERY_MODULE if lines_of(p) > MOST_LINES] == []


def test_the_init_of_a_package_has_under_40_lines() -> None:
    assert [name_of(p) for p in inits() if lines_of(p) > MOST_LINES_OF_INIT] == []


def test_the_init_of_a_package_defines_nothing() -> None:
    assert [name_of(p) for p in inits() if not all(map(only_hands_on, tree_of(p).body))] == []


def test_no_two_public_classes_share_a_name() -> None:
    assert shared(public_classes()) == {}


def test_modules_share_a_name_only_where_it_means_the_same() -> None:
    modules = ((path.stem, path) for path in EVERY_MODULE if path.name != "__init__.py")
    found = shared(modules)
    assert found.keys() == SAME_MEANING.keys(), found


def test_folders_of_tests_mirror_those_of_the_program() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    own = {folder for folder in folders if folder.parts and folder.parts[0] not in OTHER_TESTS}
    assert (
        sorted(folder for folder in own if not (PACKAGE / folder / "__init__.py").is_file()) == []
    )
    packages = {
        path.parent.relative_to(PACKAGE).parts[0] for path in inits() if path.parent != PACKAGE
    }
    assert packages - {folder.parts[0] for folder in own} == set()
