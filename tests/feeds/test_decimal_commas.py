"""Decimal commas of spreadsheets are read in scores, sampling probabilities and classes alone."""

import pytest

from monitor import Monitor
from monitor.config.mapping import mapped_records
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields

DECODER = Decoder(DecodeSettings(default=ModelFields(threshold=0.5)))
MAPPING = mapped_records({"score": "Wert"}, {}, {"zone": "Europe/Berlin"})


def batch_of(text, mapping=None):
    (batch,) = read_csv([text.encode()], "t.csv", DECODER, 1_000, mapping=mapping, say=lambda _: 0)
    return batch


@pytest.mark.parametrize("cell", ["0,25", " ,25", "0,250", "2,5e-1", "+0,25"])
@pytest.mark.parametrize(("column", "mapping"), [("score", None), ("Wert", MAPPING)])
def test_a_score_may_have_a_decimal_comma(cell, column, mapping):
    batch = batch_of(f"id;ts;{column}\na;60;{cell}\nb;60;0.75\n", mapping)
    assert batch.predictions.score.tolist() == [0.25, 0.75]


def test_a_number_with_a_decimal_comma_is_quoted_between_commas():
    assert batch_of('id,ts,score\na,60,"0,25"\n').predictions.score.tolist() == [0.25]


def test_sampling_probabilities_and_classes_may_have_decimal_commas():
    text = "id;ts;label;sampling_probability\na;60;1,0;0,5\nb;60;0,0;1\n"
    labels = batch_of(text).labels
    assert (labels.value.tolist(), labels.sampling_probability.tolist()) == ([1, 0], [0.5, 1.0])


@pytest.mark.parametrize("cell", ["87,5", "1,000,0", "0,2x", ",", "0.2,5"])
def test_what_is_no_share_with_one_comma_is_rejected(cell):
    (rejection,) = batch_of(f"id;ts;score\na;60;{cell}\n").rejected
    assert rejection.detail.startswith("score: must be a number from 0 to 1")


def test_times_have_no_decimal_comma():
    (rejection,) = batch_of("id;ts;score\na;60,5;0.5\n").rejected
    assert rejection.detail.startswith("ts: must be epoch seconds")


def test_texts_of_a_python_table_are_read_as_those_of_a_file():
    monitor = Monitor()
    read = monitor.feed({"ts": [0, 60], "prediction": ["1,0", "0,0"], "label": [1, 0],
                         "score": ["0,7", "0,2"]})  # fmt: skip
    assert (read.rows, read.rejected) == (2, {})
