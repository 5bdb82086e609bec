"""Two models that predict the same ids: commands say so."""

import json

from cli.commands import ran
from cli.test_diagnose import written
from watch.versioned import fed

from monitor.config import Config, parse_config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
TEXT = (
    "200 predictions of chall carry ids that model champ predicted; ids are unique in the monitor: "
    "write one model with versions and shadow_versions, or prefix the ids with the model"
)


def two_models(later="chall"):
    """Predictions of two models of the same ids, those of one a second later, and labels."""
    events = []
    for number in range(200):
        at = {"id": f"c{number}", "ts": DAY + number * 600}
        for model, version in (("champ", "6"), ("chall", "7")):
            moved = {"ts": at["ts"] + (model == later)}
            made = {"type": "prediction", "prediction": number % 2, "model": model}
            events.append(at | moved | made | {"version": version})
        events.append({"type": "label", "label": int(number % 5 > 1), **at, "ts": at["ts"] + 60})
    return events


def test_replay_says_which_model_predicted_the_ids_before(capsys, tmp_path):
    done = ran(capsys, "replay", written(tmp_path / "a.ndjson", *two_models()))
    assert done.code == 0
    assert f"warning: {TEXT}" in done.err
    assert "repeat an id" not in done.err
    assert "no predictions yet" not in done.out
    said = " ".join(done.out.split())
    assert "chall: nothing yet (its predictions carry ids that model champ predicted)" in said


def test_compare_of_that_model_says_why_it_has_no_predictions(capsys, tmp_path):
    path = written(tmp_path / "a.ndjson", *two_models())
    done = ran(capsys, "compare", path, "--model", "chall", "--versions", "6,7")
    assert done.code == 2
    assert done.err.count(TEXT) == 1
    assert done.err.endswith("--model: each prediction of chall is a duplicate\n")


def test_it_is_the_same_in_any_order_and_batch_and_after_a_restart():
    events, found = two_models(), []
    for order in (events, sorted(events, key=lambda e: e.get("model", "z")), events[::-1]):
        for size in (len(events), 50):
            monitor = Monitor(Config.without_file())
            decoder = Decoder(DecodeSettings.from_config(monitor.config))
            for start in range(0, len(order), size):
                lines = "".join(f"{json.dumps(e)}\n" for e in order[start : start + size])
                batch = lines.encode()
                monitor.apply(decoder.decode_lines(batch, source="a", first_line=start + 1))
            for one in (monitor, Monitor(monitor.config, monitor.state())):
                models = {model.name: model.shared_ids for model in one.snapshot().models}
                found.append((models["champ"], models["chall"].text))
    assert set(found) == {(None, TEXT)}


def test_a_running_monitor_says_it_in_place_of_the_advice_on_shadow_versions():
    text = "defaults: {segments: [version], label_timeout: 3d}"
    monitor = fed(two_models(), parse_config(text, "monitor.yaml"))
    states = {model.name: model for model in monitor.snapshot().models}
    assert TEXT in states["chall"].versions_now.not_compared
    assert "counts as a duplicate" not in states["chall"].versions_now.not_compared


def test_a_state_from_before_shared_ids_is_taken_over_and_counts_them_from_then_on():
    events = two_models()
    champion = [e for e in events if e.get("model") != "chall"]
    monitor = fed(champion, parse_config("defaults: {label_timeout: 3d}", "monitor.yaml"))
    state = monitor.state()
    for name in ("shared", "shared_with"):
        del state["join"]["books"][name]
    again = Monitor(monitor.config, state)
    assert {model.shared_ids for model in again.snapshot().models} == {None}
    decoder = Decoder(DecodeSettings.from_config(again.config))
    lines = "".join(f"{json.dumps(e)}\n" for e in events if e.get("model") == "chall")
    again.apply(decoder.decode_lines(lines.encode(), source="a", first_line=1))
    assert [m.shared_ids.text for m in again.snapshot().models if m.shared_ids] == [TEXT]


def test_where_the_other_model_is_gone_no_other_one_is_blamed():
    monitor = fed(two_models(), parse_config("models: {champ: {}, chall: {}}", "monitor.yaml"))
    config = parse_config("models: {chall: {}}", "monitor.yaml")
    (model,) = Monitor(config, monitor.state()).snapshot().models
    assert (model.shared_ids.predictions, model.shared_ids.other) == (200, "")
    assert "that another model predicted" in model.shared_ids.text


def two_versions(**moved):
    """Predictions of two versions of one model, at one time unless version 7 is moved."""
    for number in range(200):
        for version in "67":
            made = {"type": "prediction", "id": f"c{number}", "prediction": number % 2}
            at = DAY + number * 600 + (moved.get("seconds", 0) if version == "7" else 0)
            yield made | {"ts": at, "version": version}
        yield {"type": "label", "id": f"c{number}", "ts": DAY + number * 600 + 60, "label": 1}


def test_replay_says_that_ids_repeat_while_two_versions_predict(capsys, tmp_path):
    done = ran(capsys, "replay", written(tmp_path / "a.ndjson", *two_versions()))
    said = " ".join(done.err.split())
    assert done.code == 0
    assert said.count("200 of 400 predictions of default repeat an id while several versions") == 1
    assert "at one time the one predicted negative where the version is no segment" in said
    assert "configure the others in shadow_versions, or compare them with compare FILE" in said
    paired = ran(capsys, "compare", tmp_path / "a.ndjson")
    assert "while several versions" not in paired.err  # pairs there are no repeats


def test_redelivered_predictions_of_versions_in_turn_have_no_such_warning(capsys, tmp_path):
    events = list(two_versions(seconds=200 * 600))
    events = [e | {"id": f"{e['id']}-{e.get('version', 6)}"} for e in events]
    events += [e for e in events if e.get("version") == "6"]
    done = ran(capsys, "replay", written(tmp_path / "a.ndjson", *events))
    assert "while several versions" not in done.err
