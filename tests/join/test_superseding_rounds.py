"""Only a prediction that supersedes all before it splits a batch into rounds."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from same import differences

from monitor import Monitor
from monitor.config import Config
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.settings import DecodeSettings
from monitor.join.join import Join

CONFIG = Config(models={"m": {"segments": ("shop",), "threshold": 0.5, "max_segment_values": 20}})
events = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.integers(0, 12), st.sampled_from([0.2, 0.7, None])
    ),
    min_size=1,
    max_size=60,
)


def line(key, time, shop, score):
    if score is None:
        return f'{{"type":"label","id":"{key}","ts":{time},"label":{shop % 2}}}\n'
    segment = f'{{"shop":"{shop}"}}'
    return f'{{"type":"prediction","id":"{key}","ts":{time},"score":{score},"segment":{segment}}}\n'


def monitor_of(blocks):
    monitor, decoder = Monitor(CONFIG), Decoder(DecodeSettings.from_config(CONFIG))
    for block in blocks:
        monitor.apply(decoder.decode_lines(block.encode(), source="posted"))
    return monitor


@given(events)
def test_a_batch_is_its_lines_one_by_one(found):
    lines = [line(*one) for one in found]
    whole, single = monitor_of(["".join(lines)]), monitor_of(lines)
    joined = [monitor.state()["join"] for monitor in (whole, single)]
    for state in joined:  # maxima before some are taken back, which rest on batches
        del state["books"]["most_predictions"], state["books"]["most_applied"]
    assert not [*differences(*joined)]


def test_predictions_of_one_id_that_follow_an_earlier_one_are_joined_at_once():
    lines = [line("a", 0, shop, 0.7) for shop in range(100)]
    with patch.object(Join, "_in_rounds") as in_rounds:
        monitor = monitor_of(["".join(lines)])
    assert not in_rounds.called
    state = monitor.snapshot().models[0]
    assert (state.predictions_positive, state.duplicates) == (1, 99)
    assert np.array_equal(state.delay_sum, [0, 0])
