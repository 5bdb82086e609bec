"""A module imports only from its left in the flow."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from flow import ORDER

import monitor

PACKAGE = Path(monitor.__file__).parent
FACE = (PACKAGE / "__init__.py", PACKAGE / "public.py")
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path not in FACE)


def stage_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_stages(path: Path) -> Iterator[str]:
    """Stages that a module imports from, wherever in its text."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import hides its direction"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("monitor."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_left_in_the_flow(path: Path) -> None:
    left = ORDER[: ORDER.index(stage_of(path)) + 1]
    assert set(imported_stages(path)) - set(left) == set()


def test_every_stage_has_its_place() -> None:
    assert {stage_of(path) for path in MODULES} == set(ORDER)
