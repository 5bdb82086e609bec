"""Image, compose file, unit and manifests, as far as they can be checked without running them."""

import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from cli.commands import ran
from deploy.expressions import DEPLOY, exported, recorded, selectors_in, series_in
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from monitor.config import load_config
from monitor.drift import Verdict
from monitor.prometheus.rules.recording import objective
from monitor.prometheus.rules.scope import OBJECTIVES
from monitor.report.model_kinds import SEGMENT_WORSE
from monitor.report.verdict_words import WORSE_SEGMENT
from monitor.report.vocabulary import BECAUSE, VERDICTS

PROJECT = DEPLOY.parent
KUBERNETES = DEPLOY / "kubernetes"
OF_KUBERNETES_ITSELF = (
    "namespace.yaml",
    "statefulset.yaml",
    "service.yaml",
    "feed-service.yaml",
    "network-policy.yaml",
)
RENDERED = {
    "compose/flights.rules.yml": ["-c", DEPLOY.parent / "config" / "flights.yaml"],
    "kubernetes/prometheus-rule.yaml": ["-c", KUBERNETES / "monitor.yaml", "--kubernetes"],
}


def program(name):
    """A program that no package of the test machine brings: used where it is there."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", RENDERED)
def test_rendered_rules_are_what_the_command_prints(capsys, name):
    assert ran(capsys, "rules", *RENDERED[name]) == (0, (DEPLOY / name).read_text(), "")


def test_every_series_in_deploy_is_exported_or_recorded():
    known = exported() | recorded((DEPLOY / "prometheus/precision-monitor.rules.yml").read_text())
    known |= set(map(objective, OBJECTIVES.values()))
    for path in DEPLOY.rglob("*"):
        if path.suffix in (".yml", ".yaml", ".json", ".md"):
            found = {name for name in series_in(path.read_text()) if name[-1] != "_"}
            # A family of a histogram or a summary may be named as a whole.
            named = {name for name in found if not any(one.startswith(name) for one in known)}
            assert named == set(), path


def test_dashboards_have_distinct_ids_and_take_any_data_source():
    boards = dashboards()
    assert len({board["uid"] for board in boards}) == len(boards) == 4
    for board in boards:
        ids = [panel["id"] for panel in board["panels"]]
        assert len(set(ids)) == len(ids)
        sources = [p["datasource"] for p in board["panels"] if p["type"] != "row"]
        assert all(source["uid"] == "${datasource}" for source in sources)
        assert all(panel["description"] for panel in board["panels"] if panel["type"] != "row")
        variables = [variable["name"] for variable in board["templating"]["list"]]
        assert variables[0] == "datasource"
        assert {"job", "instance"} <= set(variables)
        used = set(re.findall(r"\$(\w+)", json.dumps(board["panels"])))
        assert used <= set(variables)


def test_every_query_of_a_dashboard_is_about_the_chosen_monitors():
    for board in dashboards():
        queries = [
            target["expr"] for panel in board["panels"] for target in panel.get("targets", ())
        ]
        queries += [one["expr"] for one in board["annotations"].get("list", ())]
        selectors = [one for query in queries for one in selectors_in(query)]
        assert selectors
        for one in selectors:
            assert 'job=~"$job"' in one
            assert 'instance=~"$instance"' in one


def test_verdicts_are_words_in_the_order_of_urgency():
    """Each number of the expression stands for the words of the same state."""
    for name, column in (("fleet", "verdict"), ("on-call", "")):
        board = json.loads((DEPLOY / "grafana" / "dashboards" / f"{name}.json").read_text())
        (panel,) = [one for one in board["panels"] if '"Steady"' in json.dumps(one)]
        (query,) = [
            target["expr"] for target in panel["targets"] if target["legendFormat"] == column
        ]
        asked = re.findall(
            r'(\d+) \* \(classifier_\w+\{.*?(?:verdict|because)="(\w+)"\} == 1\)', query
        )
        asked += re.findall(r"(\d+) \* \(classifier_(segment_worse)\{[^}]*\} == 1\)", query)
        asked.sort(key=lambda one: int(one[0]))
        assert re.search(r"min by \(model\) \(\s*0 \* \(classifier_degradation_detected\{", query)
        words = {**VERDICTS, **BECAUSE, SEGMENT_WORSE: WORSE_SEGMENT}
        mapped = mapping_of(panel, column)
        assert [int(number) for number, _ in asked] == list(range(1, len(mapped)))
        assert {state for _, state in asked} == {*words} - {Verdict.INSUFFICIENT_EVIDENCE}
        for number, state in asked:
            assert mapped[number]["text"] == words[state].title
            assert (mapped[number]["color"] == "red") is False
        assert mapped["0"] | {"index": 0} == {
            "text": VERDICTS[Verdict.MODEL_DEGRADED].title,
            "color": "red",
            "index": 0,
        }


def test_the_fleet_is_sorted_by_what_matters_and_leads_on():
    board = json.loads((DEPLOY / "grafana" / "dashboards" / "fleet.json").read_text())
    (panel,) = [one for one in board["panels"] if one["type"] == "table"]
    assert panel["options"]["sortBy"] == [{"displayName": "verdict", "desc": False}]
    (links,) = [one["value"] for one in properties(panel, "model") if one["id"] == "links"]
    uids = {one["uid"] for one in dashboards()}
    boards = [re.match(r"/d/([\w-]+)\?var-model=", link["url"]) for link in links]
    assert {match[1] for match in boards if match} < uids
    assert links[-1]["url"].startswith("${page}?model=")


def dashboards():
    return [json.loads(path.read_text()) for path in (DEPLOY / "grafana").rglob("*.json")]


def properties(panel, column):
    """Overrides of a column of a table, in their order."""
    overrides = panel["fieldConfig"]["overrides"]
    return [
        one
        for override in overrides
        if override["matcher"]["options"] == column
        for one in override["properties"]
    ]


def mapping_of(panel, column):
    """Words and colour of each number, of a column or of the panel."""
    if not column:
        (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
    else:
        ((mapping,),) = [
            one["value"] for one in properties(panel, column) if one["id"] == "mappings"
        ]
    return mapping["options"]


@pytest.mark.dev("grafana_foundation_sdk")
def test_dashboards_are_what_the_script_writes(tmp_path):
    script = DEPLOY / "grafana" / "build.py"
    subprocess.run([sys.executable, "-B", script, tmp_path], check=True)
    for path in tmp_path.iterdir():
        assert path.read_text() == (DEPLOY / "grafana" / "dashboards" / path.name).read_text()


def test_the_image_runs_as_a_numbered_user_and_asks_itself():
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert re.search(r"^USER 65532:65532$", text, re.MULTILINE)
    assert '["precision-monitor", "healthcheck"]' in text
    assert '["run", "-c", "/etc/precision-monitor/monitor.yaml"]' in text


@pytest.mark.parametrize(
    ("lock", "installer"),
    [
        ("deploy/docker/requirements.lock", "deploy/docker/Dockerfile"),
        ("deploy/docker/build.lock", "deploy/docker/Dockerfile"),
        (".ci/dev.lock", ".ci/run"),
    ],
)
def test_the_image_and_its_checks_are_made_of_packages_with_hashes(lock, installer):
    text = (PROJECT / lock).read_text()
    package = r"\S+==\S+( ; [^\n]+)? \\\n(    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    assert re.fullmatch(f"({package})+", text)
    name = re.escape(lock.removeprefix("deploy/docker/"))
    assert re.search(rf"--require-hashes\s+(\\\s+)?-r {name}", (PROJECT / installer).read_text())


@pytest.mark.parametrize(
    ("lock", "extras"),
    [("deploy/docker/requirements.lock", ["parquet"]), (".ci/dev.lock", ["dev"])],
)
def test_a_lock_has_every_dependency_in_a_version_that_fits(lock, extras):
    text = (PROJECT / lock).read_text()
    locked = re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE)
    for requirement in required(extras):
        versions = [
            version for name, version in locked if name == canonicalize_name(requirement.name)
        ]
        assert versions, requirement
        assert all(version in requirement.specifier for version in versions), requirement


def required(extras):
    """Requirements of the project with some extras, and with those that these name."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    found = [Requirement(one) for one in project["dependencies"]]
    while extras:
        named = [Requirement(one) for one in project["optional-dependencies"][extras.pop()]]
        extras = [*extras, *(extra for one in named for extra in one.extras if ours(one))]
        found += [one for one in named if not ours(one)]
    return found


