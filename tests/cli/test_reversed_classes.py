"""Labels or predictions that name the other class are a warning with what to write."""

import pytest
from cli.commands import ran
from cli.odd_rows import SECOND

FLAGGED = [row % 10 == 0 for row in range(600)]
RIGHT = [row % 10 == 0 and row % 40 != 0 for row in range(600)]
CHANCE = [row % 3 == 0 for row in range(600)]


@pytest.mark.parametrize("command", [("replay",), ("diagnose",), ("init", "-o", "-")])
@pytest.mark.parametrize(
    ("labels", "told"),
    [([not label for label in RIGHT], True), (RIGHT, False), (CHANCE, False)],
    ids=["reversed", "right", "chance"],
)
def test_a_model_that_flags_negatives_more_often_is_a_warning(
    capsys, tmp_path, command, labels, told
):
    table = tmp_path / "claims.csv"
    lines = [
        f"{SECOND + number * 9_000},{int(flagged)},{int(label)}\n"
        for number, (flagged, label) in enumerate(zip(FLAGGED, labels, strict=True))
    ]
    table.write_text("".join(["ts,prediction,label\n", *lines]))
    found = ran(capsys, *command, table).err
    warning = (
        "warning: default flags 2.7 % of actual positives and 100 % of actual negatives: if its "
        "labels or predictions name the other class, say which value is positive: "
        "--positive prediction=VALUE or --positive label=VALUE\n"
    )
    assert (warning in found) is told
    assert ("name the other class" in found) is told
