"""Messages name one thing in the singular: numbers before a plural go through `count_of`."""

import ast
from itertools import pairwise
from pathlib import Path

import monitor

NOUNS = (
    *("records", "rows", "events", "files", "models", "predictions", "outcomes", "requests"),
    *("segments", "samples", "moments", "cases", "counts"),
)
"""Plurals of what messages count."""
ROOT = Path(monitor.__file__).parent
NO_NUMBER = {
    "config/feeds.py": "an ending of names",
    "cli/replay.py": "a verb",
    "distributed/sizing.py": "a rate",
    "exporter/page/score_figures.py": "shortened, as 1.2k",
    "feeds/http/app.py": "a rate",
    "metrics/sampled.py": "a list",
    "prometheus/rules/summaries.py": "fewer or more",
    "report/label_quality_words.py": "at least 100",
    "report/sentences.py": "fewer or more",
}
"""Modules in which no plain number stands before such a noun, and what does."""


def unguarded(path):
    """Yield the messages of a module that write a number before a plural."""
    for node in ast.walk(ast.parse(path.read_text())):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for number, text in pairwise(parts):
            if isinstance(number, ast.FormattedValue) and isinstance(text, ast.Constant):
                words = text.value.removeprefix(" more").split()
                noun = words[0].strip(".,:;") if words and text.value[0] == " " else ""
                if noun in NOUNS and not ast.unparse(number.value).strip("_").isupper():
                    yield f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def test_a_number_before_a_plural_is_written_by_count_of():
    paths = [path for path in ROOT.rglob("*.py") if str(path.relative_to(ROOT)) not in NO_NUMBER]
    assert len(paths) > 500
    assert [message for path in paths for message in unguarded(path)] == []


def test_a_number_before_a_plural_is_found(tmp_path):
    module = tmp_path / "made_up.py"
    module.write_text(
        "f'{n:,} records read'; f'{count_of(n, 0)} read'; f'{MOST} rows'; f'{n} sorts'"
    )
    assert list(unguarded(module)) == ["made_up.py:1: f'{n:,} records read'"]


def test_modules_that_are_left_out_have_such_a_message():
    assert all(list(unguarded(ROOT / name)) for name in NO_NUMBER)
