"""`diagnose` and `replay` say when a change began, and with which version, as the API does."""

import io
import json
from contextlib import redirect_stdout
from functools import cache, partial

import pytest
from cli.commands import ran
from cli.test_diagnose import written
from watch.versioned import BEGAN, DAY, batches, config_of, stream

from monitor.cli import main
from monitor.engine import Monitor
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.selection import EVERY_MODEL
from monitor.exporter.page.now import now_section
from monitor.exporter.page.why import why_section
from monitor.report.findings import of_diagnosis, of_model

CONFIG = """
models:
  m:
    segments: [region, version]
    label_timeout: 3d
    maturity: 1d
    reference: {window: {length: 3d, end: 1970-01-04T00:00:00Z}}
pane: 10m
windows: [1d, 7d]
"""
WITH_IT = "with version 7 (8.8 days, 60 % of the traffic)."


def fed(recall):
    """A monitor after twelve days, of which version 7 took three fifths of the last nine."""
    events = stream(a_day=1_200, days=12, share=0.6, recall=recall)
    monitor = Monitor(config_of(CONFIG))
    for batch in batches(events, monitor.config):
        monitor.apply(batch)
    return events, monitor


@pytest.fixture(scope="module")
def worse(tmp_path_factory):
    folder = tmp_path_factory.mktemp("versions")
    events, monitor = fed((0.9, 0.4))
    (folder / "monitor.yaml").write_text(CONFIG)
    (folder / "events.ndjson").write_text("".join(f"{json.dumps(e)}\n" for e in events))
    status = Queries(monitor.snapshot, None).status(EVERY_MODEL, 1)
    return folder, status, monitor


def said(folder, command, *options):
    feed = ["--feed"] if command == "diagnose" else []
    words = [command, *feed, folder / "events.ndjson", "-c", folder / "monitor.yaml", *options]
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([*map(str, words)]) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def said_of_worse(worse):
    """What a command prints of these events; it runs once."""
    return cache(partial(said, worse[0]))


@pytest.mark.parametrize("command", ["diagnose", "replay"])
def test_the_text_says_when_it_began_and_with_which_version(command, said_of_worse):
    text = " ".join(said_of_worse(command).split())
    assert "Rates changed: recall or false positives, about 1970-01-04 0" in text
    assert WITH_IT in text


def test_the_headline_of_a_diagnosis_is_that_of_the_page(worse, said_of_worse):
    since = "Since version 7 (8.8 days, 60 % of the traffic), precision .765 → .715: the "
    assert worse[1].models[0].headline.startswith(since)
    found = json.loads(said_of_worse("diagnose", "--json"))
    assert found["headline"].startswith(since)


@pytest.mark.parametrize("command", ["diagnose", "replay"])
def test_the_json_has_what_the_api_has(worse, command, said_of_worse):
    found = json.loads(said_of_worse(command, "--json"))
    if command == "replay":
        found = found["models"]["m"]
    model = worse[1].models[0]
    assert found["change_began"] == {
        name: getattr(model.change_began, name) for name in ("at", "earliest", "latest")
    }
    news = found["new_version"]
    assert (news["version"], news["change_began_with_it"]) == ("7", True)
    assert news["traffic"] == model.new_version.traffic
    assert news["age_seconds"] == model.new_version.age_seconds


def test_a_running_monitor_diagnoses_with_the_same_words(worse):
    _, status, monitor = worse
    found = Queries(monitor.snapshot, lambda read: read(monitor)).explanation("m", None, None)
    assert found.answer.change_began == status.models[0].change_began
    assert found.answer.new_version == status.models[0].new_version


def diagnosed(capsys, folder, path):
    """The diagnosis of a file by a configuration without the version as a segment."""
    config = folder / "monitor.yaml"
    config.write_text(CONFIG.replace("region, version", "region"))
    return json.loads(ran(capsys, "diagnose", path, "-c", config, "--json").out)


def test_recorded_events_show_the_share_of_a_version_that_is_no_segment(capsys, worse, tmp_path):
    folder, status, _ = worse
    found = diagnosed(capsys, tmp_path, folder / "events.ndjson")
    assert found["new_version"]["traffic"] == status.models[0].new_version.traffic
    assert found["headline"].startswith("Since version 7 (8.8 days, 60 % of the traffic), precis")


