"""Text of Python with half a surrogate pair, which UTF-8 cannot hold, is refused by its field."""

import json
import re

import pandas as pd
import pytest
from pydantic import ValidationError

from monitor import Monitor
from monitor.config import Config
from monitor.feeds.decode import Decoder, DecodeSettings

LONE = "\ud800"
MANY = Config(defaults={"classes": ["card", "loan", "other"]})
LEARNED = Config(defaults={"classes": "learned"})
SEGMENTS = Config(defaults={"segments": ["shop"]})
REFUSED = r'contains a lone surrogate, .*, got "\\ud800"; replace it by \.encode\('
FIELDS = [
    ({"id": LONE}, "id", REFUSED),
    ({"ts": LONE}, "ts", "must be epoch seconds or ISO 8601"),
    ({"model": LONE}, "model", REFUSED),
    ({"version": LONE}, "version", REFUSED),
    ({"segment": {"shop": LONE}}, r"segment\.shop", REFUSED),
    ({"prediction": LONE}, "prediction", "must be 0, 1, true or false"),
]


@pytest.mark.parametrize(("changed", "field", "fault"), FIELDS)
def test_a_prediction_is_refused_and_the_next_one_counts(changed, field, fault):
    monitor = Monitor(SEGMENTS)
    good = {"id": "a", "ts": 0, "prediction": 1}
    with pytest.raises(ValueError, match=f"^prediction '.*': {field}: {fault}"):
        monitor.predict(**{**good, **changed})
    monitor.predict(**good)
    assert monitor.snapshot().models[0].pending == 1


@pytest.mark.parametrize(("changed", "field"), [({"id": LONE}, "id"), ({"source": LONE}, "source")])
def test_a_label_is_refused(changed, field):
    with pytest.raises(ValueError, match=f"^label '.*': {field}: {REFUSED}"):
        Monitor().label(**{"id": "a", "ts": 0, "label": 1, **changed})


@pytest.mark.parametrize(
    ("config", "allowed"), [(MANY, "'card', 'loan' or 'other'"), (LEARNED, "the name of a class")]
)
def test_it_names_no_class_and_is_no_class_to_add(config, allowed):
    with pytest.raises(ValueError, match=f"prediction: must be {allowed}") as refused:
        Monitor(config).predict("a", ts=0, prediction=LONE)
    assert str(refused.value).endswith('got "\\ud800"')  # so that it can be printed


@pytest.mark.parametrize(("changed", "field", "fault"), FIELDS)
@pytest.mark.parametrize("table", [list, lambda rows: pd.DataFrame(rows, dtype=object)])
def test_the_row_of_a_table_is_rejected_and_the_others_count(changed, field, fault, table):
    rows = [{"id": str(n), "ts": n, "model": "m", "prediction": 1} for n in range(3)]
    rows = [{**row, "version": "1", "segment": {"shop": "x"}} for row in rows]
    rows[1] |= changed
    monitor = Monitor(SEGMENTS)
    read = monitor.feed(table(rows))
    assert read.rejected == {"bad_value": 1}
    assert re.match(f"{field}: {fault}", read.first[0].detail)
    assert monitor.snapshot().models[0].pending == 2


@pytest.mark.parametrize("kernel", ["c", "python"])
def test_a_line_is_rejected_with_the_field(kernel):
    decoder = Decoder(DecodeSettings.from_config(MANY), kernel=kernel)
    line = json.dumps({"id": LONE, "ts": 0, "prediction": "card", "note": [LONE], "model": "m"})
    (rejected,) = decoder.decode_lines(line.encode(), source="t").rejected
    assert str(rejected.reason) == "malformed"
    assert rejected.detail.endswith('not a valid character, in "id", "note"')


def test_a_class_of_the_configuration_is_refused():
    with pytest.raises(ValidationError, match="unprintable characters; remove them"):
        Config(defaults={"classes": ["card", "loan", LONE]})
