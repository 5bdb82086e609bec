"""`compare`: canaries on the bundled flights, and what is refused."""

import json
import random
import re
import shlex

import pytest
from cli.commands import ran
from cli.comparing import DAY, compared
from cli.test_diagnose import written
from streams import flights

from monitor.events.columns import MISSING_VALUE

FROM, TO = 1_372_636_800, 1_380_585_600  # July to September 2013


@pytest.fixture(scope="module")
def summer():
    """Three months of flights without scores, and the label of each id."""
    events = [{k: v for k, v in e.items() if k != "score"} for e in flights()]
    made = {e["id"] for e in events if e["type"] == "prediction" and FROM <= e["ts"] < TO}
    events = [e for e in events if e["id"] in made]
    return events, {e["id"]: e["label"] for e in events if e["type"] == "label"}


def canary(summer, share, missing=0.0):
    """The same events by version; version 7 gets a share of each flight's traffic.

    Args:
        summer: events, and labels.
        share: of version 7, by the event.
        missing: share of the true positives that version 7 does not flag.
    """
    events, labels = summer
    rng, found = random.Random(22), []  # a simulated canary
    for event in events:
        if event["type"] == "prediction":
            new = rng.random() < share(event)
            missed = event["prediction"] and labels.get(event["id"]) and rng.random() < missing
            event = event | {"version": "7" if new else "6"}  # noqa: PLW2901
            if new and missed:
                event["prediction"] = 0
        found.append(event)
    return found


def test_a_worse_canary_is_called_worse(capsys, tmp_path, summer):
    path = written(tmp_path / "a.ndjson", *canary(summer, lambda _: 0.2, missing=0.3))
    found = compared(capsys, path)
    assert (found["verdict"], found["a"]["version"], found["b"]["version"]) == ("worse", "6", "7")
    recall = found["differences"]["recall"]
    assert recall["upper"] < -0.1 < 0.1 < abs(recall["lower"])
    assert found["headline"].startswith("Version 7 is worse than 6: recall .")
    assert found["log_odds_ratio"]["upper"] < 0
    assert (found["outcomes_to_settle"], found["because"]) == (0, None)
    done = ran(capsys, "compare", "--feed", path, "--fail-on", "worse")
    assert done.code == 1
    assert max(map(len, done.out.splitlines())) <= 100
    assert "What the difference of precision is" in done.out


def test_an_equal_canary_is_not_called_worse(capsys, tmp_path, summer):
    path = written(tmp_path / "a.ndjson", *canary(summer, lambda _: 0.2))
    found = compared(capsys, path)
    assert found["verdict"] in ("equal", "not_shown")
    assert abs(found["differences"]["recall"]["estimate"]) < 0.04
    if found["verdict"] == "not_shown":
        assert found["outcomes_to_settle"] > 0
        assert found["days_to_settle"] > 0
        assert "to settle it takes more outcomes than" in found["headline"]


@pytest.mark.parametrize(
    "asked", [(), pytest.param(("--segments", "part_of_day"), marks=pytest.mark.slow)]
)
def test_an_equal_canary_with_other_traffic_is_told_from_a_worse_one(
    capsys, tmp_path, summer, asked
):
    """Most of the morning stays with version 6: its cases are easier, and rarely positive."""

    def share(event):
        return 0.05 if event["segment"]["part_of_day"] == "morning" else 0.5

    path = written(tmp_path / "a.ndjson", *canary(summer, share))
    found = compared(capsys, path, *asked)
    assert "part_of_day" in found["segments"]
    assert found["verdict"] in ("equal", "not_shown")
    parts = found["parts"]
    raw = found["b"]["precision"]["estimate"] - found["a"]["precision"]["estimate"]
    assert sum(part["points"] for part in parts.values()) == pytest.approx(raw)
    assert parts["prevalence"]["points"] > 0.05 > abs(parts["model"]["points"])
    assert raw > 0.03


