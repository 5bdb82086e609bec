"""`precision-monitor spark`: what it needs, and what it says where that is missing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import monitor
from monitor.cli import main, spark

PACKAGE = Path(monitor.__file__).parent
WORDS = ["spark", "-c", "m.yaml", "--checkpoint", "ck", "--to", "out"]


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ("no_such_spark",))
    assert main([*WORDS, "--input", "in"]) == 2
    assert capsys.readouterr().err == (
        "precision-monitor: spark: no_such_spark is not installed; "
        "pip install 'precision-monitor[spark]', and Java 17\n"
    )


@pytest.mark.parametrize("words", [[], ["--input", "in", "--kafka", "b:1", "--topics", "t"]])
def test_exactly_one_input_is_asked_for(words, monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ())
    assert main([*WORDS, *words]) == 2
    assert "give either --input DIR, or --kafka BROKERS with --topics" in capsys.readouterr().err


def test_buckets_are_counted_from_one(capsys):
    with pytest.raises(SystemExit):
        main([*WORDS, "--input", "in", "--buckets", "0"])
    assert "must be an integer from 1 on, got '0'" in capsys.readouterr().err


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)


def test_only_the_job_itself_imports_spark():
    importing = {path for path in PACKAGE.rglob("*.py") if "pyspark" in imported(path)}
    assert importing == {PACKAGE / "distributed" / name for name in ("kafka.py", "spark.py")}


def test_the_core_and_every_other_command_do_without_spark():
    program = (
        "import sys, importlib, pkgutil, monitor, monitor.cli\n"
        "for module in pkgutil.walk_packages(monitor.__path__, 'monitor.'):\n"
        "    if module.name not in ('monitor.distributed.spark', 'monitor.distributed.kafka',\n"
        "                           'monitor.__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
