"""The time that labels in the records of predictions reach, beside a recount of all records."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.events.columns import EventBatch, Group, Labels, Outcomes, Predictions
from monitor.events.labels_ahead import LabelsAhead

DAY = 86_400_000
CONFIG = Config(models={"a": {"label_timeout": "2d"}, "b": {}})
GROUPS = tuple(Group(model, version) for model in "ab" for version in ("1", "2"))
records = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(0, 4 * 24), st.booleans()),
    max_size=30,
)


def batch_of(rows):
    """Records whose labels come some hours later, some of them with an id."""
    group, made, later, has_id = (np.array(column) for column in zip(*rows, strict=True))
    made, later, row = made * DAY, later * 3_600_000, np.arange(len(rows))
    own, rest = np.flatnonzero(has_id), np.flatnonzero(~has_id)
    key = row.astype(np.uint64)
    flags, none = np.zeros(len(rows), dtype=np.bool_), np.full(len(rows), np.nan)
    return EventBatch(
        predictions=Predictions(
            key=key[own],
            time=made[own],
            predicted_positive=flags[own],
            score=none[own],
            group=group[own],
            row=row[own],
        ),
        labels=Labels(
            key=key[own],
            time=(made + later)[own],
            value=np.zeros(len(own), dtype=np.int64),
            sampling_probability=none[own],
            prediction_time=made[own],
            row=row[own],
        ),
        outcomes=Outcomes(
            time=made[rest],
            label_time=(made + later)[rest],
            predicted_positive=flags[rest],
            actual_positive=flags[rest],
            score=none[rest],
            group=group[rest],
            row=row[rest],
        ),
        groups=GROUPS,
        records=len(rows),
    )


@settings(max_examples=60)
@given(st.lists(records, min_size=1, max_size=5))
def test_it_is_the_third_latest_time_of_each_model_however_records_are_batched(batches):
    ahead, times = LabelsAhead(CONFIG), {"a": [], "b": []}
    for rows in filter(None, batches):
        ahead.add(batch_of(rows))
        for group, made, later, _ in rows:
            model = GROUPS[group].model
            if model == "b" or later <= 48:
                times[model].append(made * DAY + later * 3_600_000)
    expected = {name: sorted(all_of)[-3] for name, all_of in times.items() if len(all_of) >= 3}
    assert ahead.reached() == expected


def test_labels_of_their_own_and_audits_reach_nothing():
    ahead, rows = LabelsAhead(CONFIG), [(0, day, 1, True) for day in range(5)]
    batch = batch_of(rows)
    alone = Labels(
        key=batch.labels.key,
        time=batch.labels.time,
        value=batch.labels.value,
        sampling_probability=batch.labels.sampling_probability,
    )
    ahead.add(EventBatch(predictions=batch.predictions, labels=alone, groups=GROUPS, records=10))
    audits = replace(batch.labels, value=~batch.labels.value)
    ahead.add(EventBatch(predictions=batch.predictions, labels=audits, groups=GROUPS, records=5))
    assert ahead.reached() == {}
