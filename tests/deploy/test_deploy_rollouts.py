"""Gates for rollouts: manifests against a schema, expressions in promtool, the script run.

The schema is written by hand from the documented fields of the resources. It finds a misspelt field
of those that the manifests use. It is not the definition that a cluster has.
"""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml
from deploy.expressions import DEPLOY, exported, series_in
from ports import free_port
from watch.versioned import BEGAN, fed, stream

from monitor.config.versions_asked import parse_versions
from monitor.drift.version_verdict import VersionVerdict
from monitor.exporter.app import create_app
from monitor.web.server import BackgroundServer

ROLLOUTS = DEPLOY / "rollouts"
SCHEMA = json.loads(Path(__file__).with_name("rollouts.schema.json").read_text())
MANIFESTS = [
    manifest
    for path in sorted(ROLLOUTS.glob("*.yaml"))
    for manifest in yaml.safe_load_all(path.read_text())
]
BLOCKS = [
    yaml.safe_load(text)
    for text in re.findall(
        r"```yaml rollout\n(.*?)```", (DEPLOY / "README.md").read_text(), re.DOTALL
    )
]
NAMES = {"model": "fraud", "stable": "6", "canary": "7"}


def checked(part, name):
    jsonschema.validate(part, SCHEMA | {"$ref": f"#/$defs/{name}"})


def metric_of(name):
    (spec,) = (m["spec"] for m in MANIFESTS if m["metadata"]["name"] == name)
    return spec["metrics"][0] if "metrics" in spec else spec


def query_of(name):
    metric = metric_of(name)
    text = metric["query"] if "query" in metric else metric["provider"]["prometheus"]["query"]
    for key, value in NAMES.items():
        text = text.replace(f"{{{{args.{key}}}}}", value)
        text = text.replace(f"{{{{ variables.{key} }}}}", value)
    assert "{{" not in text
    return text


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda one: one["metadata"]["name"])
def test_a_manifest_fits_the_fields_of_its_kind(manifest):
    checked(manifest, manifest["kind"])
    with pytest.raises(jsonschema.ValidationError):
        checked(manifest | {"specs": {}}, manifest["kind"])


def test_the_parts_in_the_readme_fit_too_and_name_what_there_is():
    rollout, canary = BLOCKS
    checked(rollout["strategy"], "strategy")
    checked(canary["analysis"], "analysis")
    steps = rollout["strategy"]["canary"]["steps"]
    analyses = [rollout["strategy"]["canary"]["analysis"]]
    analyses += [step["analysis"] for step in steps if "analysis" in step]
    names = {manifest["metadata"]["name"] for manifest in MANIFESTS}
    for analysis in analyses:
        assert {one["templateName"] for one in analysis["templates"]} <= names
        assert {one["name"]: one["value"] for one in analysis["args"]} == NAMES
    (metric,) = canary["analysis"]["metrics"]
    assert metric["templateRef"]["name"] in names
    assert metric["templateVariables"] == NAMES


@pytest.mark.parametrize("name", ["precision-gate", "precision-watch", "precision-verdict"])
def test_a_query_names_series_that_are_exported_and_verdicts_that_there_are(name):
    query = query_of(name)
    assert series_in(query) <= exported()
    named = set(re.findall(r'verdict=~?"([^"]+)"', query))
    assert {one for text in named for one in text.split("|")} <= set(VersionVerdict)


def measured(condition, result):
    """Evaluate a condition of Argo, whose operators are those of Go."""
    python = condition.replace("&&", " and ").replace("||", " or ")
    return eval(python, {"len": len, "result": result, "__builtins__": {}})  # noqa: S307  # ours


OUTCOMES = {
    "worse": (-1, 1),
    "better": (1, 0),
    "equal": (1, 0),
    "not_shown": (0, 0),
    None: (None, None),
}
"""By verdict: the numbers of precision-gate and precision-watch; None for none."""


