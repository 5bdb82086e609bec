"""A shell completes commands, options and files by the script that `completion` prints."""

import shlex
import subprocess

import pytest
from cli.commands import ran

from monitor.cli import completion
from monitor.cli.parser import COMMANDS
from monitor.extras import install_command


def completed(script, folder, *words):
    """What bash proposes for the last of some words."""
    typed = shlex.join(["precision-monitor", *words])
    code = (
        f"source {shlex.quote(str(script))}\n"
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}\n"
        "function=$(complete -p precision-monitor | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
        f"$function precision-monitor {shlex.quote(words[-1])} >/dev/null 2>&1\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    return {word.rstrip() for word in done.stdout.splitlines()} - {""}


@pytest.fixture
def script(capsys, tmp_path):
    path = tmp_path / "script.bash"
    path.write_text(ran(capsys, "completion", "bash").out)
    return path


@pytest.mark.dev("shtab")
def test_bash_completes_commands_options_and_files(tmp_path, script):
    (tmp_path / "events.ndjson").touch()
    assert completed(script, tmp_path, "rep") == {"replay"}
    assert set(COMMANDS) <= completed(script, tmp_path, "")
    assert completed(script, tmp_path, "replay", "--js") == {"--json"}
    assert "events.ndjson" in completed(script, tmp_path, "replay", "ev")


@pytest.mark.dev("shtab")
@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_every_shell_gets_a_script_that_names_every_command(capsys, shell):
    done = ran(capsys, "completion", shell)
    assert (done.code, done.err) == (0, "")
    assert [name for name in COMMANDS if name not in done.out] == []


def test_without_the_library_it_says_how_to_install_it(capsys, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(completion, "import_module", missing)
    done = ran(capsys, "completion", "bash")
    assert (done.code, done.out) == (2, "")
    assert f"needs shtab, which is not installed; {install_command('completion')}" in done.err
