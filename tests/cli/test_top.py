"""`top` fits into the terminal: 80 columns, whole models, both answers of each."""

import pytest
from exporter.page.pages import HOUR, counts, fed
from msgspec.structs import replace

from monitor.cli.top import table
from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer

NAMES = ("fraud", "a-model-whose-name-is-longer-than-its-column", "two\nlines")


@pytest.fixture(scope="module")
def status():
    config = Config(defaults={"maturity": "1h"}, windows=["1d", "7d"])
    records = [
        counts(name, day * 24 * HOUR, [160, 80, 40, 1_720, 240, 1_760])
        for name in NAMES
        for day in range(45)
    ]
    return status_answer(fed(Monitor(config), records).snapshot(), limit=9)


def answers(lines):
    text = " ".join(" ".join(lines).split())
    return text.count("What moved precision?"), text.count("Is the model worse?")


@pytest.mark.parametrize("columns", [40, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(status, columns):
    lines = table(status, columns)
    assert max(map(len, lines)) <= max(columns, 80)
    assert answers(lines) == (3, 3)


def test_a_wider_terminal_shows_more_of_a_name(status):
    def shown(columns):
        (row,) = [line for line in table(status, columns) if line.startswith("a-model")]
        return row.split()[0]

    assert shown(80).endswith("…")
    assert len(shown(80)) < len(shown(90)) < len(shown(120))


def test_a_name_with_a_line_end_has_one_row(status):
    assert sum(line.startswith(r"two\nlines ") for line in table(status)) == 1


def test_a_low_terminal_shows_whole_models_and_says_how_many(status):
    whole = table(status)
    for most in range(9, len(whole) + 1):
        lines = table(status, 80, most)
        assert len(lines) <= most
        moved, worse = answers(lines)
        assert moved == worse
        assert lines == whole or lines[-1] == f"{moved} of 3 models"


def test_what_is_not_known_yet_is_a_dash(status):
    young = replace(status.models[0], last_prediction_age_seconds=None, last_label_age_seconds=None)
    row = table(replace(status, models=(young,), total=1))[3]
    assert row.split()[-2:] == ["—", "—"]
