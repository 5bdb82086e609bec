"""Every block of code in every README works: shell blocks run in order, in one shell a README.

A block's first line names its kind, after the three backticks:

    sh                  commands; each must succeed
    console             commands after `$`, and what they print (`...` stands for anything)
    sh serves           a command that serves until it is stopped; stopped at the README's end
    sh skip: REASON     what cannot run here, and why
    yaml                a configuration of the monitor, whole or in part
    yaml web-config     a web configuration file
    yaml rules          a rule file of Prometheus
    yaml rollout        a part of a rollout of Argo or Flagger (tests/deploy)
    promql              expressions, a line each
    python, text        examples that test_readme.py runs; pictures

Blocks run in a folder that has `config`, `deploy`, `monitor` and `tests` as the project has.
Addresses 127.0.0.1:9108 and 127.0.0.1:9109 become free ones.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import httpx
import pytest
import yaml
from ports import free_port
from readme_tables import READMES, ROOT
from web.certificates import write_certificates

from monitor.config import load_config
from monitor.web.web_config import read_web_config

FENCE = re.compile(r"^( *)```(\S+) *(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
WORDS = {
    "sh": r"|serves|skip: \w.+",
    "console": "",
    "yaml": "|web-config|rules|rollout",
    "promql": "",
    "python": "",
    "text": "",
}
SYSTEM_PROGRAMS = ("curl", "promtool")
SLOW = ("monitor/cli/README.md", "deploy/README.md")
"""READMEs whose commands take over five seconds of CPU, and are tested elsewhere, too."""
ADDRESSES = ("127.0.0.1:9108", "127.0.0.1:9109")
DEADLINE_SECONDS = 300
MARK = "the-end-of-a-block"


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        line: of its first line in the README.
        language: first word after the fence.
        words: what follows it.
        text: without the indentation of the fence.
    """

    line: int
    language: str
    words: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(
            text.count("\n", 0, match.start()) + 1,
            match[2],
            match[3],
            re.sub(rf"^{match[1]}", "", match[4], flags=re.MULTILINE),
        )
        for match in FENCE.finditer(text)
    ]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def runs(block: Block) -> bool:
    return block.language in ("sh", "console") and not block.words.startswith("skip: ")


def with_marks(path: Path):
    text = "".join(block.text for block in blocks_of(path) if runs(block))
    needs = any(re.search(rf"\b{program} ", text) for program in SYSTEM_PROGRAMS)
    marks = [pytest.mark.system] * needs + [pytest.mark.slow] * (name_of(path) in SLOW)
    return pytest.param(path, marks=marks, id=name_of(path))


def all_blocks(language: str, words: str = ""):
    """Parameters: every block of a kind, named by where it is."""
    return [
        pytest.param(block, id=f"{name_of(path)}:{block.line}")
        for path in READMES
        for block in blocks_of(path)
        if (block.language, block.words) == (language, words)
    ]