def test_shadow_versions_are_compared_pair_by_pair(capsys, tmp_path, summer):
    events, labels = summer
    rng, found = random.Random(22), []  # a simulated shadow
    for event in events:
        if event["type"] == "label":
            found.append(event)
            continue
        missed = event["prediction"] and labels.get(event["id"]) and rng.random() < 0.05
        found.append(event | {"version": "6"})
        found.append(
            event | {"version": "7", "prediction": int(event["prediction"] and not missed)}
        )
    done = compared(capsys, written(tmp_path / "a.ndjson", *found), "--versions", "6,7")
    assert (done["decided_by"], done["verdict"]) == ("pairs", "worse")
    assert done["paired"]["share"] == 1
    assert done["a"]["predictions"] == done["b"]["predictions"]
    assert done["paired"]["positives"]["only_b"] == 0
    assert done["paired"]["positives"]["only_a"] > 50
    assert done["paired"]["positives"]["p_value"] < 1e-9
    assert done["paired"]["negatives"]["p_value"] == 1
    printed = ran(capsys, "compare", "--feed", tmp_path / "a.ndjson")
    text = printed.out
    assert printed.err == ""  # a second version of an id is no repeat
    assert "on the same cases" in text
    assert "McNemar" in text
    assert max(map(len, text.splitlines())) <= 100


def counted(version, *, tp=800, day=10, days=1):
    return [
        {
            "type": "counts",
            "ts": (day + i) * DAY,
            "tp": tp,
            "fp": 100,
            "fn": 1_000 - tp,
            "tn": 900,
            "version": version,
        }
        for i in range(days)
    ]


@pytest.fixture
def three(tmp_path):
    """Three versions, ten or twenty days of counts each, two of them at the same time."""
    events = [*counted("5", day=10, days=10), *counted("6", day=30, days=20)]
    events += [event | {"ts": event["ts"] + 3_600} for event in counted("7", day=30, days=20)]
    return written(tmp_path / "three.ndjson", *sorted(events, key=lambda event: event["ts"]))


def test_a_version_that_flags_nothing_is_worse(capsys, tmp_path):
    events = [*counted("6", days=20), *counted("7", tp=0, days=20)]
    for event in events[20:]:
        event["ts"], event["tn"], event["fp"] = event["ts"] + 60, 1_000, 0
    path = written(tmp_path / "a.ndjson", *sorted(events, key=lambda event: event["ts"]))
    done = ran(capsys, "compare", "--feed", path)
    assert "Version 7 is worse than 6: recall .000 against .80" in done.out
    assert "Log odds ratio -3.58" in done.out


def test_without_versions_the_two_latest_are_compared(capsys, three):
    found = compared(capsys, three)
    assert (found["a"]["version"], found["b"]["version"]) == ("6", "7")
    assert (found["verdict"], found["paired"]) == ("equal", None)
    swapped = compared(capsys, three, "--versions", "7,6")
    assert (swapped["a"]["version"], swapped["b"]["version"]) == ("7", "6")


@pytest.mark.parametrize(("verdict", "code"), [("equal", 1), ("worse", 0), ("not_shown", 0)])
def test_the_exit_code_is_1_on_a_verdict_that_fails(capsys, three, verdict, code):
    assert ran(capsys, "compare", "--feed", three, "--fail-on", verdict).code == code


def test_last_takes_the_end_of_the_stretch(capsys, three):
    whole, last = compared(capsys, three), compared(capsys, three, "--last", "5d")
    assert last["close"] == whole["close"]
    assert last["open"] > whole["open"]
    assert last["a"]["predictions"] == pytest.approx(whole["a"]["predictions"] / 4, abs=3_000)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--versions", "6"), "--versions: must be two different versions, got '6'; write A,B"),
        (("--versions", "6,6"), "--versions: must be two different versions"),
        (("--last", "soon"), "--last: must be a duration"),
        (("--last", "0"), "--last: must be a duration above 0"),
        (("--model", "fraud"), "--model: the feed has no such model"),
        (("--segments", "region"), "--segments: no prediction has the key 'region'"),
        (("--fail-on", "wrose"), "invalid choice: 'wrose'"),
    ],
)
def test_wrong_options_are_refused_with_what_there_is(capsys, three, words, text):
    done = ran(capsys, "compare", "--feed", three, *words)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


@pytest.mark.parametrize(("failing", "code"), [("not_shown", 1), ("worse", 0)])
def test_a_version_that_has_not_predicted_yet_is_not_shown_and_named(capsys, three, failing, code):
    asked = ("compare", "--feed", three, "--versions", "6,8", "--fail-on", failing)
    done = ran(capsys, *asked)
    assert (done.code, done.err) == (code, "")
    start = "Nothing is compared: version '8' has no prediction yet; known are '5' (20,000 predi"
    assert done.out.startswith(start)
    found = compared(capsys, three, "--versions", "6,8")
    assert (found["verdict"], found["headline"]) == ("not_shown", done.out.strip())


