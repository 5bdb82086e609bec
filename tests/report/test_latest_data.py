"""What is known of a model now is said of its latest data, and of no other ranges."""

import json
from datetime import datetime

import httpx
import pytest
from cli.commands import ran
from exporter.page.pages import fed, plain, served
from report.one_moment import USUAL, at, count_list, counted, event_list
from report.test_agreement import compared_now

from monitor.config import Config
from monitor.diagnosis.comparison import compared_live
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.findings import with_model_now
from monitor.report.headline import certainties

HOUR, DAY = 3_600_000, 86_400_000


def between(monitor, before, after):
    """The diagnosis of two ranges that a person asks for; None for the latest data."""
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    asked = compared_live(snapshot, model, before, after)
    found = compared(model, asked, recall(monitor, asked, LabelRegime()))
    return with_model_now(found, snapshot, model)


def test_ranges_that_a_person_asks_for_say_nothing_of_the_page_of_now():
    monitor = at("pages after the fault")
    (model,) = monitor.snapshot().models
    assert model.watched.degradation_detected
    latest = compared_now(monitor)
    assert latest.pages
    assert "the page began with days that were certainly worse" in certainties(latest)
    closes = model.mature_until // HOUR * HOUR
    first, later = TimeRange(DAY, 5 * DAY), TimeRange(closes - DAY, closes)
    asked = between(monitor, str(first), str(later))
    assert not asked.pages
    answer: DiagnosisAnswer = diagnosis_answer(asked)
    assert "pages" not in answer.worse.text
    assert "recovered" not in answer.headline
    assert "the page began" not in answer.certainties


@pytest.mark.parametrize(
    ("days", "decides", "stretch"),
    [
        ([USUAL] * 10, "1d", 54 * HOUR),
        ([USUAL] * 12 + [(20, 40, 30, 410)] * 2, "1d", DAY),
        ([USUAL] * 18, "7d", 7 * DAY),
    ],
)
def test_diagnose_judges_the_stretch_that_replay_answers_from(
    capsys, tmp_path, days, decides, stretch
):
    """A day or all days since the reference answer in the second week, and a week later on."""
    path = tmp_path / "counts.ndjson"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in count_list(days)))
    replayed = json.loads(ran(capsys, "replay", path, "--json").out)["models"]["m"]
    done = json.loads(ran(capsys, "diagnose", path, "--json").out)
    assert replayed["verdict_window"] == decides
    after = [datetime.fromisoformat(done["after"][end]) for end in ("open", "close")]
    assert (after[1] - after[0]).total_seconds() * 1000 == stretch
    assert done["worse"]["answer"] == replayed["worse"]["answer"]
    assert done["moved_precision"]["text"] == replayed["moved_precision"]["text"]
    assert done["excluded"]["recall_below"] == replayed["excluded"]["recall_below"]


def test_labels_at_fault_are_named_where_the_latest_data_are_judged(capsys, tmp_path):
    """Labels of the last day are lost: too few of a week for the tests of two ranges to find."""
    lines = [json.dumps(event) for event in event_list(26, labelled=25, daily=720)]
    path = tmp_path / "events.ndjson"
    path.write_text("\n".join(lines) + "\n")
    done = json.loads(ran(capsys, "diagnose", path, "--json").out)
    assert done["verdict"] == "labels_not_trustworthy"
    assert done["worse"]["text"].startswith("Cannot be known: labels cannot be trusted: far fewer")
    assert done["change"]["points"] is None
    assert done["excluded"]["recall_below"] is None
    named = ran(
        capsys,
        "diagnose",
        path,
        "--before",
        "1970-01-01..1970-01-08",
        "--after",
        "1970-01-15..1970-01-22",
        "--json",
    )
    assert json.loads(named.out)["verdict"] == "insufficient_evidence"


def test_a_running_monitor_names_labels_at_fault_where_its_latest_data_are_judged():
    """The same of the API: its deciding window knows what two ranges are too few to show."""
    monitor = fed(Monitor(Config()), event_list(26, labelled=25, daily=720))
    snapshot = monitor.snapshot()
    asked = Queries(lambda: snapshot, lambda read: read(monitor)).explanation
    assert asked(None, None, None).diagnosis.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    text = asked(None, None, None).answer.worse.text
    assert text.startswith("Cannot be known: labels cannot be trusted: far fewer")
    named = asked(None, "1970-01-01..1970-01-08", "1970-01-15..1970-01-22").diagnosis
    assert named.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    ("maturity", "stretch"), [("1h", "over the last 7d"), ("10d", "over the 7d until 9 ")]
)
def test_a_window_that_ended_days_ago_is_named_by_its_end(maturity, stretch):
    monitor = counted(
        [USUAL] * 50, maturity=maturity, label_timeout="20d", reference={"first": "7d"}
    )
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert stretch in status.worse.text
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "m"}, timeout=60).text)
    rests = page.partition("Rests on ")[2]
    assert rests.startswith("last 7d: ") is (maturity == "1h")
    assert rests.startswith("7d until 1970-02-09") is (maturity == "10d")


def test_the_share_of_flagged_cases_of_a_few_predictions_is_not_named():
    monitor = fed(Monitor(Config(models={"m": {}})), event_list(1.2, labelled=0, daily=240))
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    known = " ".join(status.without_labels.known)
    assert "over the last 1d" in known
    assert "over the last 1h" not in known