def test_versions_that_count_as_one_lead_to_their_comparison(
    capsys, worse, tmp_path, said_of_worse
):
    folder, _, _ = worse
    one = "See whether one version is worse than another: several predicted in the later stretch"
    found = diagnosed(capsys, tmp_path, folder / "events.ndjson")
    assert [step for step in found["advice"] if step.startswith(one)]
    apart = json.loads(said_of_worse("diagnose", "--json"))
    assert not [step for step in apart["advice"] if step.startswith(one)]


def test_versions_that_score_the_same_cases_have_no_share_of_the_traffic(capsys, tmp_path):
    events = stream(a_day=240, days=12, share=0)
    again = [
        e | {"version": "8", "ts": e["ts"] + 1}
        for e in events
        if e["type"] == "prediction" and e["ts"] > 5 * 86_400
    ]
    path = written(tmp_path / "a.ndjson", *sorted([*events, *again], key=lambda e: e["ts"]))
    found = diagnosed(capsys, tmp_path, path)["new_version"]
    assert (found["version"], found["traffic"]) == ("8", None)


def test_page_and_report_show_the_same_sentence(tmp_path, worse, said_of_worse):
    report = tmp_path / "report.html"
    said_of_worse("diagnose", "--html", report)
    page = str(now_section(worse[1], worse[1].models[0], None, None))
    sentence = "recall or false positives, about 1970-01-04 0"
    assert sentence in page
    assert f"Rates changed: {sentence}" in report.read_text()


def test_an_asked_range_is_searched_from_the_end_of_the_earlier_one(said_of_worse):
    ranges = ["--before", "1970-01-05..1970-01-06", "--after", "1970-01-06..1970-01-07"]
    found = json.loads(said_of_worse("diagnose", *ranges, "--json"))
    assert "change_began" not in found
    assert not found["new_version"]["change_began_with_it"]
    early = ["--before", "1970-01-01..1970-01-02", "--after", "1970-01-02..1970-01-03"]
    assert "new_version" not in json.loads(said_of_worse("diagnose", *early, "--json"))


def test_the_last_mature_days_leave_out_those_of_the_reference(capsys, worse, tmp_path):
    config = tmp_path / "monitor.yaml"
    window = "window: {length: 3d, end: 1970-01-04T00:00:00Z}"
    path = tmp_path / "as_ever.ndjson"
    path.write_text("".join(f"{json.dumps(e)}\n" for e in stream(a_day=1_200, days=12)))
    for first in (7, 4):
        config.write_text(CONFIG.replace(window, f"first: {first}d"))
        done = ran(capsys, "diagnose", path, "-c", config, "--json")
        found = json.loads(done.out)
        assert (done.code, done.err) == (0, "")
        replay = ran(capsys, "replay", path, "-c", config, "--json")
        closes = json.loads(replay.out)["models"]["m"]["reference"]["close"]
        assert found["before"]["close"] == found["after"]["open"] == closes
    config.write_text(CONFIG.replace("3d, end: 1970-01-04", "10d, end: 1970-01-12"))
    done = ran(capsys, "diagnose", worse[0] / "events.ndjson", "-c", config)
    assert done.code == 2
    assert "overlap; record more days" in done.err