@contextmanager
def deadline(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process that hangs."""
    timer = Timer(DEADLINE_SECONDS, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Shell:
    """A shell that runs commands one after the other and stops at the first that fails."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eu", "-o", "pipefail"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=environment,
        )

    def run(self, commands: str) -> str:
        """Return what the commands print; fail the test where a command fails or never ends."""
        self._process.stdin.write(f"{{\n{commands}\n}} </dev/null\nprintf '\\n{MARK}\\n'\n")
        self._process.stdin.flush()
        printed = []
        with deadline(self._process):
            for line in self._process.stdout:
                if line == f"{MARK}\n":
                    return "".join(printed)[:-1]
                printed.append(line)
        return pytest.fail(f"$ {commands}\n{''.join(printed)}")

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Server:
    """Start a command that serves, and wait until it has its state and takes events."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment,
        )
        lines = []
        with deadline(self._process):
            for line in self._process.stderr:
                lines.append(line)
                if "serving http" in line:
                    self.line = line
                    self._wait_until_ready(re.search(r"https?://[^/]+", line)[0])
                    return
        self._process.kill()
        self._process.communicate()
        pytest.fail(f"$ {command}\n{''.join(lines)}")

    def _wait_until_ready(self, url: str) -> None:
        while self._process.poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(f"{url}/readyz", verify=False).is_success:  # noqa: S501  # its own certificate
                    return

    def stop(self) -> None:
        """Ask it to end, and see that it ends well."""
        self._process.terminate()
        with deadline(self._process):
            _, rest = self._process.communicate()
        assert self._process.returncode == 0, rest


def free_address() -> str:
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def addresses() -> dict[str, str]:
    """Free addresses in the place of those that the READMEs name."""
    return {address: free_address() for address in ADDRESSES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like the project, and can be written to."""
    place = tmp_path / "project"
    place.mkdir()
    for name in ("config", "deploy"):
        shutil.copytree(ROOT / name, place / name)
    for name in ("monitor", "tests"):
        (place / name).symlink_to(ROOT / name)
    return place


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which `precision-monitor` and `python` are those of this test."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in {"precision-monitor": " -m monitor", "python": "", "python3": ""}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def commands_of(console: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def check_console(shell: Shell, console: str) -> None:
    for command, expected in commands_of(console):
        printed = shell.run(command)
        printed = f"{printed.rstrip()}\n" if printed.strip() else ""
        checker = doctest.OutputChecker()
        assert checker.check_output(expected, printed, doctest.ELLIPSIS), f"$ {command}\n{printed}"


@pytest.mark.parametrize("path", READMES, ids=name_of)
def test_every_block_is_of_a_known_kind(path):
    blocks = blocks_of(path)
    fences = re.findall(r"^ *```", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(blocks)
    unknown = [
        block
        for block in blocks
        if not re.fullmatch(WORDS.get(block.language, r"\b\B"), block.words)
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "path", [with_marks(path) for path in READMES if any(map(runs, blocks_of(path)))]
)
def test_its_commands_run_in_order(system_program, folder, environment, addresses, path):
    blocks = [block for block in blocks_of(path) if runs(block)]
    for program in SYSTEM_PROGRAMS:
        if any(re.search(rf"\b{program} ", block.text) for block in blocks):
            system_program(program)
    with ExitStack() as ending:
        shell = Shell(folder, environment)
        ending.callback(shell.close)
        for block in blocks:
            text = block.text
            for named, free in addresses.items():
                text = text.replace(named, free)
            if block.words == "serves":
                server = Server(text.strip(), folder, environment)
                ending.callback(server.stop)
                assert addresses[ADDRESSES[0]] in server.line, "name exporter.listen in the file"
            elif block.language == "console":
                check_console(shell, text)
            else:
                shell.run(text)


@pytest.mark.parametrize("block", all_blocks("yaml"))
def test_a_configuration_has_no_fault(tmp_path, block):
    path = tmp_path / "monitor.yaml"
    path.write_text(block.text)
    load_config(path)


@pytest.mark.parametrize("block", all_blocks("yaml", "web-config"))
def test_a_web_configuration_has_no_fault(tmp_path, block):
    write_certificates(tmp_path)
    path = tmp_path / "web.yml"
    path.write_text(block.text)
    assert read_web_config(path).tls


def check_rules(system_program, path):
    command = [system_program("promtool"), "check", "rules", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.system
@pytest.mark.parametrize("block", all_blocks("yaml", "rules"))
def test_rules_have_no_fault(system_program, tmp_path, block):
    path = tmp_path / "rules.yml"
    path.write_text(block.text)
    check_rules(system_program, path)


@pytest.mark.system
@pytest.mark.parametrize("block", all_blocks("promql"))
def test_expressions_have_no_fault(system_program, tmp_path, block):
    expressions = [line for line in block.text.splitlines() if not line.startswith("#")]
    rules = [{"alert": f"A{n}", "expr": expression} for n, expression in enumerate(expressions)]
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "these", "rules": rules}]}))
    check_rules(system_program, path)