@pytest.mark.parametrize("verdict", OUTCOMES)
def test_the_gate_promotes_holds_or_rolls_back(verdict):
    gate, watch = metric_of("precision-gate"), metric_of("precision-watch")
    decided, watched = ([] if n is None else [float(n)] for n in OUTCOMES[verdict])
    assert measured(gate["successCondition"], decided) is (verdict in ("better", "equal"))
    assert measured(gate["failureCondition"], decided) is (verdict == "worse")
    assert measured(watch["failureCondition"], watched) is (verdict == "worse")
    assert measured(watch["successCondition"], watched) is (verdict != "worse")


def input_of(verdict, instance):
    labels = f'model="fraud",version="7",against="6",instance="{instance}"'
    return [
        {
            "series": f'classifier_version_verdict{{{labels},verdict="{one}"}}',
            "values": f"{int(one == verdict)}x5",
        }
        for one in VersionVerdict
    ]


def expected_of(query, value):
    samples = [] if value is None else [{"labels": "{}", "value": value}]
    return {"expr": query, "eval_time": "1m", "exp_samples": samples}


def test_no_verdict_is_left_out():
    assert {one for one in OUTCOMES if one} == {str(one) for one in VersionVerdict}


@pytest.mark.system
@pytest.mark.parametrize("verdict", OUTCOMES)
def test_the_expressions_give_these_numbers(system_program, tmp_path, verdict):
    gate, watch = OUTCOMES[verdict]
    series = [] if verdict is None else input_of(verdict, "a:9108")
    cases = [
        expected_of(query_of("precision-gate"), gate),
        expected_of(query_of("precision-watch"), watch),
        expected_of(query_of("precision-verdict"), gate or 0),
    ]
    prove(system_program("promtool"), tmp_path, series, cases)


@pytest.mark.system
def test_of_several_monitors_the_worst_verdict_decides(system_program, tmp_path):
    series = input_of("better", "a:9108") + input_of("worse", "b:9108")
    cases = [
        expected_of(query_of("precision-gate"), -1),
        expected_of(query_of("precision-watch"), 1),
        expected_of(query_of("precision-verdict"), -1),
    ]
    prove(system_program("promtool"), tmp_path, series, cases)


