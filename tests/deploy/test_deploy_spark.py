"""The job on Kubernetes, as far as it can be checked without a cluster."""

import os
import re
import shutil
import subprocess
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from deploy.expressions import DEPLOY

from monitor.cli.parser import build_parser
from monitor.config import load_config

SPARK = DEPLOY / "spark"
MANIFESTS = ("access.yaml", "checkpoint.yaml", "driver.yaml", "service.yaml")


def documents(name):
    return list(yaml.safe_load_all((SPARK / name).read_text()))


def pod():
    (deployment,) = documents("driver.yaml")
    return deployment["spec"]["template"]["spec"]


def words():
    """The words of `spark-submit`: its own, the program, the program's."""
    (container,) = pod()["containers"]
    args = container["args"]
    at = next(i for i, word in enumerate(args) if word.endswith(".py"))
    return args[:at], args[at], args[at + 1 :]


@pytest.mark.dev("kubernetes_validate")
@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_fit_the_schemas_of_kubernetes_strictly(name):
    import kubernetes_validate as schemas  # noqa: PLC0415  # only where it is installed

    for manifest in documents(name):
        schemas.validate(manifest, schemas.latest_version(), strict=True)


def test_every_manifest_is_listed():
    (listed,) = documents("kustomization.yaml")
    assert listed["resources"] == list(MANIFESTS)
    others = {"kustomization.yaml", "monitor.yaml"}
    assert {path.name for path in SPARK.glob("*.yaml")} == {*MANIFESTS, *others}


@pytest.mark.system
def test_the_manifests_render():
    kubectl = shutil.which("kubectl") or pytest.skip("kubectl is not installed")
    done = subprocess.run([kubectl, "kustomize", SPARK], capture_output=True, check=True)
    kinds = [manifest["kind"] for manifest in yaml.safe_load_all(done.stdout)]
    assert {*kinds} == {
        *("ConfigMap", "Deployment", "PersistentVolumeClaim", "Role", "RoleBinding"),
        *("Service", "ServiceAccount"),
    }


def test_the_driver_runs_the_command_with_words_that_it_knows():
    _, program, own = words()
    args = build_parser().parse_args(["spark", *own])
    python = re.search(r"^FROM python:(\d\.\d+)", (SPARK / "Dockerfile").read_text(), re.MULTILINE)[
        1
    ]
    assert program == (
        f"/opt/precision-monitor/lib/python{python}/site-packages/monitor/cli/spark.py"
    )
    mounts = [mount["mountPath"] for mount in pod()["containers"][0]["volumeMounts"]]
    for path in (args.config, args.token_file, args.checkpoint.removeprefix("file://")):
        assert any(Path(path).is_relative_to(mount) for mount in mounts), path


def test_executors_mount_the_checkpoint_where_the_driver_does():
    settings = dict(word.removeprefix("--conf=").split("=", 1) for word in words()[0])
    of_claim = "spark.kubernetes.executor.volumes.persistentVolumeClaim.state."
    (container,) = pod()["containers"]
    (state,) = [m for m in container["volumeMounts"] if m["name"] == "state"]
    assert settings[of_claim + "mount.path"] == state["mountPath"]
    (claim,) = documents("checkpoint.yaml")
    assert settings[of_claim + "options.claimName"] == claim["metadata"]["name"]
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert settings["spark.driver.port"] == ports["driver"]
    assert settings["spark.driver.blockManager.port"] == ports["blocks"]


def test_the_job_counts_by_the_configuration_of_the_monitor():
    (secret,) = (one for one in pod()["containers"][0]["env"] if one["name"] == "ID_SECRET")
    assert "secretKeyRef" in secret["valueFrom"]
    job = load_config(SPARK / "monitor.yaml", {"ID_SECRET": "of 16 characters"})
    assert job.id_seed is not None
    monitor = load_config(DEPLOY / "kubernetes" / "monitor.yaml", {})
    assert (job.models, job.pane) == (monitor.models, monitor.pane)


@pytest.mark.dev("pyspark")
def test_the_image_starts_executors_as_this_spark_wants_them(tmp_path):
    for name in ("tini", "java"):
        (tmp_path / name).write_text('#!/bin/bash\n[ "$1" = -s ] && exec "${@:3}"\necho "$@"\n')
        (tmp_path / name).chmod(0o755)
    given = {
        "SPARK_EXECUTOR_MEMORY": "2g",
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_EXECUTOR_ID": "1",
        "SPARK_EXECUTOR_POD_IP": "10.0.0.1",
        "SPARK_EXECUTOR_POD_NAME": "pod",
        "SPARK_APPLICATION_ID": "app",
        "SPARK_DRIVER_URL": "spark://driver",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_JAVA_OPT_0": "-Da=b c",
        "SPARK_JAVA_OPT_1": "-De=f",
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        [SPARK / "entrypoint.sh", "executor"], env=given, capture_output=True, text=True, check=True
    )
    printed = done.stdout.split()
    assert printed[:6] == ["-Da=b", "c", "-De=f", "-Xms2g", "-Xmx2g", "-cp"]
    backend = next(word for word in printed if word.startswith("org.apache"))
    own = " ".join(printed[printed.index(backend) + 1 :])
    assert own == (
        "--driver-url spark://driver --executor-id 1 --cores 2 --app-id app --hostname 10.0.0.1 "
        "--resourceProfileId 0 --podName pod"
    )
    jars = Path(find_spec("pyspark").origin).parent / "jars"
    (jar,) = jars.glob("spark-kubernetes_*.jar")
    assert backend.replace(".", "/") + ".class" in zipfile.ZipFile(jar).namelist()


def test_the_driver_may_post_to_the_monitor():
    (policy,) = yaml.safe_load_all((DEPLOY / "kubernetes" / "network-policy.yaml").read_text())
    (feed,) = [rule for rule in policy["spec"]["ingress"] if rule["ports"][0]["port"] == "feed"]
    wanted = feed["from"][0]["podSelector"]["matchLabels"]
    (deployment,) = documents("driver.yaml")
    assert wanted.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
