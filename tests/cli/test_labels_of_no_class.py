"""Labels of a class that is never predicted: their share, and that no figure has them."""

import json

import pytest
from cli.commands import ran

SAID = "no figure has the {} of no class of the model, {} of all, so that precision and recall are"


@pytest.fixture(params=["labels", "outcomes", "configured"])
def replayed(request, tmp_path, capsys):
    """Replay three classes in turn, one of so many cases with another label."""

    def run(label, every, *options, cases=900):
        rows = []
        for n in range(cases):
            name = ("card", "loan", "other")[n % 3]
            actual = {"label": label if n % every == 0 else name}
            case = {"ts": 300 * n, "prediction": name}
            if request.param == "outcomes":
                rows.append({**case, **actual})
            else:
                rows += [{"id": str(n), **case}, {"id": str(n), "ts": 300 * n + 60, **actual}]
        path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        config.write_text("models: {m: {classes: [card, loan, other]}}\n")
        given = ["-c", config] if request.param == "configured" else []
        return ran(capsys, "replay", path, *given, *options)

    return run


def test_the_last_line_says_which_share_of_the_labels_is_left_out(replayed):
    done = replayed("mortgage", 9)
    assert done.code == 0
    last = done.err.splitlines()[-1]
    assert last.startswith("warning: 100 of ")
    assert SAID.format("100 labels", "11.1 %") in last
    assert "add 'mortgage' to `classes` of the model" in last


@pytest.mark.parametrize(
    ("label", "every", "options"),
    [
        ("mortgage", 150, ()),
        ("n/a", 9, ()),
        ("open", 9, ("--missing", "label=open")),
    ],
    ids=["rare", "for none", "given"],
)
def test_nothing_is_said_of_rare_ones_and_of_those_that_stand_for_none(
    replayed, label, every, options
):
    assert "in no figure" not in replayed(label, every, *options).err


@pytest.mark.parametrize("command", ["replay", "diagnose"])
@pytest.mark.parametrize("late", ["mortgage", "card"])
def test_the_text_says_what_other_holds_where_it_is_there(late, command, tmp_path, capsys):
    """A class that its labels name before a prediction does."""
    rows = []
    for n in range(600):
        name = ("card", "loan", "other")[n % 3]
        case = {"ts": 3600 * n, "prediction": late if n > 300 else name, "label": late}
        rows.append(case if n % 9 == 0 else {**case, "prediction": name, "label": name})
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text("models: {m: {classes: learned}}\n")
    said = " ".join(ran(capsys, command, path, "-c", config).out.split())
    is_there = "__other__ has the cases whose class was not learned when" in said
    assert is_there == (late == "mortgage")
