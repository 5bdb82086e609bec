"""Why did precision drop between these two months: the lines that a user writes.

    python -m tests.benchmarks.two_months monitor|nannyml|evidently|river

Each function is what a user of one library writes for a frame of cases, import included: a
`ts`, `score`, `prediction` and `label` a row. The program runs one, and counts its statements.
Each needs its library alone, and no other part of this project.
"""

# ruff: noqa: PLC0415  # an import is one of the lines

from __future__ import annotations

import ast
import inspect
import os
import sys
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent

import pandas as pd

FLIGHTS = Path(__file__).parents[2] / "monitor" / "demo" / "flights.ndjson.gz"


def by_monitor(flights: pd.DataFrame) -> None:
    """The cause, with intervals."""
    from monitor import compare

    print(compare("2013-07", "2013-09", flights))


def by_nannyml(flights: pd.DataFrame) -> None:
    """Both rates and prevalence of each month, with an alert on each."""
    import nannyml

    months = flights["ts"].dt.month
    before, after = flights[months == 7], flights[months == 9]  # July, September
    by_month = {"timestamp_column_name": "ts", "chunk_period": "M"}
    columns = {"y_true": "label", "y_pred": "prediction", "y_pred_proba": "score"}
    rates = nannyml.PerformanceCalculator(
        metrics=["precision", "recall", "specificity"],
        problem_type="classification_binary",
        **columns,
        **by_month,
    )
    print(rates.fit(before).calculate(after).to_df().T.to_string())
    prevalence = nannyml.SummaryStatsAvgCalculator(column_names=["label"], **by_month)
    print(prevalence.fit(before).calculate(after).to_df().T.to_string())


def by_evidently(flights: pd.DataFrame) -> None:
    """Both rates and prevalence of each month."""
    from evidently import BinaryClassification, DataDefinition, Dataset, Report
    from evidently.metrics import FPR, TPR, MeanValue, Precision

    roles = BinaryClassification(target="label", prediction_labels="prediction")
    definition = DataDefinition(classification=[roles], numerical_columns=["label"])
    months = flights["ts"].dt.month
    cases = flights[["label", "prediction"]]
    before = Dataset.from_pandas(cases[months == 7], definition)  # July
    after = Dataset.from_pandas(cases[months == 9], definition)  # September
    report = Report([Precision(), TPR(), FPR(), MeanValue(column="label")])
    print(report.run(before, None).json(), report.run(after, None).json())


def by_river(flights: pd.DataFrame) -> None:
    """Both rates and prevalence of each month."""
    from river import metrics

    months = flights["ts"].dt.month
    for month in (7, 9):
        matrix = metrics.ConfusionMatrix()
        for case in flights[months == month].itertuples():
            matrix.update(case.label, case.prediction)
        print(metrics.Precision(cm=matrix), metrics.Recall(cm=matrix))
        print(matrix.false_positives(1) / matrix.sum_row[0], matrix.sum_row[1] / matrix.n_samples)


LIBRARIES = {
    "monitor": (by_monitor, "precision-monitor"),
    "nannyml": (by_nannyml, "nannyml"),
    "evidently": (by_evidently, "evidently"),
    "river": (by_river, "river"),
}
"""What a user writes, and the distribution, by name of the library."""


def cases() -> pd.DataFrame:
    """The bundled flights that have a label."""
    events = pd.read_json(FLIGHTS, lines=True)
    events["ts"] = pd.to_datetime(events["ts"], unit="s")
    made = events[events["type"] == "prediction"].drop(columns=["type", "label", "segment"])
    labels = events.loc[events["type"] == "label", ["id", "label"]]
    return made.merge(labels, on="id").astype({"prediction": int, "label": int})


def main() -> None:
    """Run one library, and count its lines."""
    written, distribution = LIBRARIES[sys.argv[1]]
    (function,) = ast.parse(dedent(inspect.getsource(written))).body
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(function))
    os.environ["NML_DISABLE_USAGE_LOGGING"] = os.environ["DO_NOT_TRACK"] = "1"
    written(cases())
    print(f"{distribution} {version(distribution)}: {statements - 2} statements")


if __name__ == "__main__":
    main()