def test_a_worse_canary_is_named_beside_the_answer_where_the_whole_shows_nothing(tmp_path):
    events = stream(recall=(0.9, 0.5), a_day=1_008, share=0.15)
    (tmp_path / "events.ndjson").write_text("".join(f"{json.dumps(e)}\n" for e in events))
    ranges = ["--before", "1970-01-01..1970-01-03", "--after", "1970-01-06..1970-01-09"]
    for reference, named in (("first: 2d", True), ("first: 2d, on_version: keep", False)):
        text = CONFIG.replace("window: {length: 3d, end: 1970-01-04T00:00:00Z}", reference)
        (tmp_path / "monitor.yaml").write_text(text)
        found = json.loads(said(tmp_path, "diagnose", "--json", *ranges))
        assert found["worse"]["answer"] == "not_shown"
        assert found["worse"]["text"].endswith("Version 7 is worse than 6") is named
        assert (" Version 7 is worse than 6 over the same time: " in found["headline"]) is named
        hold = "Hold the rollout or roll it back: version 7 is worse than 6."
        assert (found["advice"][0] == hold, found.get("worse_version") == "7") == (named, named)
        replayed = json.loads(said(tmp_path, "replay", "--json"))["models"]["m"]
        assert replayed.get("worse_version") == ("7" if named else None)
        last = said(tmp_path, "replay").partition("Judged: ")[2]
        assert ("version 7 is worse than 6." in last) is named
        following = "Next: precision-monitor compare FILE -c CONFIG shows both versions."
        following = following.replace("FILE", str(tmp_path / "events.ndjson"))
        assert (following.replace("CONFIG", str(tmp_path / "monitor.yaml")) in last) is named


@pytest.mark.parametrize("named", [True, False], ids=["some", "none"])
def test_predictions_without_a_version_are_named_in_words(capsys, tmp_path, named):
    events = [
        {k: v for k, v in e.items() if k != "version" or (named and int(e["id"][1:]) % 2)}
        for e in stream(recall=(0.9, 0.3), a_day=2_000, share=0.5, days=7)
    ]
    config = tmp_path / "monitor.yaml"
    config.write_text(CONFIG)
    path = written(tmp_path / "a.ndjson", *events)
    ranges = ("--before", "1970-01-01..1970-01-04", "--after", "1970-01-05..1970-01-07")
    done = ran(capsys, "diagnose", path, "-c", config, *ranges)
    assert done.code == 0
    assert "__missing__" not in done.out
    assert ("without version" in done.out) == named
    assert ("is worse than predictions without a version" in " ".join(done.out.split())) == named
    assert ("version" in done.out) == named
    assert named or "segments: no prediction has the key 'version'" in done.err


def with_reference(reference):
    return CONFIG.replace("window: {length: 3d, end: 1970-01-04T00:00:00Z}", reference)


BEFORE = "of version 6 (began 1970-01-01 00:00)"


@pytest.mark.parametrize("command", ["diagnose", "replay"])
def test_text_and_json_say_whose_reference_it_is(command, said_of_worse):
    text = " ".join(said_of_worse(command).split())
    after = "; after is of versions 6 and 7 (began 1970-01-04 05:00)."
    assert (f"Before is {BEFORE}{after}" in text, f", {BEFORE}, " in text) == (
        command == "diagnose",
        command == "replay",
    )
    found = json.loads(said_of_worse(command, "--json"))
    began = [{"version": "6", "first_prediction": "1970-01-01T00:00:00Z"}]
    if command == "replay":
        assert found["models"]["m"]["reference"]["versions"] == began
        assert "restarted_with" not in found["models"]["m"]["reference"]
    else:
        assert found["versions_before"] == began
        assert [one["version"] for one in found["versions_after"]] == ["6", "7"]
        assert "reference_restarted_with" not in found


@pytest.mark.parametrize("days", [9, 6], ids=["complete", "awaited"])
def test_replay_says_that_a_reference_restarted(tmp_path, days):
    (tmp_path / "monitor.yaml").write_text(with_reference("first: 2d, on_version: restart"))
    written(tmp_path / "events.ndjson", *stream(a_day=2_400, until=BEGAN, days=days))
    text = " ".join(said(tmp_path, "replay").split())
    assert ("restarted with version 7 (began 1970-01-04 05:00)" in text) is (days == 9)
    waits = "the reference restarted with version 7 and is not complete yet"
    assert (waits in text) is (days == 6)


