"""`precision-monitor spark`: what it needs, and its error if that is missing."""

import ast
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

import monitor
from monitor.cli import main, spark
from monitor.cli.parser import build_parser
from monitor.errors import MonitorError
from monitor.extras import install_command

PACKAGE = Path(monitor.__file__).parent
SPARK_MODULES = ("kafka_records", "spark_job", "spark_layout", "spark_query", "spark_tasks")
OTHER_EXTRAS = ("opentelemetry", "authlib", "cachetools", "fastavro", "google")
"""Packages of the extras `otlp` and `kafka-schemas`, by the names that are imported."""
WORDS = ["spark", "-c", "m.yaml", "--checkpoint", "ck", "--to", "out"]


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ("no_such_spark",))
    assert main([*WORDS, "--input", "in"]) == 2
    assert capsys.readouterr().err == (
        "precision-monitor: spark: no_such_spark is not installed; "
        f"{install_command('spark')}, and Java 17\n"
    )


@pytest.mark.parametrize("words", [[], ["--input", "in", "--kafka", "b:1", "--topics", "t"]])
def test_exactly_one_input_is_asked_for(words, monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ())
    assert main([*WORDS, *words]) == 2
    assert "give either --input DIR, or --kafka BROKERS with --topics" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "given", "reported"),
    [
        ("--buckets", "0", "must be an integer of at least 1, got '0'"),
        ("--files-per-batch", "0", "must be an integer of at least 1, got '0'"),
        ("--every", "soon", "must be like 10s, 1m or 1 minute, got 'soon'"),
        ("--source", " ", "must be a name"),
        ("--patience", "x", "must be seconds from 0 to 86400, got 'x'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_before_spark_starts(option, given, reported, capsys):
    with pytest.raises(SystemExit):
        main([*WORDS, "--input", "in", option, given])
    assert reported in capsys.readouterr().err


def test_shadow_versions_are_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(spark, "_NEEDED", ())
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {m: {segments: [version], shadow_versions: [challenger]}}")
    assert main([*WORDS, "-c", str(path), "--input", "in"]) == 2
    assert "leave shadow_versions out of the configuration" in capsys.readouterr().err


def test_a_configuration_that_forwards_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(spark, "_NEEDED", ())
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {m: {}}\nstate: {directory: s}\nforward: {to: 'http://h:1'}")
    assert main([*WORDS, "-c", str(path), "--input", "in"]) == 2
    assert "leave forward out of the configuration" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "data"), [("part-0", b"PAR1..."), ("part-0.parquet", b"anything")]
)
def test_parquet_without_its_format_is_refused(name, data, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(spark, "_NEEDED", ())
    (tmp_path / name).write_bytes(data)
    (tmp_path / "_SUCCESS").touch()
    assert main([*WORDS, "--input", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.endswith(f"{name} is a Parquet file; give --format parquet\n")
    assert main([*WORDS, "--input", str(tmp_path), "--format", "parquet"]) == 2
    assert "m.yaml" in capsys.readouterr().err  # only its configuration is missing


STARTS = "precision-monitor: Spark would start\n"


@pytest.fixture
def answer(monkeypatch, tmp_path, capsys):
    """What the command says to some input, with a configuration that it takes."""
    for name in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)

    def start():
        raise MonitorError("Spark would start")

    monkeypatch.setattr(spark, "_NEEDED", ())
    monkeypatch.setattr(spark, "_hush_pandas", start)
    (path := tmp_path / "monitor.yaml").write_text("models: {m: {}}")

    def answered(*words):
        assert main([*WORDS, "-c", str(path), "--input", *map(str, words)]) == 2
        return capsys.readouterr().err

    return answered


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_input_that_is_not_there_is_refused_before_spark_starts(scheme, answer, tmp_path):
    given = f"{scheme}{tmp_path}/evnets"
    assert answer(given) == f"precision-monitor: --input {given}: no such directory\n"
    (tmp_path / "evnets").mkdir()
    assert answer(given) == STARTS


@pytest.mark.parametrize(
    ("words", "variable"),
    [
        (["hdfs://host/events"], ""),
        (["s3a://bucket/events"], ""),
        (["events/part-*"], ""),
        (["events", "--master", "spark://host:7077"], ""),
        (["events"], "PYSPARK_GATEWAY_PORT"),
        (["events"], "HADOOP_CONF_DIR"),
    ],
)
def test_input_that_only_spark_can_look_for_is_left_to_it(words, variable, answer, monkeypatch):
    if variable:
        monkeypatch.setenv(variable, "1")
    assert answer(*words) == STARTS


def test_lines_given_as_parquet_are_refused_before_spark_starts(answer, tmp_path):
    (events := tmp_path / "events").mkdir()
    (events / "_SUCCESS").write_text("done")
    (events / "a.empty").touch()
    words = events, "--format", "parquet"
    assert answer(*words) == STARTS
    (events / "part-0").write_text('{"id": "a"}\n')
    assert answer(*words) == (
        f"precision-monitor: --input {events}: part-0 is not a Parquet file; leave out --format "
        "parquet if the files are NDJSON\n"
    )
    for head in (b"PAR1", b"PARE"):
        (events / "part-0").write_bytes(head + b"...")
        assert answer(*words) == STARTS


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"id,ts,prediction,label\na,0,1,1\n", "a table of text, as CSV"),
        (b"id\tts\na\t0\n", "a table of text, as CSV"),
        (b'[{"id": "a"},\n {"id": "b"}]\n', "an array of JSON"),
        (b"ARROW1\0\0" + bytes(99), "an Arrow file"),
    ],
)
def test_what_is_no_lines_is_refused_before_spark_starts(answer, tmp_path, data, kind):
    (events := tmp_path / "events").mkdir()
    (events / "part-0").write_bytes(data)
    assert answer(events) == (
        f"precision-monitor: --input {events}: part-0 is {kind}, and the job reads NDJSON, a "
        "record a line, or Parquet (--format parquet); convert it\n"
    )


