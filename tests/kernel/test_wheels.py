"""Wheels as pip builds them, where a C compiler is and where none is."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FLIGHTS = ROOT / "monitor" / "demo" / "flights.ndjson.gz"


class Wheel(NamedTuple):
    """A wheel, unpacked."""

    name: str
    folder: Path

    def prints(self, *words: object) -> str:
        """What a command of this wheel's program prints."""
        command = [sys.executable, "-m", "monitor", *map(str, words)]
        environ = {name: value for name, value in os.environ.items() if name[:9] != "PRECISION"}
        environ["PYTHONPATH"] = str(self.folder)
        done = subprocess.run(
            command, env=environ, cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout


def wheel(folder: Path, **environ: str) -> Wheel:
    """Build a wheel with these variables in the environment."""
    folder.mkdir()
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    done = subprocess.run(
        command, env=os.environ | environ, capture_output=True, text=True, check=False
    )
    if "No matching distribution" in done.stderr:
        pytest.skip("pip finds no package index, and so no build backend")
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with ZipFile(path) as archive:
        archive.extractall(folder / "unpacked")
    return Wheel(path.name, folder / "unpacked")


@pytest.fixture(scope="module")
def default_wheel(tmp_path_factory):
    """As built on this machine: with the kernel where it has a compiler."""
    return wheel(tmp_path_factory.mktemp("default") / "wheel")


def test_wheels_with_and_without_the_kernel_are_built_for_the_same_versions_of_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]
    versions = jobs["pure-runs"]["strategy"]["matrix"]["python"]
    built = [f"cp{version.replace('.', '')}-*" for version in versions]
    assert project["tool"]["cibuildwheel"]["build"] == built
    assert project["project"]["requires-python"] == f">={versions[0]}"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pip") is None, reason="this environment has no pip")
def test_a_wheel_without_a_compiler_runs_and_counts_the_same_as_one_with(tmp_path, default_wheel):
    pure = wheel(tmp_path / "pure", PATH="", CC="no-compiler")
    assert pure.name.endswith("-py3-none-any.whl")
    assert not list(pure.folder.rglob("compiled.*.so"))
    assert pure.prints("--version").endswith(" (kernel: python)\n")
    counted = pure.prints("replay", FLIGHTS, "--json")
    assert '"delay-hgb-v1"' in counted
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here for the other wheel")
    assert not default_wheel.name.endswith("-none-any.whl")
    assert default_wheel.prints("--version").endswith(" (kernel: c)\n")
    assert default_wheel.prints("replay", FLIGHTS, "--json") == counted


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pip") is None, reason="this environment has no pip")
def test_a_wheel_has_every_file_of_the_program_and_no_c(default_wheel):
    made = default_wheel.folder / "monitor"
    kinds = {".pyc", ".so", ".c", ".h"}
    ours = {path.relative_to(ROOT / "monitor") for path in (ROOT / "monitor").rglob("*.*")}
    theirs = {path.relative_to(made) for path in made.rglob("*.*")}
    assert {path for path in ours if path.suffix not in kinds} == {
        path for path in theirs if path.suffix not in kinds
    }
    assert Path("demo/flights.ndjson.gz") in theirs
    assert not [path for path in theirs if path.suffix in (".c", ".h")]
