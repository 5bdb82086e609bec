"""What is known of a model while no metric is, in each case of missing labels."""

import json
import re
from dataclasses import replace

import httpx
import numpy as np
import pytest
import yaml
from cli.commands import ran
from exporter.page.pages import fed, served

from monitor.cli.top import table
from monitor.config import Config, load_config
from monitor.engine import Monitor
from monitor.exporter.api.score_shares import distance_text, scores_now, scores_text
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.formats import last_label
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.report.without_labels import without_labels

DAY = 86_400
START = 20_000 * DAY


def predictions(days, a_day=50, flagged=0.2):
    rng = np.random.default_rng(4)
    return [
        {"type": "prediction", "id": f"p{number}", "ts": START + DAY * number / a_day}
        | {"model": "m", "prediction": int(rng.random() < flagged)}
        for number in range(days * a_day)
    ]


def labels(made, until, hours=2):
    return [
        {"type": "label", "id": one["id"], "ts": one["ts"] + 3600 * hours, "label": 1}
        for one in made
        if one["ts"] < START + DAY * until
    ]


def answered(records, **settings):
    config = Config(defaults={"label_timeout": "3d", **settings}, windows=["1d", "7d"])
    in_order = sorted(records, key=lambda one: one["ts"])
    return status_answer(fed(Monitor(config), in_order).snapshot(), limit=2)


def test_outcomes_of_one_record_are_not_called_old():
    """Event time begins with the second record."""
    record = {"type": "counts", "model": "m", "ts": START, "tp": 2, "fp": 3, "fn": 2, "tn": 77}
    (model,) = answered([record]).models
    found = model.without_labels
    assert found.reason == "too_recent"
    assert found.text == (
        "84 of 84 predictions have a label. Windows show predictions that are old enough, when "
        "nearly all labels have come; there are none yet."
    )


def test_predictions_that_expired_are_counted_and_what_to_send_is_an_event_that_decodes():
    made = predictions(10)
    status = answered(made)
    (model,) = status.models
    found = model.without_labels
    assert found.reason == "expired"
    assert f"of 500 predictions {model.expired} expired without a label 3 days after" in found.text
    assert model.expired + model.pending == 500
    assert model.expired > 300
    flagged = sum(one["prediction"] for one in made) / len(made)
    assert model.usual_predicted_positive_rate.rate == pytest.approx(flagged)
    assert model.usual_predicted_positive_rate.source == "all"
    last = [one["prediction"] for one in made[-350:]]
    assert model.windows["7d"].predicted_positive_rate == pytest.approx(np.mean(last), abs=0.01)
    assert any(f"{flagged:.3f}".removeprefix("0") + " so far" in text for text in found.known)
    event, feed = found.send
    decoder = Decoder(DecodeSettings.from_config(Config()))
    batch = decoder.decode_lines(event.encode() + b"\n", source="test", first_line=1)
    assert (len(batch.labels), len(batch.rejected)) == (1, 0)
    (mapped,) = Config(feeds=[yaml.safe_load(feed)]).feeds
    assert set(mapped.fields) == {"id", "ts", "label"}


def test_before_anything_is_overdue_all_predictions_wait():
    (model,) = answered(predictions(1)).models
    assert model.without_labels.reason == "none_yet"
    assert "50 predictions wait for one; each expires 3 days after" in model.without_labels.text


def test_labels_that_stopped_are_told_from_labels_that_never_came():
    made = predictions(20)
    status = answered(made + labels(made, 8), maturity="6h")
    (model,) = status.models
    assert model.without_labels.reason == "stopped"
    assert "The last label is from 11.9 days ago" in model.without_labels.text
    assert model.without_labels.known[0].startswith("Of all 400 labelled so far")
    row = next(line for line in table(status) if line.startswith("m "))
    assert row.split()[-1] == "12d"  # as in the sentence, not rounded down


def test_a_window_that_a_model_does_not_use_does_not_hide_that_its_labels_stopped():
    """A longer window, which other models use, still holds labels of this one."""
    made = predictions(20)
    config = Config(defaults={"label_timeout": "30d", "maturity": "6h"}, windows=["1d", "14d"])
    in_order = sorted(made + labels(made, 12), key=lambda one: one["ts"])
    snapshot = fed(Monitor(config), in_order).snapshot()
    (model,) = snapshot.models
    assert without_labels(snapshot, model) is None
    unused = replace(model, unused_windows=("14d",))
    assert without_labels(snapshot, unused).reason == "stopped"


