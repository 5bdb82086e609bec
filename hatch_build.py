"""Builds the compiled kernel into the wheel where a C compiler is, and nothing where none is.

Hatchling runs this hook for `pip install .`, `pip install -e .` and a wheel. Without the kernel
the wheel is one for every platform, and the program runs in Python alone.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.errors import BaseError, CCompilerError

MODULE = "monitor.kernel.compiled"
SOURCES = "monitor/kernel"


class KernelBuildHook(BuildHookInterface):
    """Compiles the C files of `SOURCES`; the wheel has the result as `MODULE`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel before the wheel is written.

        Args:
            version: "editable" where the checkout itself is installed.
            build_data: what the wheel is made of besides the configuration.
        """
        self.folder = Path(tempfile.mkdtemp())
        try:
            built = compiled(Path(self.root, SOURCES), self.folder)
        except (BaseError, CCompilerError, OSError) as error:
            self.app.display_warning(f"without the compiled kernel: {error}")
            return
        if version == "editable":
            place = Path(self.root, SOURCES, built.name)
            place.unlink(missing_ok=True)  # a program that runs keeps the file it has loaded
            shutil.copy2(built, place)
        else:
            packed = Path(SOURCES, built.name).as_posix()
            build_data["force_include"][str(built)] = packed
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what the compiler wrote; see `BuildHookInterface.finalize`."""
        shutil.rmtree(self.folder, ignore_errors=True)


def compiled(sources: Path, folder: Path) -> Path:
    """Compile the kernel, and return the extension module.

    The module has the SHA-256 of its sources, by which the program recognizes one that was
    built from others.

    Args:
        sources: the folder of the C files and their headers.
        folder: where the compiler writes.

    Raises:
        CCompilerError: there is no compiler, or it cannot compile these sources.
    """
    files = sorted(sources.glob("*.[ch]"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    macros = [("SOURCE_DIGEST", f'"{digest}"')]
    units = [str(file) for file in files if file.suffix == ".c"]
    extension = Extension(MODULE, units, define_macros=macros, extra_compile_args=["-O3"])
    build = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
    build.build_lib, build.build_temp = str(folder / "built"), str(folder / "objects")
    build.ensure_finalized()
    build.run()
    return Path(build.get_ext_fullpath(MODULE))
