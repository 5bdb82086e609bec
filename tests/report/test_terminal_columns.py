"""Names of wide characters do not shift the columns of a table."""

from unicodedata import east_asian_width

import numpy as np
import pytest
from msgspec.structs import replace
from report.one_moment import USUAL, counted

from monitor.cli.top import table
from monitor.exporter.api.status import status_answer
from monitor.metrics.class_report import class_report
from monitor.report.class_text import classes_text
from monitor.report.terminal_columns import at_right, columns_of, cut, padded

NAMES = ("欺诈", "正常交易", "loan", "e\N{COMBINING ACUTE ACCENT}t" + "e\N{COMBINING ACUTE ACCENT}")


def cells(text):
    """Columns that a terminal gives a text: counted apart from the program."""
    marks = text.count("\N{COMBINING ACUTE ACCENT}")
    return len(text) + sum(east_asian_width(one) in "WF" for one in text) - marks


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_padded_to_columns(name):
    assert columns_of(name) == cells(name)
    assert cells(padded(name, 12)) == cells(at_right(name, 12)) == 12
    assert cells(cut(name, 3)) <= 3
    assert cut(name, cells(name)) == name


def test_rows_of_classes_end_in_one_column():
    matrix = np.diag([50, 60, 70, 80]) + 3
    lines = list(classes_text("7d", class_report(NAMES, matrix, matrix.sum(axis=1))))
    head, *rows = (line for line in lines if line and " of " not in line)
    assert [name for name in NAMES if any(name in row for row in rows)] == [*NAMES]
    assert {cells(row) for row in rows} == {cells(head)}


def test_rows_of_models_have_their_numbers_in_one_column():
    status = status_answer(counted([USUAL] * 9).snapshot(), limit=1)
    ends = []
    for name in ("m", "欺诈检测模型", "欺诈" * 40):
        shown = replace(status, models=(replace(status.models[0], name=name),))
        lines = table(shown, 100)
        (head,) = (number for number, line in enumerate(lines) if line.startswith("model "))
        ends.append(cells(lines[head + 1]))
    assert len(set(ends)) == 1
