"""The classes of a window as Python shows them."""

from monitor import Monitor
from monitor.config import Config


def test_a_window_of_many_classes_has_its_matrix_metrics_and_averages() -> None:
    monitor = Monitor(Config(models={"mail": {"classes": ["card", "loan", "other"]}}))
    pairs = [("card", "card")] * 8 + [("card", "loan")] + [("loan", "loan")] * 8
    for number, (prediction, label) in enumerate(pairs):
        monitor.predict(str(number), ts=number, prediction=prediction, model="mail")
        monitor.label(str(number), ts=number, label=label)
    classes = monitor["mail"]["all"].classes
    assert classes is not None
    assert classes.matrix.tolist() == [[8, 1, 0], [0, 8, 0], [0, 0, 0]]
    loan = classes.by_class["loan"]
    assert (loan.predictions, loan.counts.fn, loan.metrics["recall"]) == (8, 1, 8 / 9)
    assert classes.averages["macro"]["precision"] == (8 / 9 + 1) / 2
    assert not classes.by_class["other"].metrics["precision"].is_defined
    assert classes.accuracy == 16 / 17
    assert classes.cohen_kappa > 0.8


def test_a_window_of_two_classes_has_none() -> None:
    monitor = Monitor()
    monitor.predict("a", ts=1, prediction=1)
    assert monitor["default"]["all"].classes is None
