"""How far recorded events are out of the order of time."""

import json

from monitor.config import Config
from monitor.events.record_order import RecordOrder
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
LATE = 400 * DAY
PREDICTIONS = [{"id": str(n), "ts": n * DAY // 10, "prediction": n % 2} for n in range(1_000)]
LABELS = [{"id": str(n), "ts": (n + 5) * DAY // 10, "label": n % 2} for n in range(1_000)]
BY_TIME = sorted([*PREDICTIONS, *LABELS], key=lambda record: record["ts"])


def order_of(records, lost=0, batch=700):
    decoder, order = Decoder(DecodeSettings.from_config(Config())), RecordOrder()
    for start in range(0, len(records), batch):
        lines = "".join(json.dumps(one) + "\n" for one in records[start : start + batch])
        order.add(decoder.decode_lines(lines.encode(), source="events", first_line=1))
    return order.fault(lost, "ts")


def test_records_by_time_are_in_order_whatever_labels_are_lost():
    assert order_of(BY_TIME, lost=500) == ""


def test_records_by_falling_time_are_out_of_order():
    assert order_of(PREDICTIONS[::-1]) == (
        "744 of 1,000 predictions are more than a day older than records before them: windows, "
        "references and verdicts follow the order of the records; sort them by ts"
    )


def test_rows_with_prediction_and_label_count_by_the_time_of_the_prediction():
    rows = [{**p, "label": 1, "label_ts": p["ts"] + LATE} for p in PREDICTIONS]
    assert order_of(rows) == ""
    assert "of 1,000 predictions" in order_of(rows[::-1])


def test_labels_behind_all_predictions_matter_where_some_are_lost():
    assert order_of([*PREDICTIONS, *LABELS]) == ""
    found = order_of([*PREDICTIONS, *LABELS], lost=300)
    assert found.startswith("982 of 1,000 labels are more than a day older than records before")
    assert "300 labels found no prediction that waited for one" in found


def test_ids_are_named_first_where_no_label_finds_a_prediction():
    assert order_of([*PREDICTIONS, *LABELS], lost=1_000) == (
        "none of 1,000 labels found a prediction that waited for one: check that both write ids "
        "alike, since 007 and 7.0 are other ids than 7; if they do, sort the records by ts, those "
        "of predictions and labels together"
    )


def test_two_records_from_the_future_put_nothing_out_of_order():
    strays = [{"id": f"stray {n}", "ts": LATE + n, "prediction": 1} for n in range(3)]
    assert order_of([*PREDICTIONS[:10], *strays[:2], *PREDICTIONS[10:]], batch=8) == ""
    assert order_of([*PREDICTIONS[:10], *strays, *PREDICTIONS[10:]], batch=8) != ""


def test_one_record_of_a_hundred_may_lie_behind():
    behind = [*PREDICTIONS[10:], *PREDICTIONS[:10]]
    assert order_of(behind) == ""
    assert order_of([*PREDICTIONS[11:], *PREDICTIONS[:11]]) != ""
