"""What starts the Python workers of Spark."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from monitor.distributed.spark_daemon import without_archive

STARTED = """
import os, sys, types
served = types.SimpleNamespace(manager=lambda: None)
sys.modules["pyspark.daemon"] = served
from monitor.distributed import spark_daemon
spark_daemon.main()
import pyspark
print(pyspark.__file__)
print(len(os.listdir("/proc/self/task")))
print(*{"monitor.join", "monitor.watch", "scipy", "pandas", "pyarrow"} & set(sys.modules))
"""


def archive_of(home):
    return Path(home, "python", "lib", "pyspark.zip")


@pytest.mark.dev("pyspark")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux does")
def test_workers_are_forked_from_installed_packages_without_threads_or_the_engine():
    home = Path(importlib.util.find_spec("pyspark").origin).parent
    given = {"PYTHONPATH": str(archive_of(home)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        env=os.environ | given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    origin, threads, imported = done.stdout.splitlines()
    assert (Path(origin), threads, imported) == (home / "__init__.py", "1", "monitor.join")


@pytest.fixture
def spark_home(tmp_path):
    """A directory to import from, with a Spark in it that has its archive."""
    home = tmp_path / "installed" / "pyspark"
    archive_of(home).parent.mkdir(parents=True)
    (home / "__init__.py").touch()
    with zipfile.ZipFile(archive_of(home), "w") as archive:
        archive.writestr("pyspark/__init__.py", "")
    return home


def test_the_archive_is_left_out_where_the_same_spark_is_installed(spark_home):
    path = [str(archive_of(spark_home)), "py4j-src.zip", str(spark_home.parent)]
    assert without_archive(path) == path[1:]


def test_the_archive_of_another_spark_stays(spark_home, tmp_path):
    other = archive_of(tmp_path / "opt")
    other.parent.mkdir(parents=True)
    archive_of(spark_home).rename(other)
    path = [str(other), str(spark_home.parent)]
    assert without_archive(path) == path
    archive_of(spark_home).touch()
    assert without_archive(path) == path


def test_the_archive_stays_where_no_spark_is_installed(spark_home, tmp_path):
    path = [str(archive_of(spark_home)), str(tmp_path / "empty")]
    assert without_archive(path) == path
