"""At the end of a recording, labels in the records of predictions carry the time."""

import json

import pytest
from cli.commands import ran

DAY = 86_400
DAYS = 80
CONFIG = "models: {{m: {{label_timeout: {}, reference: {{first: 7d}}}}}}\nwindows: [1d, 7d]\n"


def case(number):
    """A case every quarter of an hour, whose label takes 10 to 30 days; recall falls on day 50."""
    ts, is_positive = number * 900, number % 5 == 0
    missed = number % 25 in ((0, 5, 10) if ts >= 50 * DAY else (0,))
    return {
        "id": f"c{number}",
        "ts": ts,
        "prediction": int((is_positive and not missed) or number % 40 == 7),
        "label": int(is_positive),
        "label_ts": ts + (10 + number * 7 % 20) * DAY + 450,
    }


CASES = [case(number) for number in range(DAYS * 96)]


def outcomes(cases):
    return [{"type": "outcome", **one} for one in cases]


def events(cases):
    """The same predictions and labels as events of their own, in the order of time."""
    made = [
        {"type": "prediction"} | {name: one[name] for name in ("id", "ts", "prediction")}
        for one in cases
    ]
    labels = [
        {"type": "label", "id": one["id"], "ts": one["label_ts"], "label": one["label"]}
        for one in cases
    ]
    return sorted([*made, *labels], key=lambda event: event["ts"])


@pytest.fixture
def found(capsys, tmp_path):
    """Return what a command prints of some records."""
    config = tmp_path / "monitor.yaml"

    def of(command, records, *options, settings="90d"):
        config.write_text(CONFIG.format(settings))
        path = tmp_path / "events.ndjson"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
        return ran(capsys, command, path, "-c", config, *options).out

    return of


@pytest.fixture
def replayed(found):
    """Return what `replay` finds out about the only model."""

    def of(records, **settings):
        return json.loads(found("replay", records, "--json", **settings))["models"]["m"]

    return of


def closes(model):
    return {name: window["close"] for name, window in model["windows"].items()}


@pytest.mark.parametrize(
    "settings",
    [
        "90d",
        "90d, clock: label",
        pytest.param("40d, labelling: negatives_by_timeout", marks=pytest.mark.slow),
    ],
)
def test_a_table_is_judged_as_its_predictions_and_labels_are_as_events(replayed, settings):
    table = replayed(outcomes(CASES), settings=settings)
    assert table == replayed(events(CASES), settings=settings)
    assert table["verdict"] == "model_degraded"
    assert table["paging"]


def test_records_without_an_id_carry_the_time_as_well(replayed):
    without = [{k: v for k, v in one.items() if k != "id"} for one in outcomes(CASES)]
    assert closes(replayed(without)) == closes(replayed(outcomes(CASES)))


def test_labels_that_never_came_carry_nothing(replayed):
    """A recording that ends with its last predictions knows the labels until then."""
    until = CASES[-1]["ts"]
    known = [
        one if one["label_ts"] <= until else {**one, "label": None, "label_ts": None}
        for one in CASES
    ]
    predictions_and_labels = [one for one in events(CASES) if one["ts"] <= until]
    made = [
        {"type": "prediction"} | {name: one[name] for name in ("id", "ts", "prediction")}
        if one["label"] is None
        else {"type": "outcome", **one}
        for one in known
    ]
    assert replayed(made) == replayed(predictions_and_labels)


def test_windows_end_with_the_predictions_however_late_labels_are(replayed):
    late = [{**one, "label_ts": one["ts"] + 80 * DAY} for one in CASES[-300:]]
    rest = [{**one, "label_ts": one["ts"] + 3_600} for one in CASES[:-300]]
    last = replayed(outcomes([*rest, *late]))["windows"]["7d"]["close"]
    assert last == "1970-03-22T00:00:00Z"


def test_two_stray_times_of_labels_and_those_after_the_timeout_carry_nothing(replayed):
    known = [{**one, "label_ts": one["ts"] + 5 * DAY} for one in CASES]
    stray = [{**one, "label_ts": one["ts"] + 60 * DAY} for one in known[-2:]]
    expired = [{**one, "label_ts": one["ts"] + 100 * DAY} for one in known[-10:-2]]
    found = closes(replayed(outcomes([*known[:-10], *expired, *stray])))
    assert found == closes(replayed(outcomes(known[:-10])))


def test_diagnose_judges_the_data_that_is_mature_once_labels_have_carried_the_time(found):
    table, stream = (
        json.loads(found("diagnose", made, "--json")) for made in (outcomes(CASES), events(CASES))
    )
    assert table["after"]["close"] > "1970-03-15"
    assert table == stream
