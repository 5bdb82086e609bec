"""`init` knows the columns of classes by the names that tables of many classes give them."""

import pytest
from cli.commands import ran

LABELS = ["true_class", "actual_class", "correct_class", "observed_class", "gold_label"]
ROWS = [("card", "card"), ("loan", "card"), ("other", "other"), ("loan", "loan")] * 30


@pytest.mark.parametrize(
    ("prediction", "label"),
    [*(("predicted_class", label) for label in LABELS), ("pred_class", "true_class")],
)
def test_init_takes_them_and_says_which_column_it_took_for_what(
    prediction, label, tmp_path, capsys
):
    path, config = tmp_path / "cases.csv", tmp_path / "monitor.yaml"
    lines = [f"{600 * n},{p},{a},{600 * n + 60}" for n, (p, a) in enumerate(ROWS)]
    path.write_text("\n".join([f"predicted_at,{prediction},{label},labelled_at", *lines, ""]))
    done = ran(capsys, "init", path, "-o", config)
    assert done.code == 0
    took = f"reads predicted_at as ts, {prediction} as prediction, {label} as label, labelled_at"
    assert f"cases.csv: {took} as label_ts; " in done.err
    assert "classes: [card, loan, other]" in config.read_text()


def test_two_columns_that_may_hold_labels_are_not_guessed(tmp_path, capsys):
    path = tmp_path / "cases.csv"
    path.write_text("ts,prediction,true_class,actual_class\n0,card,card,loan\n")
    done = ran(capsys, "init", path, "-o", tmp_path / "monitor.yaml")
    assert done.code == 3
    assert "--field label=COLUMN" in done.err
