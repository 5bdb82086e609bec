"""Rows of counts are told apart by what they were sent as, not by where they count."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor
from monitor.feeds.decode import Decoder, DecodeSettings

NAMES = ("tp", "fp", "fn", "tn")
CAP = 3


def config_of(cap=CAP, segments=("region",), **more):
    model = {"segments": list(segments), "max_segment_values": cap, "label_timeout": None}
    return Config(models={"m": model | more})


def row(tp=1, batch="1", ts=0, **more):
    cells = {"tp": tp, "fp": 0, "fn": 0, "tn": 0}
    return {"type": "counts", "ts": ts, "source": "s", "batch": batch, **cells, **more}


def of_region(region, tp=1, **more):
    return row(tp, segment={"region": region}, **more)


class Receiver:
    """A monitor that takes NDJSON, and can be started again from its state."""

    def __init__(self, config):
        self.begin(config)

    def begin(self, config, state=None):
        self.config, self.decoder = config, Decoder(DecodeSettings.from_config(config))
        self.monitor = CountingMonitor(config, state)

    def take(self, *records):
        data = "\n".join(map(json.dumps, records)).encode()
        batch = self.decoder.decode_lines(data, source="test")
        assert not batch.rejected
        self.monitor.apply(batch)

    def restart(self, config=None, *, changed=lambda _: None):
        state = through_disk(self.monitor.state())
        changed(state["join"]["delivered"])
        self.begin(config or self.config, state)

    def cells(self):
        """Outcomes that are not 0, by segment key and value; both are None for the total."""
        snapshot = self.monitor.snapshot()
        pairs = zip(snapshot.series, snapshot.lifetime.counts, strict=True)
        found = {series[1:]: tuple(counts.cells.tolist()) for series, counts in pairs}
        return {name: cells for name, cells in found.items() if any(cells)}

    def tp(self):
        return self.cells()[None, None][0]


def test_rows_of_values_above_the_cap_add_up():
    receiver, rows = Receiver(config_of(cap=10)), [of_region(f"r{i}") for i in range(60)]
    for _ in range(3):
        receiver.take(*rows)
        assert receiver.tp() == 60
        assert receiver.cells()["region", "__other__"] == (50, 0, 0, 0)


def test_rows_that_differ_by_a_segment_key_that_is_not_configured_add_up():
    receiver = Receiver(config_of())
    rows = [row(segment={"region": "eu", "desk": desk}) for desk in ("a", "b", 3, None)]
    for _ in range(2):
        receiver.take(*rows, row(segment={"desk": "a"}), row(segment=None))
        assert receiver.tp() == 6
    receiver.take(row(9, segment={"desk": "3", "region": "eu"}))
    assert receiver.tp() == 14


def test_rows_of_versions_add_up_where_versions_are_not_counted_apart():
    receiver = Receiver(config_of())
    for _ in range(2):
        receiver.take(*(row(version=version) for version in ("1", "2", "3")), row())
        assert receiver.tp() == 4


@pytest.mark.parametrize("labelling", ["complete", "weighted"])
def test_rows_of_other_sampling_add_up(labelling):
    receiver = Receiver(config_of(labelling=labelling))
    shares = (1, 0.5, 0.4999, 0.4998, 1e-9, 1e-8)
    for _ in range(2):
        receiver.take(*(row(sampling_probability=share) for share in shares), row())
        assert receiver.tp() == 7


def test_rows_of_one_model_do_not_replace_those_of_another():
    config = Config(defaults={"label_timeout": None}, max_models=4)
    receiver = Receiver(config)
    for _ in range(2):
        receiver.take(*(row(model=name) for name in "ab"))
        assert [counts.cells[0] for counts in receiver.monitor.snapshot().lifetime.counts] == [1, 1]


def test_a_row_is_taken_back_where_it_was_counted_first():
    rows = [of_region(region, i + 1) for i, region in enumerate("abcd")]
    receiver = Receiver(config_of(cap=1))
    receiver.take(*rows)
    assert receiver.cells()["region", "__other__"][0] == 9
    receiver.restart(config_of(cap=9))
    receiver.take(*rows, of_region("b", 7))
    expected = {"a": 1, "b": 7, "c": 3, "d": 4}
    assert receiver.cells() == {
        (None, None): (15, 0, 0, 0),
        **{("region", name): (tp, 0, 0, 0) for name, tp in expected.items()},
    }
    (model,) = receiver.monitor.snapshot().models
    assert (model.matched, model.predictions_positive, model.labelled) == (15, 15, 15)


def test_segments_of_counts_are_checked_like_those_of_predictions():
    decoder = Decoder(DecodeSettings.from_config(config_of()))
    faults = {}
    for value in ("", True, 1.5, "x" * 300, ["eu"], {"a": 1}, "\0"):
        line = json.dumps(of_region(value)).encode()
        (rejection,) = decoder.decode_lines(line, source="test").rejected
        as_prediction = {"type": "prediction", "id": "a", "ts": 0, "prediction": 1}
        line = json.dumps(as_prediction | {"segment": {"region": value}}).encode()
        (expected,) = decoder.decode_lines(line, source="test").rejected
        faults[str(value)[:9]] = rejection.detail, expected.detail
        assert rejection.reason == expected.reason
    assert all(one == other for one, other in faults.values())
    odd = [{"desk": value, "region": "eu"} for value in (1.5, [1], {"a": [None]}, "\ud800")]
    lines = b"\n".join(json.dumps(row(segment=segment)).encode() for segment in odd)
    assert len(decoder.decode_lines(lines, source="test").counts) == len(odd) - 1


REGIONS = st.sampled_from([None, *"abcdefgh"])
SENT = st.tuples(
    REGIONS,
    st.sampled_from([None, "x", "y"]),  # a key that the receiver does not have
    st.sampled_from([0, 3600]),
    st.sampled_from([60, 7200]),
    st.sampled_from([None, 0.5, 0.501]),
    st.sampled_from("12"),
)
CELLS = st.tuples(*[st.integers(0, 9)] * 4)


def record_of(sent, cells):
    region, desk, ts, label_ts, share, batch = sent
    fields = row(0, batch, ts, label_ts=label_ts, segment={"region": region, "desk": desk})
    more = {} if share is None else {"sampling_probability": share}
    return fields | more | dict(zip(NAMES, cells, strict=True))


def recounted(last, own):
    found = defaultdict(lambda: np.zeros(4, np.int64))
    for (region, *_), cells in last.items():
        value = "__missing__" if region is None else region
        for name in ((None, None), ("region", value if value in own else "__other__")):
            found[name] += cells
    return found


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.dictionaries(SENT, CELLS, max_size=12), st.booleans()), max_size=4),
    st.data(),
)
def test_any_pieces_and_repetitions_equal_a_recount_of_the_last_of_each_row(deliveries, data):
    receiver, last, own = Receiver(config_of(labelling="weighted")), {}, []
    for rows, restarts in deliveries:
        records = [record_of(sent, cells) for sent, cells in rows.items()]
        start = 0
        while start < len(records):  # a piece, which may come again in part before it goes on
            end = data.draw(st.integers(start + 1, len(records)))
            receiver.take(*records[start:end])
            start = data.draw(st.integers(start, end)) if data.draw(st.booleans()) else end
        last |= rows
        for region, *_ in rows:
            value = "__missing__" if region is None else region
            if value not in own and len(own) < CAP:
                own.append(value)
        if restarts:
            receiver.restart()
    sums = recounted(last, own)
    assert receiver.cells() == {name: tuple(c.tolist()) for name, c in sums.items() if c.any()}


def before_20(delivered):
    """Make a state as the schema before 20 has it."""
    del delivered["sent"]


def test_a_state_from_before_rows_had_identities_replaces_them_by_their_place():
    rows = [of_region(region) for region in "abc"]
    receiver = Receiver(config_of())
    receiver.take(*rows, of_region("a", 5, batch="2"))
    receiver.restart(changed=before_20)
    receiver.restart()
    for _ in range(2):
        receiver.take(of_region("b", 4), *rows[::2])
        assert Counter(receiver.cells()) == {
            (None, None): (11, 0, 0, 0),
            ("region", "a"): (6, 0, 0, 0),
            ("region", "b"): (4, 0, 0, 0),
            ("region", "c"): (1, 0, 0, 0),
        }