PACKED = gzip.compress(b"a,b\n1,2\n", mtime=0)


@pytest.mark.parametrize("data", [b'{"id": "a"}\n', b"\n", PACKED, b"{oops"])
def test_what_may_be_lines_is_read(answer, tmp_path, data):
    (events := tmp_path / "events").mkdir()
    (events / "part-0").write_bytes(data)
    assert answer(events) == STARTS


def test_a_file_as_input_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(spark, "_NEEDED", ())
    (path := tmp_path / "events.ndjson").touch()
    for given in (str(path), f"file://{path}"):
        assert main([*WORDS, "--input", given]) == 2
        assert f"--input {given}: is a file; give its directory" in capsys.readouterr().err


def test_parquet_from_kafka_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ())
    assert main([*WORDS, "--kafka", "b:1", "--topics", "t", "--format", "parquet"]) == 2
    assert "--format parquet goes with --input" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--input", "in", "--records-per-batch", "5"],
        ["--kafka", "b:1", "--topics", "t", "--files-per-batch", "5"],
    ],
)
def test_a_limit_of_the_other_input_is_refused(words, monkeypatch, capsys):
    monkeypatch.setattr(spark, "_NEEDED", ())
    assert main([*WORDS, *words]) == 2
    assert "--records-per-batch with --kafka" in capsys.readouterr().err


@pytest.mark.parametrize(("given", "read"), [("10s", "10 seconds"), ("1 Minute", "1 minutes")])
def test_a_length_of_time_is_given_as_spark_reads_it(given, read):
    assert build_parser().parse_args([*WORDS, "--input", "in", "--every", given]).every == read


def test_a_rate_that_was_not_given_is_known_from_one_that_was():
    assert build_parser().parse_args([*WORDS, "--input", "in"]).rate is None
    assert build_parser().parse_args([*WORDS, "--input", "in", "--rate", "1000"]).rate == 1000


def test_tasks_beside_the_command_run_in_its_own_python(monkeypatch):
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert spark._is_local(None)
    assert spark._is_local("local[2]")
    assert not spark._is_local("spark://host:7077")
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")  # as spark-submit has it
    assert not spark._is_local(None)


@pytest.mark.parametrize(
    ("given", "once", "found"),
    [
        (None, True, "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
        (None, False, None),
        ("-Xmx1g", True, "-Xmx1g"),
    ],
)
def test_a_job_over_files_compiles_its_jvm_little_unless_its_options_are_given(
    monkeypatch, given, once, found
):
    monkeypatch.setattr(os, "environ", {} if given is None else {"SPARK_SUBMIT_OPTS": given})
    spark._set_environment(once=once)
    assert os.environ.get("SPARK_SUBMIT_OPTS") == found
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)


def test_only_the_job_itself_imports_spark():
    importing = {path for path in PACKAGE.rglob("*.py") if "pyspark" in imported(path)}
    assert importing == {PACKAGE / "distributed" / f"{name}.py" for name in SPARK_MODULES}


def test_no_module_beside_the_command_hides_one_of_the_standard_library():
    """`spark-submit` runs the file as a script, whose folder comes first on the path."""
    names = {path.stem for path in (PACKAGE / "cli").glob("*.py")}
    assert names & sys.stdlib_module_names == set()


def test_the_core_and_every_other_command_do_without_spark():
    program = (
        "import sys, importlib, pkgutil, monitor, monitor.cli\n"
        "for module in pkgutil.walk_packages(monitor.__path__, 'monitor.'):\n"
        f"    if module.name.split('.')[-1] not in {('__main__', *SPARK_MODULES)}:\n"
        "        try:\n"
        "            importlib.import_module(module.name)\n"
        "        except ModuleNotFoundError as error:\n"
        f"            assert error.name.split('.')[0] in {OTHER_EXTRAS}, error\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