def prove(promtool, folder, series, cases):
    rules = {"groups": [{"name": "gate", "rules": [{"record": "gate", "expr": "vector(1)"}]}]}
    (folder / "rules.yml").write_text(yaml.safe_dump(rules))
    test = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": cases}],
    }
    (folder / "test.yml").write_text(yaml.safe_dump(test))
    words = [promtool, "test", "rules", "test.yml"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run_gate(url, looks="1", **more):
    """Run the script; return its exit code, what it printed, and its complaints."""
    environment = {
        **os.environ,
        "MONITOR_URL": url,
        "PRECISION_MONITOR": f"{sys.executable} -m monitor",
        "PROMOTE": "echo 'promoted  7'",
        "ROLL_BACK": "echo rolled-back",
        "LOOKS": looks,
        "EVERY": "0",
        **more,
    }
    words = [str(ROLLOUTS / "gate.sh"), "m", "6", "7"]
    done = subprocess.run(
        words, env=environment, cwd=DEPLOY.parent, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def gated(url, looks="1"):
    """Run the script, which complains of nothing; return its exit code and what it printed."""
    code, said, complaint = run_gate(url, looks)
    assert complaint == ""
    return code, said


@pytest.mark.parametrize("words", [[], ["m", "6"], ["m", "6", "7", "8"]])
def test_the_script_says_how_to_call_it(words):
    done = subprocess.run(
        [str(ROLLOUTS / "gate.sh"), *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: gate.sh MODEL STABLE CANARY")


@pytest.mark.parametrize("looks", ["0", "abc", "-1", "1.5"])
def test_the_script_refuses_a_number_of_looks_that_is_none(looks):
    complaint = f"gate.sh: LOOKS: must be an integer from 1 on, got '{looks}'\n"
    assert run_gate("http://127.0.0.1:9", looks) == (2, "", complaint)


@pytest.mark.parametrize(
    "names", [("a,1", "a,2"), (r"a\1", r"b\,2"), ("\\", "\\\\"), ("--x", "-y")]
)
def test_the_script_passes_names_on_as_versions_takes_them(names, tmp_path):
    command = tmp_path / "command"
    asked = f'printf "%s" "${{5#--versions=}}" > {tmp_path}/asked'
    command.write_text(f'#!/bin/sh\n{asked}\necho "7 is worse than 6"\nexit 1\n')
    command.chmod(0o755)
    environment = {**os.environ, "PRECISION_MONITOR": str(command)}
    words = [str(ROLLOUTS / "gate.sh"), "m", *names]
    assert subprocess.run(words, env=environment, check=False).returncode == 1
    assert parse_versions("--versions", (tmp_path / "asked").read_text()) == names


@pytest.mark.parametrize("words", ["is\\nworse than", "is worse\\n    than"])
def test_a_worse_version_is_rolled_back_wherever_its_long_name_wraps_the_sentence(words, tmp_path):
    command = tmp_path / "command"
    command.write_text(f'#!/bin/sh\nprintf "Version {"7" * 80} {words} 6: recall\\n"\nexit 1\n')
    command.chmod(0o755)
    code, said, _ = run_gate("http://127.0.0.1:9", PRECISION_MONITOR=str(command))
    assert (code, said.splitlines()[-1]) == (1, "rolled-back")


@pytest.mark.parametrize("code", [1, 70])
def test_a_crash_of_the_program_rolls_nothing_back(tmp_path, code):
    command = tmp_path / "command"
    command.write_text(f'#!/bin/sh\necho "Traceback (most recent call last)" >&2\nexit {code}\n')
    command.chmod(0o755)
    found = run_gate("http://127.0.0.1:9", PRECISION_MONITOR=str(command))
    assert found == (3, "", "Traceback (most recent call last)\n")


@cache
def counted(**made):
    return fed(stream(**made))


def running(**made):
    monitor = counted(**made)
    state = monitor.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor))
    return BackgroundServer(app)


def test_the_script_rolls_a_worse_version_back():
    with running(recall=(0.9, 0.5), a_day=1_008) as server:
        code, said = gated(server.url)
    assert (code, said.splitlines()[-1]) == (1, "rolled-back")
    assert said.startswith("Version 7 is worse than 6")
    assert "promoted" not in said


def test_the_script_says_by_its_exit_code_that_a_command_failed():
    with running(recall=(0.9, 0.5), a_day=1_008) as server:
        code, said, _ = run_gate(server.url, ROLL_BACK="false")
    assert code == 4
    assert said.startswith("Version 7 is worse than 6")


def test_the_script_promotes_a_better_version():
    with running(recall=(0.6, 0.9), a_day=1_008) as server:
        code, said = gated(server.url)
    assert (code, said.splitlines()[-1]) == (0, "promoted  7")
    assert "rolled-back" not in said


@pytest.mark.slow
@pytest.mark.parametrize("made", [{}, {"until": BEGAN}], ids=["open", "never together"])
def test_the_script_holds_while_nothing_is_shown(made):
    with running(**made) as server:
        code, said = gated(server.url, looks="2")
    assert code == 3
    assert "promoted" not in said
    assert "rolled-back" not in said
    assert said.startswith(
        ("Whether version 7 is worse than 6 is not shown", "Nothing is compared")
    )


def test_the_script_holds_where_no_monitor_answers_and_says_so_once():
    gone = f"http://127.0.0.1:{free_port()}"
    code, said, complaint = run_gate(gone, looks="2")
    assert (code, said) == (3, "")
    assert complaint.count("precision-monitor:") == complaint.count(gone) == 1