def test_recorded_events_are_said_to_be_compared_without_a_restart(capsys, tmp_path):
    config = tmp_path / "monitor.yaml"
    path = written(tmp_path / "events.ndjson", *stream(a_day=1_200, until=BEGAN, days=9))
    for on_version, said_so in (("restart", True), ("compare", False)):
        config.write_text(with_reference(f"first: 2d, on_version: {on_version}"))
        found = json.loads(ran(capsys, "diagnose", path, "-c", config, "--json").out)
        assert "reference_restarted_with" not in found
        note = "a reference from before it, without `on_version: restart`; name a stretch"
        assert (note in found["notes"][-1]) is said_so
    asked = ["--before", "1970-01-04T06:00:00Z..1970-01-06", "--after", "1970-01-06..1970-01-08"]
    config.write_text(with_reference("first: 2d, on_version: restart"))
    found = json.loads(ran(capsys, "diagnose", path, "-c", config, *asked, "--json").out)
    assert [one["version"] for one in found["versions_before"]] == ["7"]
    assert "restart" not in "".join(found["notes"])


def test_a_running_monitor_says_that_its_reference_restarted():
    monitor = Monitor(config_of(with_reference("first: 2d, on_version: restart")))
    for batch in batches(stream(a_day=2_400, until=BEGAN, days=12), monitor.config):
        monitor.apply(batch)
    found = Queries(monitor.snapshot, lambda read: read(monitor)).explanation("m", None, None)
    assert found.answer.reference_restarted_with == "7"
    assert [one.version for one in found.answer.versions_before] == ["7"]
    text = str(why_section(found.answer))
    assert "Before is restarted with" not in text
    restarted = "the reference that restarted with version 7 (began 1970-01-04 05:00)"
    assert f"Before is {restarted}; after is of version 7." in text


@pytest.mark.parametrize("segments", ["region, version", "region"])
def test_a_diagnosis_of_a_rollback_says_which_versions_predicted_before_and_after(
    tmp_path, segments
):
    """Version 7 decides for two days, then version 6 does again: it predicted all along."""
    back = BEGAN + 2 * DAY
    events = [
        e | {"version": "6"} if e["ts"] >= back and "version" in e else e
        for e in stream(a_day=1_200, until=BEGAN, days=10, recall=(0.9, 0.5))
    ]
    text = CONFIG.replace("region, version", segments)
    (tmp_path / "monitor.yaml").write_text(text)
    written(tmp_path / "events.ndjson", *events)
    ranges = ("1970-01-04T05:00:00Z..1970-01-06T05:00:00Z", "1970-01-06T05:00:00Z..1970-01-08")
    found = said(tmp_path, "diagnose", "--before", ranges[0], "--after", ranges[1])
    old, new = "6 (began 1970-01-01 00:00)", "7 (began 1970-01-04 05:00)"
    assert f"Before is of version {new}; after is of version {old}." in " ".join(found.split())
    monitor = Monitor(config_of(text))
    for batch in batches(events, monitor.config):
        monitor.apply(batch)
    live = Queries(monitor.snapshot, lambda read: read(monitor)).explanation("m", *ranges)
    before = [one.version for one in live.answer.versions_before]
    apart = "version" in segments  # else version 6 may have paused, or not
    assert before == (["7"] if apart else ["6", "7"])
    assert [one.version for one in live.answer.versions_after] == ["6"]


def test_a_page_that_lasts_after_a_rollback_names_the_version_that_ended(tmp_path):
    back = BEGAN + 5 * DAY
    worse, good = (stream(a_day=2_400, until=BEGAN, days=10, recall=(0.9, r)) for r in (0.3, 0.9))
    early = {e["id"] for e in worse if e["type"] == "prediction" and e["ts"] < back}
    events = [e for e in worse if e["id"] in early]
    events += [
        e | ({"version": "6"} if "version" in e else {}) for e in good if e["id"] not in early
    ]
    events.sort(key=lambda e: e["ts"])
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    written(tmp_path / "events.ndjson", *events)
    named = "has not recovered (the change began with version 7, which ended on 9 January 1970)"
    assert named in " ".join(said(tmp_path, "replay").split())
    monitor = Monitor(config_of(CONFIG))
    for batch in batches(events, monitor.config):
        monitor.apply(batch)
    snapshot = monitor.snapshot()
    lasting = of_model(snapshot, snapshot.models[0], "7d").lasting_page
    assert " (the change began with version 7, which ended on 9 January 1970), and has " in lasting
    live = Queries(monitor.snapshot, lambda read: read(monitor)).explanation("m", None, None)
    assert of_diagnosis(live.diagnosis).lasting_page == lasting