def test_where_labels_stopped_and_none_is_missing_no_prediction_waits():
    made = predictions(20)
    snapshot = fed(Monitor(Config(windows=["1d"], defaults={"maturity": "6h"})), made).snapshot()
    (model,) = snapshot.models
    complete = replace(model, pending=0, labelled=model.pending, matched=model.pending)
    assert without_labels(snapshot, complete).text == (
        "The last label is from more than 90 days ago: no prediction waits for one."
    )


def test_one_page_states_one_age_of_the_last_label_where_other_models_are_further_on():
    made = predictions(20)
    further = [one | {"model": "other", "id": f"o{one['id']}"} for one in predictions(34)]
    status = answered([*made, *labels(made, 8), *further], maturity="6h")
    model = next(one for one in status.models if one.name == "m")
    assert model.behind_seconds == pytest.approx(14 * DAY, abs=1)
    assert model.without_labels.text.startswith("The last label is from 25.9 days ago: ")
    assert last_label(model) == "25.9 days ago"


def test_labels_without_a_time_of_their_own_say_nothing_about_their_delay():
    made = predictions(20)
    (model,) = answered(made + labels(made, 8, hours=0), maturity="6h").models
    assert model.without_labels.reason == "stopped"
    assert model.label_delay is None
    assert not [text for text in model.without_labels.known if "Labels so far" in text]


def test_labels_whose_ids_are_unknown_are_named():
    made = predictions(2)
    others = [one | {"id": f"other-{one['id']}"} for one in labels(made, 1)]
    (model,) = answered(made + others).models
    assert "50 wait for a prediction with their id" in model.without_labels.lost
    (model,) = answered(made + others[:1]).models
    assert "1 waits for a prediction with its id" in model.without_labels.lost


def test_a_model_with_metrics_or_without_predictions_has_nothing_to_say():
    made = predictions(9)
    (model,) = answered(made + labels(made, 9), maturity="6h").models
    assert model.without_labels is None
    assert model.label_delay.labels == 450
    assert model.label_delay.mean_seconds == pytest.approx(7200, rel=0.01)
    for seconds in (model.label_delay.half_within_seconds, model.label_delay.most_within_seconds):
        assert 7200 <= seconds <= 1.19 * 7200  # a quarter of an octave at most
    config = Config(models={"m": {}})
    (empty,) = status_answer(Monitor(config).snapshot(), limit=1).models
    assert empty.without_labels is None


def test_before_the_first_label_it_is_said_when_a_reference_can_be_complete():
    (model,) = answered(predictions(2)).models
    found = model.without_labels
    assert found.reason == "none_yet"
    assert found.text.endswith(
        "(`label_timeout`). With labels, the reference is complete on 11 October 2024 at the "
        "earliest."
    )


def test_top_prints_what_is_known_and_a_line_to_send():
    lines = table(answered(predictions(10)))
    text = " ".join(line.strip() for line in lines)
    assert "What moved precision? Not known: no labels yet. Is the model worse? Cannot be" in text
    assert text.index("Is the model worse?") < text.index("No label has come")
    assert "Share of flagged cases" in text
    assert 'Send: {"type": "label"' in text
    assert max(map(len, lines)) <= 80
    assert json.loads(answered(predictions(10)).models[0].without_labels.send[0])["label"] == 1


