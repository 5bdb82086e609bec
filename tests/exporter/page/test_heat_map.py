"""Heat maps of confusion matrices, and the section of classes of the page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from class_streams import ClassStream

from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.page.class_section import class_section
from monitor.exporter.page.heat_map import HeatMap, heat_map

NAMES = ("card", "loan", "mortgage")
RATES = np.array([[0.9, 0.1, 0.0], [0.25, 0.75, 0.0], [np.nan] * 3])


def titles(text: str) -> list[str]:
    return re.findall("<title>(.*?)</title>", text)


def test_a_map_has_a_cell_for_each_pair_of_classes_with_cases() -> None:
    text = str(heat_map(NAMES, HeatMap("Reference", "before", RATES)))
    assert titles(text) == [
        "card as card: 90 %",
        "card as loan: 10 %",
        "card as mortgage: 0.0 %",
        "loan as card: 25 %",
        "loan as loan: 75 %",
        "loan as mortgage: 0.0 %",
    ]
    assert set(re.findall(r'class="heat-cell ([a-z ]+)"', text)) == {"before"}
    depths = [float(depth) for depth in re.findall(r'fill-opacity="([0-9.]+)"', text)]
    np.testing.assert_allclose(depths, np.sqrt(RATES[:2].ravel()), atol=0.001)


def test_a_difference_has_one_colour_for_the_worse_and_one_for_the_better() -> None:
    change = np.array([[-0.2, 0.2, 0.0], [-0.1, 0.1, 0.0], [0.0, 0.0, 0.0]])
    marked = change == 0.2
    text = str(heat_map(NAMES, HeatMap("Difference", "", change, marked)))
    tones = re.findall(r'class="heat-cell ([a-z ]+)"', text)
    assert tones[:2] == ["worse", "worse certain"]
    assert tones[3:5] == ["better", "better"]
    depths = [float(depth) for depth in re.findall(r'fill-opacity="([0-9.]+)"', text)][:5]
    assert depths[:2] == [1.0, 1.0]  # certainly confused, and so what is right of that class
    assert depths[3] == depths[4] < 0.5  # half as large, and not certain: pale
    assert titles(text)[:2] == ["card as card: \N{MINUS SIGN}20 %", "card as loan: +20 %"]


def test_names_that_are_wider_than_a_column_stand_upright_and_whole() -> None:
    text = str(heat_map(NAMES, HeatMap("Reference", "before", RATES)))
    assert text.count(">mortgage</text>") == 2
    assert text.count("rotate(-90") == len(NAMES)
    square = np.full((2, 2), 0.5)
    assert "rotate" not in str(heat_map(("card", "loan"), HeatMap("", "before", square)))


@pytest.mark.parametrize(("size", "numbers"), [(8, True), (9, False)])
def test_cells_of_many_classes_have_titles_and_no_numbers(size: int, numbers: object) -> None:
    names = [f"a <long> name of class {number}" for number in range(size)]
    text = str(heat_map(names, HeatMap("Reference", "before", np.full((size, size), 1 / size))))
    assert len(titles(text)) == size * size
    assert ("heat-number" in text) is numbers
    assert "<long>" not in text


@pytest.mark.parametrize(("size", "scrolls"), [(8, False), (9, False), (16, False), (17, True)])
def test_maps_of_up_to_sixteen_classes_need_no_scrolling(size: int, scrolls: object) -> None:
    names = [f"class-{number}" for number in range(size)]
    text = str(heat_map(names, HeatMap("Reference", "before", np.full((size, size), 1 / size))))
    assert ("scroll" in text) is scrolls


def test_long_names_that_begin_alike_are_cut_in_the_middle() -> None:
    names = ("category/sub-01", "category/sub-02", "mortgage_refinancing", "card")
    text = str(heat_map(names, HeatMap("Reference", "before", np.full((4, 4), 0.25))))
    for short in ("catego…/sub-01", "catego…/sub-02", "mortgage_refi…", "card"):
        assert text.count(f">{short}</text>") == 2


def status(stream: ClassStream) -> ModelStatus:
    (model,) = status_answer(stream.applied().snapshot(), limit=1).models
    return model


def test_the_section_shows_three_maps_the_confusion_and_the_classes_that_page_first() -> None:
    model = status(ClassStream(change="confusion", a_day=250))
    text = str(class_section(model))
    assert text.count("<figure") == 3
    assert "class-0 → class-1 confusions rose from" in text
    assert len(re.findall("heat-cell worse certain", text)) == 1
    rows = re.findall('<th scope="row">(.*?)</th>', text)
    assert sorted(rows) == [f"class-{number}" for number in range(4)]
    assert rows[0] in ("class-0", "class-1")
    assert "pages" in text


def test_before_the_reference_the_section_has_one_map_and_no_verdicts() -> None:
    text = str(class_section(status(ClassStream(days=5, a_day=100))))
    assert text.count("<figure") == 1
    assert "the reference is not complete" in text
    assert "verdict-cell" not in text
