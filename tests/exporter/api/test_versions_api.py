"""`/api/v1/versions`: versions side by side, and two of them compared, over a real monitor."""

import json
import re
import shlex
from datetime import datetime

import jsonschema
import pytest
from exporter.api.test_api import got, served
from watch.shadowed import CONFIG, SHADOW, shadow_config, shadowed
from watch.versioned import BEGAN, DAY, config_of, fed, model_of, stream

from monitor.exporter.app import create_app

PLAIN = {"accept": "text/plain"}
ALONE = "models: {m: {segments: [region], label_timeout: 3d}}"


def client_of(monitor):
    state = monitor.snapshot()
    return served(create_app(lambda: state, ready=lambda: True, read_engine=lambda r: r(monitor)))


@pytest.fixture(scope="module")
def monitor():
    return fed(stream(recall=(0.9, 0.6), a_day=1_008))


@pytest.fixture(scope="module")
def client(monitor):
    with client_of(monitor) as client:
        yield client


def test_versions_have_their_share_beginning_and_metrics(client):
    found = got(client, "versions")
    old, new = found["versions"]
    assert (old["version"], new["version"]) == ("6", "7")
    assert new["first_prediction"] == "1970-01-04T05:00:00Z"
    assert old["traffic"] + new["traffic"] == pytest.approx(1)
    segments = got(client, "segments", window=found["window"])["segments"]
    (same,) = (s for s in segments if (s["segment"], s["value"]) == ("version", "7"))
    assert (same["predictions"], same["outcomes"]) == (new["predictions"], new["outcomes"])
    assert same["metrics"] == new["metrics"]
    assert found["not_compared"] is None


def test_a_version_that_made_no_prediction_for_a_day_ended_with_its_last_one():
    events = stream(days=10, a_day=288)
    for event in events:
        if "version" in event:
            stays = event["ts"] < 7 * DAY or event["id"][-1] in "12"
            event["version"] = "6" if event["ts"] < 4 * DAY else "7" if stays else "8"
    last = max(e["ts"] for e in events if e.get("version") == "6")
    with client_of(fed(events)) as client:
        found = got(client, "versions")["versions"]
        text = client.get("/api/v1/versions", params={"model": "m"}, headers=PLAIN).text
        page = client.get("/", params={"model": "m"}).text
    assert {one["version"]: one["ended"] is not None for one in found} == {
        "6": True,
        "7": False,
        "8": False,
    }
    assert datetime.fromisoformat(found[0]["ended"]).timestamp() == pytest.approx(last, abs=0.001)
    assert re.search(r"^  6 .* ended 1970-01-04 23:55$", text, re.MULTILINE)
    assert page.count("ended 1970-01-04 23:55") == 1


def test_the_comparison_is_that_of_the_snapshot(monitor, client):
    found = got(client, "versions")["comparison"]
    compared = model_of(monitor).versions_now.compared
    assert found["verdict"] == compared.comparison.decided_by.found.verdict == "worse"
    assert found["headline"].startswith("Version 7 is worse than 6: recall .6")
    assert found["anytime"]
    assert found["segments"] == ["region"]
    sums = compared.comparison.counts[1].cells.tolist()
    assert [found["b"]["outcomes"][cell] for cell in ("tp", "fp", "fn", "tn")] == sums


