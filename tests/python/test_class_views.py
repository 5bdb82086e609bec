"""The classes of a window as Python shows them, and what it says of values that are none."""

import pytest

from monitor import Monitor, compare
from monitor.config import Config


def test_a_window_of_many_classes_has_its_matrix_metrics_and_averages() -> None:
    classes = window_of(["card", "loan", "other"])["mail"]["all"].classes
    assert classes is not None
    assert classes.matrix.tolist() == [[8, 1, 0], [0, 8, 0], [0, 0, 0]]
    loan = classes.by_class["loan"]
    assert (loan.predictions, loan.counts.fn, loan.metrics["recall"]) == (8, 1, 8 / 9)
    assert classes.averages["macro"]["precision"] == (8 / 9 + 1) / 2
    assert not classes.by_class["other"].metrics["precision"].is_defined
    assert classes.accuracy == 16 / 17
    assert classes.cohen_kappa > 0.8


def window_of(classes: list[str]) -> Monitor:
    """A monitor of one model of some classes: 16 of 17 predictions are right."""
    monitor = Monitor(Config(models={"mail": {"classes": classes}}))
    pairs = [("card", "card")] * 8 + [("card", "loan")] + [("loan", "loan")] * 8
    for number, (prediction, label) in enumerate(pairs):
        monitor.predict(str(number), ts=number, prediction=prediction, model="mail")
        monitor.label(str(number), ts=number, label=label)
    return monitor


def test_a_model_of_many_classes_shows_what_is_defined_for_all_of_them() -> None:
    """Precision if half were positive, recall and the like are of two classes."""
    view = window_of(["card", "loan", "other"])["mail"]
    classes = view["all"].classes
    assert classes is not None
    table = repr(view).splitlines()[-len(view.windows) - 1 :]
    assert table[0].split() == ["window", "outcomes", "accuracy", "/", "Cohen's", "kappa"]
    assert table[1].split(maxsplit=2) == [
        "all",
        "17",
        f"{classes.accuracy} / {classes.cohen_kappa}",
    ]
    head, *rows, last = repr(view["all"]).splitlines()
    assert head == "all: right 16, wrong 1"
    macro = classes.averages["macro"]
    assert [row.split("Estimate") for row in rows] == [
        [f"  {title:<22} ", str(found).removeprefix("Estimate")]
        for title, found in (
            ("Accuracy", classes.accuracy),
            ("Macro precision", macro["precision"]),
            ("Macro recall", macro["recall"]),
            ("Macro F1", macro["f1"]),
            ("Cohen's kappa", classes.cohen_kappa),
        )
    ]
    assert last == "  classes: the matrix and each of 3 classes"
    assert "balanced" not in repr(view) + repr(view["all"])


def test_the_classes_of_a_window_show_their_cases_and_metrics() -> None:
    assert repr(window_of(["card", "loan", "other"])["mail"]["all"].classes).splitlines() == [
        "class               actual   predicted   precision / recall",
        (
            "card                     8           9   Estimate(.889, .565 to .980) / "
            "Estimate(1.000, .676 to 1.000)"
        ),
        (
            "loan                     9           8   Estimate(1.000, .676 to 1.000) / "
            "Estimate(.889, .565 to .980)"
        ),
        "other                    0           0   Estimate(undefined) / Estimate(undefined)",
    ]
    many = window_of(["card", "loan", *map(str, range(10))])["mail"]["all"].classes
    assert repr(many).splitlines()[-1] == "… and 4 more"


def test_a_window_of_two_classes_has_none() -> None:
    monitor = Monitor()
    monitor.predict("a", ts=1, prediction=1)
    assert monitor["default"]["all"].classes is None


NAMED = "give one of the configured classes, 'a', 'b', 'c' or null, or add the others to `classes`"
ONE_LABEL = "give one class a row; for several labels a case, configure a model for each label"
MANY = "or, of more than two, name all classes, Monitor(Config(defaults={{'classes': {}}}))"


@pytest.mark.parametrize(
    ("classes", "labels", "hint"),
    [
        (["a", "b", "c"], ["d", "e"], NAMED),
        (["a", "b", "c"], [["a", "b"], ["a"]], ONE_LABEL),
        ([], ["b", "a", "c", "N/A"], MANY.format(["a", "b", "c"])),
        ([], [2, 3, 4], MANY.format("['NAME', …]")),
        ([], [f"c{number}" for number in range(13)], MANY.format("['NAME', …]")),
    ],
)
def test_values_that_are_no_class_are_answered_by_the_classes_of_the_model(
    classes: list[str], labels: list[object], hint: str
) -> None:
    monitor = Monitor(Config(defaults={"classes": classes}))
    rows = [{"ts": 1, "prediction": "a" if classes else 1, "label": label} for label in labels]
    with pytest.raises(ValueError, match="every row was rejected") as failed:
        monitor.feed(rows)
    said, _, _ = str(failed.value).partition("\n")
    assert said.endswith(hint)
    assert ("positive class" in said) is not bool(classes)


def test_rows_of_more_than_two_classes_are_sent_to_diagnose() -> None:
    rows = [{"prediction": name, "label": name} for name in "abc"]
    with pytest.raises(ValueError, match="none of 3 rows") as failed:
        compare(rows, rows, prediction="prediction", label="label")
    assert "or, of more than two, compare them with `precision-monitor diagnose" in str(
        failed.value
    )
    with pytest.raises(ValueError, match="none of 2 rows") as failed:
        compare(rows[:2], rows, prediction="prediction", label="label")
    assert "more than two" not in str(failed.value)


def test_two_values_are_asked_for_the_positive_one_alone() -> None:
    with pytest.raises(ValueError, match="positive class") as failed:
        Monitor().feed({"ts": [1, 2], "prediction": [1, 0], "label": ["a", "b"]})
    assert "of more than two" not in str(failed.value)


def test_the_classes_of_a_window_are_tables() -> None:
    pandas = pytest.importorskip("pandas")
    classes = window_of(["card", "loan", "predicted"])["mail"]["all"].classes
    assert classes is not None
    table = classes.to_frame()
    assert isinstance(table, pandas.DataFrame)
    assert table["class"].tolist() == ["card", "loan", "predicted"]
    assert table["predictions"].tolist() == [9, 8, 0]
    assert table[["tp", "fp", "fn", "tn"]].to_numpy().tolist() == [
        [8, 1, 0, 8],
        [8, 0, 1, 8],
        [0, 0, 0, 17],
    ]
    assert table["precision"].tolist()[:2] == [8 / 9, 1]
    assert table["precision"].isna().tolist() == [False, False, True]
    assert classes.to_dict()["precision"] == [8 / 9, 1, None]
    matrix = classes.matrix_to_frame()
    assert matrix.columns.tolist() == ["predicted", "card", "loan", "predicted (actual)"]
    assert matrix.set_index("predicted").to_numpy().tolist() == classes.matrix.tolist()
