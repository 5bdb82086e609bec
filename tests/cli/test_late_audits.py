"""Audits that come after the horizon have no effect, and the commands say so."""

import json

import pytest
from cli.commands import lines_of, ran

DAYS, A_DAY, DAY = 20, 60, 86_400
PLACES = [(day, place) for day in range(DAYS) for place in range(A_DAY)]


def events():
    """Predictions and their labels, in their order."""
    for day, place in PLACES:
        at = {"id": f"{day}-{place}", "ts": day * DAY + 1_000 * place}
        yield {**at, "type": "prediction", "prediction": place % 2}
        yield {**at, "type": "label", "label": place // 2 % 2}


def audits(ids):
    for name in ids:
        place = int(name.split("-")[1])
        audit = {"type": "label", "id": name, "label": place // 2 % 2, "audit": True}
        yield {**audit, "ts": DAYS * DAY}


@pytest.fixture
def written(tmp_path):
    """Write events, audits of all ids, and a configuration of a horizon."""
    feed, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"

    def write(ids=(), horizon="2d"):
        setting = f"{{label_timeout: 2d, horizon: {horizon}, label_errors: audit}}"
        config.write_text(f"models: {{default: {setting}}}\n")
        feed.write_text(lines_of(*events(), *audits(ids)))
        return feed, "-c", config

    return write


def drawn(found):
    return {name for one in json.loads(found.out)["strata"] for name in one["ids"]}


def test_cases_are_drawn_of_which_audits_still_count(written, capsys):
    found = ran(capsys, "audit", *written(), "--sample", "500", "--json")
    of_days = {int(name.split("-")[0]) for name in drawn(found)}
    assert of_days == {DAYS - 3, DAYS - 2, DAYS - 1}
    assert "more than 2d (`horizon`) before the last event left out" in found.err
    assert "with `horizon: 20d` they would count" in found.err
    assert "audits count up to 2d (`horizon`) after the prediction, the first until" in found.err
    every = ran(capsys, "audit", *written(horizon="20d"), "--sample", "600", "--json")
    assert len(drawn(every)) == DAYS * A_DAY
    assert "left out" not in every.err


def test_a_range_that_is_asked_for_is_drawn_from_with_a_warning(written, capsys):
    words = ("--sample", "500", "--range", "1970-01-01..1970-01-04", "--json")
    found = ran(capsys, "audit", *written(), *words)
    assert len(drawn(found)) == 3 * A_DAY
    assert "180 of 180 cases to draw from were predicted more than 2d" in found.err
    assert "their audits have no effect; with `horizon: 20d` they would count" in found.err


def test_replay_and_diagnose_say_how_many_had_no_effect(written, capsys):
    ids = [f"{day}-{place}" for day, place in PLACES if place < 8]
    words = written(ids)
    said = " ".join(ran(capsys, "replay", *words).out.split())
    found = json.loads(ran(capsys, "replay", *words, "--json").out)["audits_without_effect"]
    assert (found["horizon"], found["horizon_needed"]) == ("2d", "20d")
    assert found["count"] > 100
    assert f"Audits without effect: {found['count']}, since no prediction with" in said
    assert "with `horizon: 20d` none would be so far" in said
    refused = ran(capsys, "diagnose", *words)
    assert refused.code == 2
    assert found["text"] in refused.err
    words = written(ids, horizon="20d")
    assert "without effect" not in ran(capsys, "replay", *words).out
    assert "audits_without_effect" not in json.loads(ran(capsys, "replay", *words, "--json").out)


def test_the_next_step_without_audits_is_to_draw_some(written, capsys):
    feed, _, config = written()
    last = ran(capsys, "replay", feed, "-c", config).out.splitlines()[-1]
    command = f"precision-monitor audit {feed} -c {config} --sample 500"
    assert last == f"Next: {command} draws cases to audit."
    assert ran(capsys, *command.split()[1:]).code == 0


def test_the_next_step_where_rates_are_too_high_is_to_lower_them(written, capsys):
    feed, _, config = written()
    config.write_text(config.read_text().replace("audit", "{false_positive: 0.7}"))
    last = ran(capsys, "replay", feed, "-c", config).out.splitlines()[-1]
    assert last.startswith("Next: lower the rates, or set `label_errors: audit`: label_errors.f")
    assert "is 70 %, and the labels allow" in last


def test_diagnose_notes_audits_of_unknown_ids(written, capsys):
    ids = [*(f"{day}-{place}" for day, place in PLACES if place < 8), "other-0"]
    between = ("--before", "1970-01-01..1970-01-11", "--after", "1970-01-11..1970-01-21")
    notes = json.loads(ran(capsys, "diagnose", *written(ids, "20d"), *between, "--json").out)
    expected = "audits without effect: 1, since no prediction with their id was there"
    assert expected in notes["notes"]