def ours(requirement):
    return requirement.name == "precision-monitor"


def test_what_compose_mounts_is_there():
    compose = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
    mounts = [mount for one in compose["services"].values() for mount in one.get("volumes", ())]
    paths = [mount.partition(":")[0] for mount in mounts if mount.startswith(".")]
    assert paths
    assert all((DEPLOY / "compose" / path).exists() for path in paths)
    ports = [port for one in compose["services"].values() for port in one.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_configuration_of_kubernetes_fits_the_pod_that_runs_it():
    config = load_config(KUBERNETES / "monitor.yaml", {})
    assert config.exporter.address == ("0.0.0.0", 9108)  # noqa: S104  # the pod's own network
    (feed,) = config.feeds
    assert feed.address == ("0.0.0.0", 9109)  # noqa: S104  # same
    pod = yaml.safe_load((KUBERNETES / "statefulset.yaml").read_text())["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"metrics": 9108, "feed": 9109}
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    for path in (*feed.token_files, config.state.directory):
        assert any(path.is_relative_to(mount) for mount in mounts), path


@pytest.mark.dev("kubernetes_validate")
@pytest.mark.parametrize("name", OF_KUBERNETES_ITSELF)
def test_manifests_fit_the_schemas_of_kubernetes_strictly(name):
    import kubernetes_validate as schemas  # noqa: PLC0415  # only where it is installed

    manifest = yaml.safe_load((KUBERNETES / name).read_text())
    newest = schemas.latest_version()
    schemas.validate(manifest, newest, strict=True)
    with pytest.raises(schemas.ValidationError):
        schemas.validate(manifest | {"spek": {}}, newest, strict=True)


def test_every_manifest_is_checked_or_known_to_have_no_schema():
    of_the_operator = {"service-monitor.yaml", "prometheus-rule.yaml"}
    no_resource = {"kustomization.yaml", "monitor.yaml"}
    found = {path.name for path in KUBERNETES.glob("*.yaml")}
    assert found == {*OF_KUBERNETES_ITSELF, *of_the_operator, *no_resource}
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    assert {*listed} == found - no_resource


@pytest.mark.system
def test_the_compose_scrape_has_no_fault(system_program):
    command = [system_program("promtool"), "check", "config", DEPLOY / "compose/prometheus.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.system
def test_the_unit_has_no_fault(tmp_path):
    unit = tmp_path / "precision-monitor.service"
    text = (DEPLOY / "systemd" / unit.name).read_text()
    unit.write_text(text.replace("/opt/precision-monitor/bin/precision-monitor", "/bin/true"))
    done = subprocess.run(
        [program("systemd-analyze"), "verify", unit], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.system
def test_the_manifests_render_and_run_without_rights():
    command = [program("kubectl"), "kustomize", KUBERNETES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rendered = list(yaml.safe_load_all(done.stdout))
    found = {one["kind"]: one for one in rendered if "feed" not in one["metadata"]["name"]}
    feeds = {one["kind"]: one for one in rendered if "feed" in one["metadata"]["name"]}
    assert set(feeds) == {"Service"}
    assert set(found) == {
        "Namespace",
        "ConfigMap",
        "Service",
        "StatefulSet",
        "ServiceMonitor",
        "PrometheusRule",
        "NetworkPolicy",
    }
    pod = found["StatefulSet"]["spec"]["template"]
    name = pod["metadata"]["labels"].items()
    selectors = [
        feeds["Service"]["spec"]["selector"],
        found["Service"]["spec"]["selector"],
        found["StatefulSet"]["spec"]["selector"]["matchLabels"],
        found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector.items() <= name for selector in selectors)
    scraped = found["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items()
    assert scraped <= found["Service"]["metadata"]["labels"].items()
    (container,) = pod["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["spec"]["securityContext"]["runAsNonRoot"]
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    assert volumes["config"]["configMap"]["name"] == found["ConfigMap"]["metadata"]["name"]
