"""One bad file per defect, with the exact lines that it must give (`bad/NAME.yaml`, `.txt`)."""

import re
from pathlib import Path

import pytest

from monitor.config import parse_config
from monitor.errors import ConfigError

BAD = Path(__file__).parent / "bad"
NAMES = sorted(path.stem for path in BAD.glob("*.yaml"))
ENVIRON = {"WINDOW": "30s"}


def faults(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "monitor.yaml", ENVIRON)
    return caught.value.faults


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_file_gives_exactly_its_faults(name: str) -> None:
    expected = (BAD / f"{name}.txt").read_text().splitlines()
    assert list(faults((BAD / f"{name}.yaml").read_text())) == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_says_what_is_wrong_and_what_to_do(name: str) -> None:
    for fault in faults((BAD / f"{name}.yaml").read_text()):
        assert re.fullmatch(r"monitor\.yaml(:[1-9][0-9]*)?: [^;]+; .+", fault)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ten_faults"])
def test_a_defect_is_one_fault(name: str) -> None:
    assert len(faults((BAD / f"{name}.yaml").read_text())) == 1


def test_ten_defects_are_ten_faults_in_the_order_of_their_lines() -> None:
    found = faults((BAD / "ten_faults.yaml").read_text())
    assert len(found) == 10
    lines = [int(fault.split(":")[1]) for fault in found]
    assert lines == sorted(lines)


def test_no_expected_message_is_left_without_its_file() -> None:
    assert sorted(path.stem for path in BAD.glob("*.txt")) == NAMES


def test_the_error_reads_as_its_faults_one_a_line() -> None:
    with pytest.raises(ConfigError, match=r"^m\.yaml:1: [^\n]+\nm\.yaml:2: [^\n]+$"):
        parse_config("pane: soon\nmax_series: many\n", "m.yaml", {})


def test_faults_inside_one_list_are_all_reported() -> None:
    found = faults("windows: [1h, 60m, 30s, soon, 90s]\n")
    assert [re.findall(r"windows\[(\d)\]", fault)[0] for fault in found] == ["1", "2", "3", "4"]


def test_a_typo_in_a_required_key_is_reported_once() -> None:
    (fault,) = faults("feeds:\n  - {type: file, pth: a.ndjson}\n")
    assert fault == "monitor.yaml:2: unknown key 'pth'; did you mean 'path'?"


def test_a_key_that_is_missing_and_one_that_is_unknown_are_two_faults() -> None:
    assert len(faults("feeds:\n  - {type: file, colour: blue}\n")) == 2


@pytest.mark.parametrize("name", ["maturity", "feeds", "reference", "auto", "http", "models"])
def test_a_model_may_be_named_as_a_key_is(name: str) -> None:
    (fault,) = faults(f"models:\n  {name}:\n    reference: {{frist: 7d}}\n")
    assert fault == "monitor.yaml:3: unknown key 'frist'; did you mean 'first'?"
    (fault,) = faults(f"models:\n  {name}:\n    maturity: {{share: 2}}\n")
    assert fault.startswith(f"monitor.yaml:3: models.{name}.maturity.share: must be less than 1")


def test_a_fault_under_defaults_and_one_of_a_model_are_both_reported() -> None:
    text = "defaults: {threshold: 5}\nmodels:\n  fraud: {threshold: 7}\n  spam: {}\n"
    assert [fault.split(", ")[0] for fault in faults(text)] == [
        "monitor.yaml:1: defaults.threshold: must be at most 1",
        "monitor.yaml:3: models.fraud.threshold: must be at most 1",
    ]


def test_a_fault_that_only_one_model_makes_of_a_default_stands_at_the_default() -> None:
    text = (
        "defaults: {maturity: 1d}\nmodels:\n  a: {}\n"
        "  b: {labelling: negatives_by_timeout, label_timeout: 7d}\n"
    )
    (fault,) = faults(text)
    assert fault.startswith("monitor.yaml:1: models.b.maturity: must be at least the label_timeout")
    assert "got '1d' from defaults" in fault


def test_an_unknown_key_without_a_near_match_lists_the_known_keys() -> None:
    (fault,) = faults("models: {fraud: {xyzzy: 1}}\n")
    assert fault.startswith("monitor.yaml:1: unknown key 'xyzzy'; known keys: threshold, segments")


