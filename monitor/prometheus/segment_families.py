"""The family about segment values in which the model certainly became worse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import VERSION_KEY, FloatArray
from monitor.labels.regime import LabelRegime
from monitor.prometheus.family import Family, line
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.worse_segment import worse_values
from monitor.snapshot import ModelState, Snapshot


def segment_families() -> Iterator[Family]:
    """Yield the family, in the order of the exposition."""
    yield Family(
        name="classifier_segment_worse",
        kind="gauge",
        meaning="1 while recall certainly fell, or false positives rose, for the segment value, "
        "and the verdict on the model does not say that it is worse; 0 otherwise; absent before "
        "there is a reference, and where labels are a sample or have errors.",
        labels=("model", "segment", "value"),
        lines=lambda shape: [
            line(model=one.model, segment=one.segment, value=one.value or "")
            for one in shape.series
            if one.segment is not None and one.segment != VERSION_KEY
        ],
        values=_values,
    )


def _values(snapshot: Snapshot) -> FloatArray:
    windows = [window.name for window in snapshot.windows]
    worse = {
        model.name: _worse_rows(model, windows) for model in snapshot.models if _is_tested(model)
    }
    numbers = snapshot.numbers or range(len(snapshot.series))
    return np.array(
        [
            float(number in worse[one.model]) if one.model in worse else np.nan
            for number, one in zip(numbers, snapshot.series, strict=True)
            if one.segment is not None and one.segment != VERSION_KEY
        ],
        dtype=np.float64,
    )


def _worse_rows(model: ModelState, windows: list[str]) -> frozenset[int]:
    found = model.watched.verdicts.values()
    if not any(one.worse_values or (one.beyond and one.beyond.worse_values) for one in found):
        return frozenset()
    deciding = verdict_on(model, deciding_window(model, windows))
    return frozenset(one.row for one in worse_values(model, deciding))


def _is_tested(model: ModelState) -> bool:
    is_compared = model.watched.reference is not None and model.watched.classes is None
    return is_compared and not LabelRegime.now(model).is_estimated
