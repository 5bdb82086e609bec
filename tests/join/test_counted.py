import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events import CountDeltas, EventBatch, Group, Outcomes

HOUR = 3_600_000


def counts(*rows):
    """A batch of (time, batch key, tp, fp, fn, tn) rows of one model."""
    table = np.array(rows, np.int64).reshape(-1, 6)
    cells = table[:, 2:]
    return EventBatch(
        counts=CountDeltas(
            time=table[:, 0],
            group=np.zeros(len(table), np.int64),
            cells=cells,
            population=np.stack([cells[:, :2].sum(1), cells[:, 2:].sum(1)], axis=1),
            batch_key=table[:, 1].astype(np.uint64),
        ),
        groups=(Group("m"),),
        records=len(table),
    )


def fed(*batches):
    monitor = Monitor(Config(defaults={"label_timeout": None}))
    for batch in batches:
        monitor.apply(batch)
    return monitor


def outcomes(monitor):
    return monitor.snapshot().lifetime.counts[0].cells.tolist()


def test_counts_are_added():
    monitor = fed(counts((0, 0, 1, 2, 3, 4)), counts((0, 0, 1, 2, 3, 4)))
    assert outcomes(monitor) == [2, 4, 6, 8]


def test_the_same_delivery_again_replaces_and_never_adds():
    monitor = fed(
        counts((0, 7, 1, 2, 3, 4)), counts((0, 7, 1, 2, 3, 4)), counts((0, 7, 5, 0, 0, 0))
    )
    assert outcomes(monitor) == [5, 0, 0, 0]


def test_rows_of_one_delivery_are_told_apart_by_their_time():
    monitor = fed(counts((0, 7, 1, 0, 0, 0), (HOUR, 7, 2, 0, 0, 0)), counts((HOUR, 7, 3, 0, 0, 0)))
    assert outcomes(monitor) == [4, 0, 0, 0]


def test_negative_counts_take_outcomes_back():
    monitor = fed(counts((0, 1, 5, 0, 0, 5)), counts((0, 2, -1, 0, 1, 0)))
    assert outcomes(monitor) == [4, 0, 1, 5]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), *[st.integers(0, 9)] * 4)))
def test_any_number_of_deliveries_equals_the_last_of_each(rows):
    monitor = fed(*(counts((t * HOUR, key, *cells)) for t, key, *cells in rows))
    last = {(t, key): cells for t, key, *cells in rows}
    expected = [sum(cells[i] for cells in last.values()) for i in range(4)]
    assert (outcomes(monitor) if rows else [0] * 4) == expected


def test_outcomes_without_an_id_count_at_once():
    n = 5
    batch = EventBatch(
        outcomes=Outcomes(
            time=np.arange(n) * HOUR,
            label_time=np.arange(n) * HOUR + 1,
            predicted_positive=np.array([True, True, False, False, True]),
            actual_positive=np.array([True, False, True, False, True]),
            score=np.full(n, np.nan),
            group=np.zeros(n, np.int64),
        ),
        groups=(Group("m"),),
        records=n,
    )
    snapshot = fed(batch).snapshot()
    assert snapshot.lifetime.counts[0].cells.tolist() == [2, 1, 1, 1]
    (model,) = snapshot.models
    assert (model.matched, model.pending, model.labelled) == (5, 0, 5)
    assert snapshot.labels.applied == 5


def test_a_correction_that_comes_before_what_it_corrects_leaves_the_outcomes_unknown():
    monitor = fed(
        counts((0, 1, -5, 0, 0, 0)), counts((HOUR, 0, 0, 0, 0, 1)), counts((9, 0, 1, 0, 0, 0))
    )
    assert outcomes(monitor) == [0, 0, 0, 0]
    monitor.apply(counts((1, 2, 9, 0, 0, 0)))
    assert outcomes(monitor) == [5, 0, 0, 1]


def test_a_flood_of_corrections_stops_nothing():
    hours = [counts((h * HOUR, 0, 40, 20, 10, 300)) for h in range(24 * 20)]
    monitor = fed(*hours, counts((24 * 19 * HOUR, 0, -50_000, 0, 0, 0)))
    for h in range(24 * 20, 24 * 24):
        monitor.apply(counts((h * HOUR, 0, 40, 20, 10, 300)))
    assert outcomes(monitor) == [0, 0, 0, 0]
    assert monitor.snapshot().events["counts"] == 24 * 24 + 1