@pytest.mark.parametrize("classes", [["card", "loan", "other"], "learned"])
def test_of_many_classes_nothing_is_flagged_and_the_label_to_send_is_a_class(classes):
    names = ["card", "loan", "other"]
    made = [{**one, "prediction": names[number % 3]} for number, one in enumerate(predictions(20))]
    come = [{**one, "label": "card"} for one in labels(made, 8)]
    model = {"classes": classes, "label_timeout": "3d", "maturity": "6h"}
    config = Config(models={"m": model}, windows=["1d", "7d"])
    never, stopped = (
        status_answer(fed(Monitor(config), records).snapshot(), limit=1).models[0].without_labels
        for records in (made, sorted(made + come, key=lambda one: one["ts"]))
    )
    assert never.reason == "expired"
    assert never.known == ()
    assert stopped.reason == "stopped"
    so_far, delays = stopped.known
    assert so_far.startswith("Of all 400 labelled so far")
    assert "accuracy .34" in so_far
    assert delays == (
        "Labels so far: 400, 2 hours after the prediction on average; 99 of 100 within 2.3 hours."
    )
    decoder = Decoder(DecodeSettings.from_config(Config(models={"m": {"classes": names}})))
    batch = decoder.decode_lines(never.send[0].encode() + b"\n", source="test", first_line=1)
    assert (len(batch.labels), len(batch.rejected)) == (1, 0)


def test_labels_that_nearly_all_come_at_once_took_no_time_to_name():
    """It said that 99 of 100 took less than 0 seconds."""
    made = predictions(20)
    (first, *others) = labels(made, 8, hours=0)
    late = {**first, "ts": first["ts"] + 7_200}
    (model,) = answered([*made, late, *others], maturity="6h").models
    assert model.without_labels.reason == "stopped"
    assert model.label_delay.most_within_seconds == 0
    assert not [text for text in model.without_labels.known if "99 of 100" in text]


@pytest.mark.parametrize("labelled", [2, 120])
def test_99_of_100_labels_are_named_from_a_hundred_on(labelled):
    made = predictions(20)
    (model,) = answered([*made, *labels(made, 8, hours=2)[:labelled]], maturity="6h").models
    assert model.label_delay.labels == labelled
    named = [text for text in model.without_labels.known if "; 99 of 100 within" in text]
    assert bool(named) is (labelled >= 100)


def test_no_alarm_of_predictions_says_how_far_they_may_have_moved():
    (model,) = answered(predictions(20), maturity="6h").models
    (text,) = [one for one in model.without_labels.known if "alarm" in one]
    assert text.endswith("between a third of its lowest and three times its highest rate so far.")


def scored_events(tmp_path, labelled):
    """A file of five weeks of scores, higher in the last one, with labels of the first days."""
    rng = np.random.default_rng(7)
    scores = np.concatenate([rng.beta(1, 6, 1_400), rng.beta(2, 6, 350)]).round(4)
    made = [
        {**one, "score": float(score)} for one, score in zip(predictions(35), scores, strict=True)
    ]
    records = sorted(made + labels(made, labelled), key=lambda one: one["ts"])
    path = tmp_path / "events.ndjson"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path, records, scores[1_400:]


def test_replay_prints_the_scores_and_the_delay_of_labels_that_the_page_shows(capsys, tmp_path):
    path, records, last = scored_events(tmp_path, labelled=3)
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {m: {maturity: 6h, label_timeout: 3d}}\nwindows: [1d, 7d]\n")
    said = " ".join(ran(capsys, "replay", path, "-c", config).out.split())
    monitor = fed(Monitor(load_config(config)), records)
    with served(monitor) as url:
        page = " ".join(httpx.get(url, params={"model": "m"}).text.split())
    delay = "150, 2 hours after the prediction on average; 99 of 100 within 2.3 hours"
    assert f"Labels so far: {delay}." in said
    assert delay in page
    (model,) = monitor.snapshot().models
    found = scores_now(monitor, model)
    assert scores_text(found) in said
    assert distance_text(found.distance) in page
    quoted = re.search(r"Scores of 350 .* below (\.\d\d), a tenth above (\.\d\d); in the ref", said)
    ends = [float(np.quantile(last, share)) for share in (0.5, 0.9)]
    assert [float(text) for text in quoted.groups()] == pytest.approx(ends, abs=0.02)


def test_diagnose_prints_the_scores_where_no_label_has_come(capsys, tmp_path):
    path, _, _ = scored_events(tmp_path, labelled=0)
    said = " ".join(ran(capsys, "diagnose", path).out.split())
    assert "No label has come" in said
    assert "Scores of 350 predictions from 2024-11-01 to 2024-11-08: half are below .2" in said


def test_without_scores_none_are_named():
    monitor = fed(Monitor(Config(defaults={}, windows=["1d"])), predictions(3))
    assert scores_text(scores_now(monitor, monitor.snapshot().models[0])) == ""
