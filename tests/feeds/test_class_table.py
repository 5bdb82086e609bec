"""The table of what holds for more than two classes: what it quotes is what users see."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

from monitor import Monitor
from monitor.cli import spark
from monitor.cli.entry import main
from monitor.config import Config, parse_config
from monitor.config.classes import misfit
from monitor.config.inference import InferenceConfig
from monitor.config.model import ModelConfig
from monitor.errors import ConfigError
from monitor.exporter.app import create_app
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.http.inference_payloads import Payload, response_fields
from monitor.web.server import BackgroundServer

README = Path(__file__).parents[2] / "monitor" / "feeds" / "README.md"
MODEL = "classes: [card, loan, other]"
CONFIG = Config(models={"m": {"classes": ["card", "loan", "other"]}})
ONE = {"ts": 1, "model": "m", "prediction": "card", "label": "loan"}
ONLY_BINARY = {
    "labelling": "negatives_by_timeout, label_timeout: 9d",
    "label_errors": "{false_positive: 0.01}",
    "segments": "[region]",
    "threshold": "0.5",
    "class_ratios": "[0.5]",
    "objective": "{precision: 0.7}",
    "clock": "label",
    "river_detector": "{name: ADWIN}",
}
"""Settings that the table refuses, each with a value."""


def rows() -> dict[str, str]:
    """The table: what is in the first column, and what holds for it."""
    _, table = README.read_text().split("| | more than two classes |\n|---|---|\n")
    lines = table.split("\n\n")[0].splitlines()
    return dict(line.strip("| ").split(" | ", 1) for line in lines)


def config_fault(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "monitor.yaml", {})
    return str(caught.value)


def rejected(*events: Mapping[str, Any]) -> str:
    lines = "".join(json.dumps(event) + "\n" for event in events).encode()
    batch = Decoder(DecodeSettings.from_config(CONFIG)).decode_lines(lines, source="events")
    assert len(batch.rejected) == len(events)
    return "; ".join(one.detail for one in batch.rejected)


def failed(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    (tmp_path / "monitor.yaml").write_text(f"models: {{m: {{{MODEL}}}}}\n")
    lines = [json.dumps({"type": "outcome", **ONE, "ts": 86_400 * day}) for day in range(3)]
    (tmp_path / "events.ndjson").write_text("\n".join(lines) + "\n")
    places = {"CONFIG": "monitor.yaml", "EVENTS": "events.ndjson"}
    assert main([str(tmp_path / places[word]) if word in places else word for word in words]) == 2
    return capsys.readouterr().err


def of_a_frame(*_: object) -> str:
    frame = pd.DataFrame({"ts": [1], "scores": [[0.1, 0.7, 0.2]], "label": ["loan"]})
    with pytest.raises(ValueError, match="table") as caught:
        Monitor(CONFIG).feed(frame)
    return str(caught.value)


def of_spark(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "_NEEDED", ())
        words = ("--input", str(path), "--checkpoint", "ck", "--to", "out", "-c", "CONFIG")
        return failed(path, capsys, "spark", *words)


def of_the_curve(*_: object) -> str:
    monitor = Monitor(CONFIG)
    batch = Decoder(DecodeSettings.from_config(CONFIG)).decode_lines(
        json.dumps({"type": "outcome", **ONE}).encode() + b"\n", source="events"
    )
    monitor.apply(batch)
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    with BackgroundServer(app) as server:
        answer = httpx.get(f"{server.url}/api/v1/curve")
    assert answer.status_code == 400
    return str(answer.json()["error"])


def of_an_inference_server(*_: object) -> str:
    payload = Payload(b'{"predictions": [[0.1, 0.9]]}', "predictions", "outputs")
    (fields,) = response_fields(payload, InferenceConfig(scores={}))  # type: ignore[arg-type]  # a section as a file has it
    return rejected({"type": "prediction", "id": "a", "ts": 1, "model": "m", **fields})


def of_settings(*_: object) -> str:
    found = [
        config_fault(f"models: {{m: {{{key}: {value}, {MODEL}}}}}\n")
        for key, value in ONLY_BINARY.items()
    ]
    for key, text in zip(ONLY_BINARY, found, strict=True):
        assert f"names more than two classes, which does not go with {key}" in text
    forward = config_fault(f"models: {{m: {{{MODEL}}}}}\nforward: {{to: 'http://other:9109'}}\n")
    assert "forward: sends the counts of two classes, and m has more than two" in forward
    learning = "defaults: {classes: learned}\nforward: {to: 'http://other:9109'}\n"
    assert "of two classes, and defaults learns its classes" in config_fault(learning)
    return " ".join([*found, forward])


def of_threshold_and_audit(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    asked = ("--objective", "precision>=0.9", "-c", "CONFIG")
    said = failed(path, capsys, "threshold", "EVENTS", *asked)
    of_audit = failed(path, capsys, "audit", "EVENTS", "-c", "CONFIG")
    assert of_audit == said.replace("threshold", "audit")
    return said


def of_another_name(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    said = rejected({**ONE, "prediction": "cash"})
    with pytest.raises(ValueError, match="every row was rejected") as caught:
        Monitor(CONFIG).feed([{**ONE, "label": "cash"}])
    assert said.partition(";")[2] in str(caught.value)
    with pytest.raises(ValueError, match="prediction") as caught:
        Monitor(CONFIG).predict("a", ts=1, prediction="cash", model="m")
    assert said.partition(";")[2] in str(caught.value)
    events, config = path / "names.ndjson", path / "monitor.yaml"
    lines = [{**ONE, "prediction": name, "type": "outcome"} for name in ("card", "loan", "cash")]
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    config.write_text(f"models: {{m: {{{MODEL}}}}}\n")
    assert main(["replay", str(events), "-c", str(config)]) == 0
    printed = capsys.readouterr()
    assert "1 rejected (1 bad_value)" in printed.out
    assert said in printed.err
    assert main(["replay", str(events)]) == 0
    assert "has predictions of 3 classes, card, cash, loan" in capsys.readouterr().err
    return said


def of_compare(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    said = failed(path, capsys, "compare", "EVENTS", "-c", "CONFIG")
    monitor = Monitor(CONFIG)
    monitor.predict("a", ts=1, prediction="card", model="m")
    with pytest.raises(ValueError, match="takes models of two classes only") as caught:
        monitor.compare()
    assert "monitor['m'].status has what changed in each of them" in str(caught.value)
    with pytest.raises(ValueError, match="versions") as caught:
        monitor.compare_versions(("1", "2"))
    return f"{said} {caught.value}"


def of_a_file_as_reference(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    said = failed(path, capsys, "reference", "EVENTS", "-c", "CONFIG")
    assert failed(path, capsys, "replay", "EVENTS", "-c", "CONFIG", "--reference", "EVENTS") == said
    return said


def test_compare_of_several_models_asks_which_one_and_not_for_two_classes() -> None:
    monitor = Monitor(Config(models={**CONFIG.models, "binary": {}}))
    monitor.predict("a", ts=1, prediction="card", model="m")
    monitor.predict("b", ts=1, prediction=1, model="binary")
    with pytest.raises(ValueError, match="model") as caught:
        monitor.compare()
    assert "two classes" not in str(caught.value)
    with pytest.raises(ValueError, match="takes models of two classes only"):
        monitor.compare(model="m")


See = Callable[[Path, pytest.CaptureFixture[str]], str]
REFUSED: dict[str, See] = {
    "CSV, Parquet, Arrow, databases, frames": of_a_frame,
    "a name that is not among `classes`": of_another_name,
    "a list of classes for one case": lambda *_: rejected({**ONE, "prediction": ["card"]}),
    "verdicts, detectors, pages": lambda *_: config_fault(
        "models: {m: {reference: {counts: {tp: 9, fp: 9, fn: 9, tn: 9}}, " + MODEL + "}}\n"
    ),
    "`reference FILE`, `--reference FILE`": of_a_file_as_reference,
    "`diagnose`, `/api/v1/diagnosis`": lambda path, capsys: "".join(
        failed(path, capsys, "diagnose", "EVENTS", "-c", "CONFIG", *option)
        for option in (("--html", "report.html"), ("--segments", "region"))
    ),
    "other paths of the API": of_the_curve,
    "versions": lambda *_: config_fault(f"models: {{m: {{segments: [version], {MODEL}}}}}\n"),
    "`scores`": of_threshold_and_audit,
    "`compare` of two versions, `compare` in Python": of_compare,
    "events of type `counts`": lambda *_: rejected(
        {"type": "counts", "ts": 1, "model": "m", "tp": 1, "fp": 0, "fn": 0, "tn": 0}
    ),
    "inference servers": of_an_inference_server,
    "Spark job": of_spark,
}


def quoted(text: str) -> Iterable[str]:
    """Return the sentences of a row that are refusals: several words in backticks."""
    after = re.split("rejected|refused|refuses", text, maxsplit=1)
    found = re.findall("`([^`]+)`", after[1]) if len(after) > 1 else []
    return [one.removesuffix(" …") for one in found if one.count(" ") > 1]


@pytest.mark.parametrize("row", sorted(REFUSED))
def test_what_the_table_refuses_is_refused_in_its_words(
    row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = quoted(rows()[row])
    assert sentences
    seen = REFUSED[row](tmp_path, capsys)
    for sentence in sentences:
        assert sentence in seen


def test_each_setting_that_the_table_refuses_is_refused_with_its_reason() -> None:
    (row,) = [name for name in rows() if "river_detector" in name]
    named = {text.partition(":")[0] for text in re.findall("`([^`]+)`", row)} - {"complete"}
    assert named == {*ONLY_BINARY, "forward"}
    seen = of_settings()
    for sentence in quoted(f"refused {rows()[row]}"):
        assert sentence in seen


def versioned(changed: int, days: int) -> bytes:
    """A day's cases twenty times an hour; from a day on, of version 2 and with card as loan."""
    lines = []
    for case in range(days * 480):
        new = case >= changed * 480
        label = CONFIG.models["m"].classes[case % 3]
        given = "loan" if (label == "card" and new and case % 2) or case % 11 == 0 else label
        one = {"type": "outcome", "ts": case * 180, "model": "m", "version": str(1 + new)}
        lines.append(json.dumps({**one, "prediction": given, "label": label}))
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.slow
def test_versions_and_the_day_of_a_change_are_there_as_the_table_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events.ndjson").write_bytes(versioned(40, 52))
    settings = f"{MODEL}, reference: {{first: 28d, on_version: keep}}"
    (tmp_path / "keep.yaml").write_text(f"models: {{m: {{{settings}}}}}\n")
    again = settings.replace("28d, on_version: keep", "2d, on_version: restart")
    (tmp_path / "restart.yaml").write_text(f"models: {{m: {{{again}}}}}\n")
    series = tmp_path / "series"
    words = ["--openmetrics", str(series), "--step", "1d"]
    found = {}
    for name in ("keep", "restart"):
        config = str(tmp_path / f"{name}.yaml")
        assert (
            main(["replay", str(tmp_path / "events.ndjson"), "-c", config, "--json", *words]) == 0
        )
        found[name] = json.loads(capsys.readouterr().out)["models"]["m"]
    (confusion,) = found["keep"]["windows"]["7d"]["classes"]["confusions"]
    assert (confusion["actual"], confusion["predicted"]) == ("card", "loan")
    assert confusion["change_began"]["at"] == "1970-02-10T00:00:00Z"
    assert "change_began" not in found["keep"]
    assert found["restart"]["reference"]["open"] >= "1970-02-10T00:00:00Z"
    written = series.read_text()
    assert "classifier_version_info{" in written
    (first,) = {
        float(line.split()[1])
        for line in written.splitlines()
        if line.startswith("classifier_version_first_seen") and 'version="2"' in line
    }
    assert first == 40 * 86_400


def test_every_row_that_refuses_is_seen_here() -> None:
    refusing = {name for name, text in rows().items() if quoted(text)}
    assert {name for name in refusing if "river_detector" not in name} == set(REFUSED)


def test_no_setting_is_refused_that_the_table_does_not_name() -> None:
    defaults = {name: field.default for name, field in ModelConfig.model_fields.items()}
    refused = {name for name in defaults if misfit(("a", "b", "c"), {name: object()}, defaults)}
    assert refused == set(ONLY_BINARY)