@pytest.mark.parametrize(("failing", "code"), [("not_shown", 1), ("worse", 0)])
def test_versions_that_never_met_are_not_shown_as_live(capsys, three, failing, code):
    done = ran(capsys, "compare", "--feed", three, "--versions", "5,6", "--fail-on", failing)
    assert (done.code, done.err) == (code, "")
    start = "Nothing is compared: '5' and '6' never predicted at the same time: '5' ended "
    assert done.out.startswith(start)
    command = re.search(r"`precision-monitor (diagnose .*)`\.$", done.out)[1]
    assert ran(capsys, *shlex.split(command)).code == 0
    found = compared(capsys, three, "--versions", "5,6")
    assert (found["verdict"], found["headline"]) == ("not_shown", done.out.strip())


def test_versions_of_one_hour_are_compared_over_time_by_the_second(capsys, tmp_path):
    events = []
    for version, begins, ends in (("5", 0, 1_200), ("6", 1_500, 3_300)):
        for number in range(900):
            at = DAY + begins + (ends - begins) * number / 900 + 0.25
            event = {"id": f"{version}-{number}", "ts": at}
            events.append(event | {"type": "prediction", "prediction": number % 2})
            events[-1]["version"] = version
            events.append(event | {"type": "label", "label": number // 2 % 2, "ts": at + 1})
    feed = written(tmp_path / "a.ndjson", *events)
    text = ran(capsys, "compare", feed).out
    assert "'5' ended 1970-01-02T00:19:58Z, '6' began 1970-01-02T00:25:00Z; compare them" in text
    command = re.search(r"`precision-monitor (diagnose .*)`", text)[1]
    found = json.loads(ran(capsys, *shlex.split(command), "--json").out)
    made = [found[side]["predictions"] for side in ("before", "after")]
    assert made == [900, pytest.approx(900, abs=2)]


def test_of_a_version_that_ended_no_rate_is_given_but_how_to_compare_over_time(capsys, tmp_path):
    """Version 7 replaces version 6 after an hour of both."""
    events = [*counted("6", day=10, days=10), *counted("7", day=20, days=10)]
    both = {"tp": 1, "fp": 1, "fn": 0, "tn": 4}
    events.append(counted("7", day=19)[0] | both | {"ts": 19 * DAY - 60})
    config = tmp_path / "a b.yaml"
    config.write_text("models: {default: {segments: [version]}}\n")
    feed = written(tmp_path / "a.ndjson", *sorted(events, key=lambda event: event["ts"]))
    found = ran(capsys, "compare", feed, "-c", config, "--constant", "type=counts")
    text = " ".join(found.out.split())
    assert "not shown: version 7 has 1 of the 10 positives that it needs, and version 6" in text
    assert "present rate" not in text
    assert compared(capsys, feed)["days_to_settle"] is None
    command = re.search(r"Version 6 ended \S+: compare .*`precision-monitor (.*)`", text)[1]
    assert ran(capsys, *shlex.split(command)).code == 0


def test_a_version_that_is_rolled_back_is_said_to_have_ended(capsys, tmp_path):
    events = [*counted("6", day=10, days=20), *counted("7", tp=500, day=11, days=18)]
    feed = written(tmp_path / "a.ndjson", *sorted(events, key=lambda event: event["ts"]))
    text = ran(capsys, "compare", feed, "--versions", "6,7").out
    assert text.startswith("Version 7 is worse than 6")
    assert "\nVersion 7 ended 1970-01-29T00:00:00Z.\n" in text


def test_a_swap_that_is_rolled_back_says_how_to_compare_over_time(capsys, tmp_path):
    events = [*counted("6", day=10, days=5), *counted("7", day=15, days=5)]
    events += counted("6", day=20, days=10)
    feed = written(tmp_path / "a.ndjson", *events)
    text = ran(capsys, "compare", feed, "--versions", "6,7").out
    assert "both in use" not in text
    command = re.search(r"Version 7 ended \S+: compare .*`precision-monitor (.*)`", text)[1]
    assert "--before 1970-01-11T00:00:00Z..1970-01-16T00:00:00Z --after 1970-01-16T0" in command
    assert ran(capsys, *shlex.split(command)).code == 0


def test_a_canary_is_not_compared_with_a_shadow_that_scores_every_id(capsys, tmp_path):
    events = []
    for number in range(4_000):
        at = {"id": f"i{number}", "ts": DAY + number * 600}
        version = "5" if number >= 400 and number % 5 == 0 else "6"
        made = {"type": "prediction", "prediction": number % 2, **at}
        events += [made | {"version": name} for name in (version, "7-s")]
        events.append({"type": "label", "label": number // 2 % 2, **at})
    config = tmp_path / "a.yaml"
    config.write_text('models: {default: {segments: [version], shadow_versions: ["*-s"]}}\n')
    feed = written(tmp_path / "a.ndjson", *events)
    assert ran(capsys, "compare", feed).out.startswith("Versions 5 and 7-s are equal")
    done = ran(capsys, "compare", feed, "-c", config)
    assert "5" in done.out.splitlines()[0]
    assert "6" in done.out.splitlines()[0]
    assert "7-s" not in done.out


@pytest.mark.parametrize("asked", [(), ("--versions", "6,7")])
def test_an_error_names_the_option_only_where_it_is_given(capsys, tmp_path, asked):
    events = [{k: v for k, v in e.items() if k != "version"} for e in counted("6", days=3)]
    done = ran(capsys, "compare", written(tmp_path / "a.ndjson", *events), *asked)
    assert (done.code, "--versions" in done.err) == (2, bool(asked))


def test_versions_with_a_comma_can_be_chosen(capsys, tmp_path):
    events = [e for day in range(20) for name in ("a,1", "a,2") for e in counted(name, day=day)]
    path = written(tmp_path / "a.ndjson", *events)
    found = compared(capsys, path, "--versions", r"a\,2,a\,1")
    assert (found["a"]["version"], found["b"]["version"]) == ("a,2", "a,1")


def test_ids_that_repeat_within_a_version_are_a_warning(capsys, tmp_path):
    events = [
        {"type": "outcome", "id": "x", "ts": DAY + n, "prediction": 1, "label": 1, "version": v}
        for n in range(500)
        for v in "67"
    ]
    done = ran(capsys, "compare", written(tmp_path / "a.ndjson", *events))
    assert "warning: 998 of 1,000 predictions repeat an id" in done.err


@pytest.mark.parametrize(("failing", "code"), [("not_shown", 1), ("worse", 0)])
def test_before_a_second_version_predicts_nothing_is_shown(capsys, tmp_path, failing, code):
    path = written(tmp_path / "a.ndjson", *counted("6", days=20))
    done = ran(capsys, "compare", "--feed", path, "--fail-on", failing)
    assert (done.code, done.err) == (code, "")
    assert "a comparison needs two versions, and there is only '6' (40,000 predictions" in done.out
    assert compared(capsys, path)["verdict"] == "not_shown"


def test_events_that_name_no_version_are_refused(capsys, tmp_path):
    events = [{k: v for k, v in e.items() if k != "version"} for e in counted("6", days=20)]
    done = ran(capsys, "compare", written(tmp_path / "a.ndjson", *events))
    assert done.code == 2
    assert "a comparison needs two versions, and no prediction names its version; " in done.err
    assert MISSING_VALUE not in done.err


@pytest.mark.parametrize("asked", ["version", "region,version"])
def test_the_version_as_a_named_segment_is_refused_and_drops_no_configured_key(
    capsys, three, asked
):
    done = ran(capsys, "compare", three, "--segments", asked)
    assert (done.code, done.out) == (2, "")
    assert f"the version is compared, and cannot be a segment as well, got {asked!r}" in done.err


def test_a_file_that_cannot_be_read_and_one_of_rubbish_end_with_3(capsys, tmp_path):
    (tmp_path / "a.ndjson").write_text("rubbish\n")
    for name in ("a.ndjson", "missing.ndjson"):
        assert ran(capsys, "compare", "--feed", tmp_path / name).code == 3


def test_without_a_file_it_is_asked_for(capsys):
    done = ran(capsys, "compare")
    assert (done.code, "FILE: must name recorded events" in done.err) == (2, True)


def test_the_version_as_a_configured_segment_is_no_stratum(capsys, tmp_path, three):
    config = tmp_path / "monitor.yaml"
    config.write_text("defaults: {segments: [version]}\n")
    found = compared(capsys, three, "-c", config)
    assert (found["segments"], found["verdict"]) == ([], "equal")


def test_a_class_that_is_missing_is_named(capsys, tmp_path):
    events = [*counted("6", days=20), *counted("7", tp=0, days=20)]
    for event in events[20:]:
        event["fn"] = 0
    found = compared(capsys, written(tmp_path / "a.ndjson", *events), "--versions", "6,7")
    assert (found["verdict"], found["because"]) == ("not_shown", "missing_class")
    assert "version 7 has no labelled positives" in found["headline"]
    assert found["differences"]["recall"]["estimate"] is None
    assert found["outcomes_to_settle"] is None
    shown = ran(capsys, "compare", "--feed", tmp_path / "a.ndjson")
    assert (shown.code, "nan" in shown.out) == (0, False)
