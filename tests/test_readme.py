"""The READMEs say what exists: every command, key, series, verdict, reason; every link leads on."""

import doctest
import re
from pathlib import Path

import pytest
from readme_tables import READMES, ROOT, with_tables

from monitor.cli.parser import COMMANDS
from monitor.config import Config, FileFeed, ModelConfig
from monitor.drift import Verdict
from monitor.events.reject_reasons import RejectReason
from monitor.prometheus.families import table_of_series

MOST_WORDS = 1_000
MOST_PICTURE_BYTES = 150_000
SLOW = ("monitor/python/README.md",)
"""READMEs whose examples take over ten seconds of CPU; tests/python has their statements."""
CHANGELOG = ROOT / "CHANGELOG.md"
KINDS_OF_CHANGE = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
PICTURE = ROOT / "deploy" / "page" / "page.png"
VERDICTS = ROOT / "monitor" / "drift" / "README.md"

BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IN_CODE = re.compile(r"((?:[\w-]+/)*README\.md)(?:#([\w-]+))?")
WRITTEN = ("*.py", "*.json", "*.yml", "*.yaml")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose_of(path: Path) -> str:
    """A README without its blocks of code."""
    return BLOCK.sub("", text_of(path))


def anchors_of(path: Path) -> set[str]:
    """Anchors of the headings of a Markdown file, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def fault_of(target: Path, anchor: str) -> str:
    """Return the fault of a link; "" without one."""
    if not target.exists():
        return f"{target}: is missing"
    if anchor and anchor not in anchors_of(target):
        return f"{name_of(target)}: has no heading #{anchor}"
    return ""


root = text_of(ROOT / "README.md")
every_readme = pytest.mark.parametrize("path", READMES, ids=name_of)


@every_readme
def test_its_tables_are_those_of_the_program(path):
    text = text_of(path)
    assert with_tables(text) == text, "run: PYTHONPATH=.:tests python tests/readme_tables.py"


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (name_of(path) in SLOW)) for path in READMES],
    ids=name_of,
)
def test_its_examples_of_python_run(path):
    examples = doctest.DocTestParser().get_doctest(text_of(path), {}, path.name, str(path), 0)
    assert bool(examples.examples) == ("```python" in text_of(path))
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("path", [*READMES, CHANGELOG], ids=name_of)
def test_its_links_lead_somewhere(path):
    links = [one for one in LINK.findall(prose_of(path)) if "://" not in one]
    faults = []
    for link in links:
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        faults.append(fault_of(target, anchor))
    assert [fault for fault in faults if fault] == []


@every_readme
def test_it_opens_with_a_title_and_what_it_is_for(path):
    title, blank, first = text_of(path).splitlines()[:3]
    assert title.startswith("# ")
    assert blank == ""
    assert re.match(r"[A-Z`*]", first)


def test_links_from_code_to_a_readme_lead_to_a_heading():
    found = {
        (match[1], match[2] or "")
        for folder in ("config", "deploy", "monitor")
        for pattern in WRITTEN
        for path in (ROOT / folder).rglob(pattern)
        for match in IN_CODE.finditer(text_of(path))
    }
    assert ("deploy/README.md", "monitordown") in found
    assert ("monitor/drift/README.md", "model_degraded") in found
    faults = [fault_of(ROOT / file, anchor) for file, anchor in sorted(found)]
    assert [fault for fault in faults if fault] == []


def test_the_root_leads_to_every_readme():
    links = {(ROOT / link.partition("#")[0]).resolve() for link in LINK.findall(root)}
    assert [name_of(path) for path in READMES[1:] if path not in links] == []


def test_the_root_is_short():
    assert len(root.split()) <= MOST_WORDS


def test_the_root_opens_with_the_two_commands():
    commands = [
        line.strip() for line in root.splitlines() if line.startswith("    python3 -m venv")
    ]
    assert [command.split()[-1] for command in commands] == ["demo", "3"]
    assert root.index(commands[1]) < root.index("\n## ")


def test_the_root_shows_a_small_picture_of_the_page():
    assert f"]({name_of(PICTURE)})" in root
    picture = PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < MOST_PICTURE_BYTES


def test_every_command_is_there():
    text = text_of(ROOT / "monitor" / "cli" / "README.md")
    assert [name for name in COMMANDS if f"`precision-monitor {name}" not in text] == []


def test_every_config_key_is_there():
    text = text_of(ROOT / "config" / "README.md")
    keys = {*Config.model_fields, *FileFeed.model_fields, *ModelConfig.model_fields}
    assert [key for key in keys if not re.search(rf"[`.]{key}`", text)] == []


def test_every_series_is_there():
    text = text_of(ROOT / "monitor" / "prometheus" / "README.md")
    assert [series.name for series in table_of_series() if f"`{series.name}`" not in text] == []


def test_every_verdict_has_a_heading_that_alerts_can_link_to():
    text = text_of(VERDICTS)
    assert [verdict for verdict in Verdict if f"# {verdict}\n" not in text] == []


def test_every_reject_reason_is_there():
    text = text_of(ROOT / "monitor" / "feeds" / "README.md")
    assert [reason for reason in RejectReason if f"`{reason}`" not in text] == []


def test_the_changelog_has_the_form_of_keep_a_changelog():
    headings = re.findall(r"^(#+) (.+)$", text_of(CHANGELOG), re.MULTILINE)
    versions = [text for level, text in headings if level == "##"]
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", text) for text in versions[1:])
    assert {text for level, text in headings if level == "###"} <= KINDS_OF_CHANGE


def test_the_changelog_names_series_that_there_are():
    names = re.findall(r"`((?:classifier|precision_monitor)_\w+)`", text_of(CHANGELOG))
    assert names
    assert set(names) <= {series.name for series in table_of_series()}
