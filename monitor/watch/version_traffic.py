"""How many predictions each version of a model made, as far as versions are counted apart."""

from __future__ import annotations

from monitor.events.catalogue import Catalogue
from monitor.events.columns import VERSION_KEY
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.windows import Windows


def predictions_by_version(catalogue: Catalogue, windows: Windows, model: int) -> dict[str, int]:
    """Return how many predictions each version that decides ever made, by its name.

    Args:
        catalogue: models and series.
        windows: counts.
        model: number of the model.

    Returns:
        Nothing where the version is no segment.
    """
    rows, all_series = catalogue.rows_of(model), catalogue.series
    rows = rows[[all_series[row].segment == VERSION_KEY for row in rows.tolist()]]
    made = windows.lifetime[rows, PREDICTED_POSITIVE:].sum(axis=1)
    names = [all_series[row].value or "" for row in rows.tolist()]
    return dict(zip(names, made.tolist(), strict=True))
