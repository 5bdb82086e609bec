"""The scenarios of promtool's tests, each with the rules alone that it asks for.

promtool evaluates all rules at each moment of each scenario, most of which no expectation of it
reads.
"""

import os
import re
from pathlib import Path
from typing import Any

import yaml

RARELY_COLLECTED = {**os.environ, "GOGC": "800"}
"""With the garbage collector of Go at its default, promtool takes a third more CPU."""

_NAMELESS = re.compile(r"\bALERTS(?!\{alertname=\")")


class _Loader(yaml.SafeLoader):
    """Reads `0x580`, 581 samples of 0, as promtool does and not as a number."""


_Loader.yaml_implicit_resolvers = {
    letter: [one for one in resolvers if one[0] != "tag:yaml.org,2002:int"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)$"), [*"-+0123456789"]
)


def with_needed_rules(rules: Path, tests: Path, folder: Path) -> list[Path]:
    """Write each scenario of a file of tests as a file of its own, beside the rules that it needs.

    Args:
        rules: the rule file.
        tests: the file of tests.
        folder: where to write.

    Returns:
        The files of tests.
    """
    whole = yaml.safe_load(rules.read_text(encoding="utf-8"))
    document = yaml.load(tests.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # a SafeLoader
    found = []
    for number, scenario in enumerate(document["tests"]):
        own = folder / f"{number}.rules.yml"
        own.write_text(yaml.safe_dump(_needed(whole, scenario)), encoding="utf-8")
        path = folder / f"{number}.test.yml"
        alone = document | {"rule_files": [own.name], "tests": [scenario]}
        path.write_text(yaml.safe_dump(alone), encoding="utf-8")
        found.append(path)
    return found


def _needed(whole: dict[str, Any], scenario: dict[str, Any]) -> dict[str, Any]:
    """The rules that the expectations of a scenario name, and those that these rest on.

    All of them where an expectation is of alerts of any name.
    """
    asked = [scenario.get(key, []) for key in ("alert_rule_test", "promql_expr_test")]
    if _NAMELESS.search(str([one.get("expr") for tests in asked for one in tests])):
        return whole
    texts: dict[str, str] = {}
    for group in whole["groups"]:
        for rule in group["rules"]:
            name = _name(rule)
            texts[name] = texts.get(name, "") + str(rule)
    names: set[str] = set()
    new = {name for name in texts if name in str(asked)}
    while new:
        names |= new
        new = {name for name in texts if any(name in texts[one] for one in new)} - names
    groups = [
        group | {"rules": [rule for rule in group["rules"] if _name(rule) in names]}
        for group in whole["groups"]
    ]
    return {"groups": groups}


def _name(rule: dict[str, Any]) -> str:
    return rule.get("alert") or rule["record"]