def test_long_values_are_cut_in_messages() -> None:
    (fault,) = faults(f"defaults: {{threshold: [{', '.join(['0.5'] * 100)}]}}\n")
    assert "…; write it like 0.5" in fault
    assert len(fault) < 160


def test_aliases_that_multiply_are_stopped() -> None:
    layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    layers += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    (fault,) = faults("\n".join(layers))
    assert "counting aliases" in fault


def test_depth_is_stopped() -> None:
    for text in ("[" * 50_000, "windows: " + "[" * 50 + "]" * 50):
        (fault,) = faults(text)
        assert "is nested too deeply" in fault


def test_two_references_of_which_one_is_broken_are_all_reported_at_once() -> None:
    found = faults("models:\n  fraud: {reference: {window: {length: 7d}, first: soon}}\n")
    assert len(found) == 3
    assert "reference.window: key 'end' is missing" in found[0]
    assert "reference.first: must be a duration, got 'soon'" in found[1]
    assert "reference: has window and first" in found[2]


@pytest.mark.parametrize(
    "text",
    [
        "pane: ${SECRET}",
        "windows: ['${SECRET}']",
        "windows: ${SECRET}",
        "max_series: ${SECRET}",
        "models: {fraud: {threshold: '${SECRET}', labelling: '${SECRET}', maturity: '${SECRET}'}}",
        "defaults: {label_timeout: 'a ${SECRET} b', reference: {first: '${SECRET}'}}",
        "exporter: {listen: '${SECRET}'}",
        "exporter: '${SECRET}'",
        "feeds: [{type: '${SECRET}'}]",
        "feeds: [{type: http, listen: 'x', token_files: '${SECRET}'}]",
        "feeds: [{type: kafka, brokers: '${SECRET}', topics: [t]}]",
        "feeds: [{type: kafka, brokers: [a], topics: [t], properties: ['${SECRET}']}]",
        "feeds: [{type: kafka, brokers: ['${SECRET}'], topics: [t], properties: {a: '${SECRET}'}}]",
        "feeds: {password: '${SECRET}'}",
        "dead_letter: {max_bytes: '${SECRET}'}",
        "state: ['${SECRET}', {a: '${SECRET}'}]",
    ],
)
def test_faults_do_not_show_the_values_of_variables(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(text, "m.yaml", {"SECRET": "hunter2 swordfish"})
    assert "hunter2" not in str(refused.value)
    assert "swordfish" not in str(refused.value)


def test_auto_windows_need_a_pane_that_divides_one_of_them() -> None:
    assert parse_config("windows: auto\npane: 2h\n", "m.yaml", {}).window_names[0] == "1d"
    (found,) = faults("windows: auto\npane: 5h\n")
    assert "windows: needs a window that is a multiple of the pane (5h), got 'auto'" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("windows: soon", "windows: must be a list, got 'soon'"),
        ("windows: []", "windows: must not be empty"),
        ("windows: [auto, 1h]", "windows[0]: "),
    ],
)
def test_what_is_neither_windows_nor_auto_is_named(text: str, message: str) -> None:
    (found,) = faults(text)
    assert message in found


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://monitor:S3CRET@rest@127.0.0.1:5432/x",
        "postgresql+psycopg://monitor:S3CRET@a:T0P@127.0.0.1:5432/x",
        "postgresql+psycopg://monitor:S3/CRET@127.0.0.1:5432/x",
        "postgresql+psycopg://monitor:S3CRET@127.0.0.1:port/x?token=T0P",
    ],
)
def test_a_password_that_is_not_encoded_is_a_fault_and_stays_hidden(url: str) -> None:
    query = "SELECT a FROM t WHERE a >= :cursor"
    (found,) = faults(f"feeds: [{{type: sql, url: '{url}', query: '{query}', cursor: a}}]\n")
    assert "percent-encoded" in found
    assert not {"S3", "CRET", "T0P", "rest"} & set(re.split(r"[^A-Za-z0-9]", found))


def test_no_account_of_a_url_is_shown() -> None:
    (found,) = faults("exporter: {otlp: {endpoint: 'http://u:S3CRET@collector/?token=T0P'}}\n")
    assert "S3CRET" not in found
    assert "T0P" not in found
    assert "http://collector/?***" in found