def test_versions_and_days_can_be_chosen(client):
    found = got(client, "versions", versions="7,6", last="2d")
    compared = found["comparison"]
    assert (compared["a"]["version"], compared["b"]["version"]) == ("7", "6")
    assert (compared["verdict"], compared["anytime"]) == ("better", False)
    assert any("holds for one look" in limit for limit in found["limits"])


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({"versions": "6"}, "versions: must be two different versions, got '6'; write A,B"),
        ({"last": "soon"}, "last: "),
        ({"last": "0s"}, "last: must be a duration above 0"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(client, query, fault):
    answer = client.get("/api/v1/versions", params=query)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(fault)


def test_an_answer_fits_its_schema_with_and_without_a_comparison(client):
    document = client.get("/openapi.json").json()
    schema = {"$ref": "#/components/schemas/LiveVersionsAnswer", **document}
    jsonschema.validate(got(client, "versions"), schema)
    with client_of(fed(stream(until=BEGAN))) as alone:
        found = got(alone, "versions")
    jsonschema.validate(found, schema)
    assert found["comparison"] is None
    assert "never predicted at the same time" in found["not_compared"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found | {"versions": "6, 7"}, schema)


def test_versions_that_are_not_counted_apart_are_listed_and_not_compared():
    with client_of(fed(stream(days=5), config_of(ALONE))) as client:
        found = got(client, "versions")
        asked = client.get("/api/v1/versions", params={"versions": "6,7"})
    assert [one["version"] for one in found["versions"]] == ["6", "7"]
    assert {one["traffic"] for one in found["versions"]} == {None}
    assert found["not_compared"].startswith("versions are not counted apart: configure segments")
    assert asked.status_code == 400


def test_versions_that_are_no_segments_and_score_the_same_ids_have_a_limit():
    config = config_of("defaults: {label_timeout: 3d}")
    alone = stream(days=6)
    made = [event for event in alone if event["type"] == "prediction"]
    both = sorted([*alone, *(e | {"version": "7", "ts": e["ts"] + 1} for e in made)], key=_time)
    limits = []
    for events in (alone, both):
        with client_of(fed(events, config)) as client:
            limits.append(got(client, "versions")["limits"])
    text = f"{len(made):,} of {2 * len(made):,} predictions of m repeat an id while several"
    assert limits[0] == []
    assert [one[: len(text)] for one in limits[1]] == [text]
    assert "configure the others in shadow_versions" in limits[1][0]


def _time(event):
    return event["ts"]


def test_a_reader_is_told_of_ids_that_several_versions_scored():
    events = stream(days=6)
    shadow = [e | {"version": "7", "ts": e["ts"] + 1} for e in events if e["type"] == "prediction"]
    events = sorted([*events, *shadow], key=lambda e: e["ts"])
    with client_of(fed(events)) as client:
        found = got(client, "versions", versions="6,7")
    assert any("compare --feed" in limit for limit in found["limits"])
    assert any(
        "at one time that of the version that is first by name" in o for o in found["limits"]
    )


def test_ids_that_another_model_predicted_are_named_and_not_put_down_to_versions():
    events = stream(days=6)
    shadow = [
        e | {"version": "1", "ts": e["ts"] + 1, "model": "n"}
        for e in events
        if e["type"] == "prediction"
    ]
    own = [e | {"id": f"n-{e['id']}", "model": "n"} for e in events if e["type"] == "prediction"]
    own += [e | {"id": f"n-{e['id']}"} for e in events if e["type"] == "label"]
    events = sorted([*events, *shadow, *own], key=lambda e: e["ts"])
    config = config_of("defaults: {segments: [region, version], label_timeout: 3d, maturity: 1d}")
    with client_of(fed(events, config)) as client:
        limits = {name: got(client, "versions", model=name)["limits"] for name in "mn"}
    text = f"{len(shadow):,} predictions of n carry ids that model m predicted; ids are unique in"
    assert [one for one in limits["n"] if one.startswith(text)]
    assert not any("Of two predictions of one id" in one for one in limits["n"])
    assert not any("carry ids" in one for one in limits["m"])


def test_further_versions_in_use_are_named_with_their_command():
    names = {"0": "5,b", "1": "6"}
    events = [
        e | {"version": names.get(e["id"][-1], e["version"])} if "version" in e else e
        for e in stream(days=6)
    ]
    with client_of(fed(events)) as client:
        found = got(client, "versions")
        (limit,) = [one for one in found["limits"] if "further version" in one]
        command = shlex.split(limit.split("`")[1])
        asked = got(client, "versions", versions=command[-1])["comparison"]
    assert limit.startswith(
        "1 further version in use, not compared here: `precision-monitor compare "
    )
    assert {asked["a"]["version"], asked["b"]["version"]} == {"6", "5,b"}
    with client_of(fed(stream(days=6))) as two:
        assert not any("further version" in one for one in got(two, "versions")["limits"])


def test_versions_with_a_comma_can_be_chosen():
    names = {"6": "6,a", "7": "7\\"}
    events = [e | {"version": names[e["version"]]} if "version" in e else e for e in stream(days=6)]
    with client_of(fed(events)) as client:
        found = got(client, "versions", versions="6\\,a,7\\\\")["comparison"]
    assert (found["a"]["version"], found["b"]["version"]) == ("6,a", "7\\")


def test_the_text_says_the_same(client):
    answer = client.get("/api/v1/versions", headers={"Accept": "text/plain"})
    assert answer.headers["content-type"].startswith("text/plain")
    assert "Version 7 is worse than 6" in answer.text
    assert "Versions, last 1d" in answer.text
    assert max(map(len, answer.text.splitlines())) <= 100


def test_a_name_that_would_break_the_page_is_passed_on_as_it_is():
    odd = '</script>\n"'
    events = [e | {"version": odd} if e.get("version") == "7" else e for e in stream(days=6)]
    with client_of(fed(events)) as client:
        answer = client.get("/api/v1/versions")
        text = client.get("/api/v1/versions", headers={"Accept": "text/plain"}).text
    assert json.loads(answer.text)["versions"][1]["version"].startswith("</script>")
    assert "</script>\n" not in text


def test_the_days_asked_for_are_the_last_ones(monitor, client):
    found = got(client, "versions", last="1d")["comparison"]
    compared = monitor.versions.compare("m", model_of(monitor).mature_until, last=DAY * 1000)
    assert found["a"]["predictions"] == compared.compared.predictions[0]


def test_a_shadow_version_is_listed_and_compared_pair_by_pair():
    events = shadowed(stream(a_day=480), late=0)
    monitor = fed(events, shadow_config())
    with client_of(monitor) as client:
        found, asked = got(client, "versions"), got(client, "versions", versions="7-shadow,6")
        text = client.get("/api/v1/versions", headers={"Accept": "text/plain"}).text
    listed = {one["version"]: one for one in found["versions"]}
    assert [listed[name]["shadow"] for name in ("6", SHADOW)] == [False, True]
    assert listed[SHADOW]["first_prediction"] == "1970-01-03T00:00:00Z"
    assert listed[SHADOW]["traffic"] is None
    assert found["limits"] == []
    assert found["comparison"]["decided_by"] == asked["comparison"]["decided_by"] == "pairs"
    mine, theirs = (one["comparison"]["paired"]["positives"] for one in (found, asked))
    assert (mine["only_a"], mine["only_b"]) == (theirs["only_b"], theirs["only_a"])
    compared = monitor.versions.compare("m", model_of(monitor).mature_until).compared
    assert mine["p_value"] == compared.comparison.pairs.p_values["recall"]
    assert "on the same cases" in text
    assert "McNemar" in text
    assert re.search(r"^  7-shadow +shadow +1970-01-03 00:00 ", text, re.MULTILINE)
    hour = model_of(monitor).mature_until // 3_600_000 * 3_600
    mature = sum(e["ts"] < hour for e in events if e.get("version") == SHADOW)
    assert listed[SHADOW]["shadow_cases"] == mature > 0
    assert (listed[SHADOW]["verdict"], listed[SHADOW]["against"]) == ("worse", "6")
    assert [listed["6"][name] for name in ("shadow_cases", "verdict", "against")] == [None] * 3
    assert f"1970-01-03 00:00   {mature:,} mature cases: worse than 6" in text
    assert "—" not in text.splitlines()[-1]


def test_each_shadow_version_has_its_cases_and_its_verdict():
    events = shadowed(made := stream(a_day=480), late=0)
    events += [
        e for e in shadowed(made, late=0, name="8-shadow") if e.get("version", "")[0:1] == "8"
    ]
    monitor = fed(sorted(events, key=lambda e: e["ts"]), shadow_config())
    with client_of(monitor) as client:
        text = client.get(
            "/api/v1/versions",
            params={"versions": "6,7-shadow"},
            headers={"Accept": "text/plain"},
        ).text
    rows = [line.split(maxsplit=4) for line in text.splitlines() if "mature cases" in line]
    assert [row[0] for row in rows] == ["7-shadow", "8-shadow"]
    cases, rest = rows[0][4].split(" ", 1)
    assert rest == "mature cases: worse than 6"
    assert rows[1][4] == f"{cases} mature cases: worse than 6"


def test_the_mix_is_no_limit_where_pairs_decide():
    alone = shadow_config(CONFIG.replace("[region, version]", "[version]"))
    with client_of(fed(shadowed(stream(a_day=480)), alone)) as client:
        assert got(client, "versions")["limits"] == []


def test_versions_in_use_without_counts_of_their_own_are_named_with_the_way():
    names = [f"v{number}" for number in range(6)]
    events = [
        e | {"version": names[int(e["ts"] // DAY)]} if "version" in e else e for e in stream(days=6)
    ]
    text = "models: {m: {segments: [version], label_timeout: 3d, max_segment_values: %d}}"
    limits = {}
    for most in (3, 6):
        with client_of(fed(events, config_of(text % most))) as client:
            limits[most] = got(client, "versions")["limits"]
    (limit,) = [one for one in limits[3] if one.startswith("No counts of their own for ")]
    assert limit.startswith("No counts of their own for v5, which count together as __other__: ")
    assert not any("max_segment_values" in one for one in limits[6])


def test_a_worse_version_beside_two_others_is_named_with_the_command_of_its_ticket():
    """Version 8 begins beside 7, which is worse than 6: the two that began last are compared."""
    events = stream(recall=(0.9, 0.5), days=10, a_day=1_008)
    for event in events:
        if event.get("version") == "6" and event["ts"] > 8 * DAY and event["id"][-1] in "123":
            event["version"] = "8"
    with client_of(fed(events)) as client:
        found = got(client, "versions")
        command = next(one for one in found["limits"] if "is worse than" in one).split("`")[1]
        asked = got(client, "versions", versions=shlex.split(command)[-1])["comparison"]
    assert [found["comparison"][side]["version"] for side in "ab"] != ["6", "7"]
    assert command == "precision-monitor compare --url URL --model m --versions 6,7"
    assert (asked["b"]["version"], asked["verdict"]) == ("7", "worse")
    assert not any("further version" in one and "6,7" in one for one in found["limits"])
