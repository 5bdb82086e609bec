"""How the times of models go through a batch, behind the end of an epoch too."""

import json

import numpy as np
import pytest

from monitor.engine.course import Course
from monitor.events.columns import NO_TIME
from monitor.events.model_times import EPOCH_ROWS, ModelTimes
from monitor.events.parts import split_behind
from monitor.feeds.decode import Decoder, DecodeSettings

HOUR = 3_600
NOON = 1_790_000_000 // 86_400 * 86_400 + 86_400 // 2
MODELS = np.zeros(1, dtype=np.int64)


def predictions(count, start):
    """A batch of predictions of one model, one a second."""
    lines = [
        {"type": "prediction", "id": f"p{start + i}", "ts": NOON + start + i, "prediction": 1}
        for i in range(count)
    ]
    decoder = Decoder(DecodeSettings())
    return decoder.decode_lines(b"\n".join(json.dumps(one).encode() for one in lines), source="t")


@pytest.fixture
def times():
    """The times of a model of which twenty predictions came, and then labels of an hour later."""
    found = ModelTimes(HOUR * 1000)
    found.ensure(1)
    found.advance(predictions(20, 0), MODELS)
    return found


def heard(times):
    """Labels of an hour later carry the settled time once an epoch ends."""
    label = np.array([(NOON + HOUR + second) * 1000 for second in range(5)])
    times.hear(np.zeros(5, dtype=np.int64), label, np.arange(5, dtype=np.uint64))
    times.end_epoch()
    assert times.settled[0] > (NOON + HOUR) * 1000


@pytest.mark.parametrize(("before", "carried"), [(EPOCH_ROWS - 4, True), (EPOCH_ROWS, False)])
def test_the_course_is_found_anew_behind_an_epoch_alone(times, before, carried):
    batch, course = predictions(8, 20), Course(times, MODELS)
    course.seen(batch, before)
    (whole,) = course.paths(batch, before)
    piece, rest = split_behind(batch, 3)
    times.advance(piece, MODELS)
    heard(times)
    seen = course.seen(rest, before + 4)
    (path,) = course.paths(rest, before + 4)
    if carried:
        assert seen.settled.tolist() == times.settled.tolist()
        assert path.time.tolist() == [times.settled[0]] * 5
    else:
        assert path.time.tolist() == whole.time[4:].tolist()
        assert NO_TIME < seen.settled[0] < times.settled[0]
