"""Page, API, `replay` and `diagnose` say what audits show, and what they do not."""

import json

import numpy as np
import pytest
from audited_cases import (
    AUDITS,
    CHANGED,
    DAY,
    RECALL,
    Cases,
    fed,
    monitor_of,
    monitor_of_changed_labels,
    sloppier,
    steady,
)
from msgspec import json as msgspec_json

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.diagnosis.comparison import compared_live
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.labels.regime import LabelRegime
from monitor.report.replay_json import replay_json


@pytest.fixture(scope="module")
def changed_labels():
    return monitor_of_changed_labels()


def confirmed(cases):
    """Labels that confirm half of the false positives."""
    false = cases.called & ~cases.actual
    cases.label |= false & (cases.rng.random(len(false)) < 0.5)
    return cases


@pytest.mark.parametrize("feeds_back", [False, True])
def test_labels_that_follow_the_prediction_are_named(feeds_back):
    cases = Cases(30, 3_000, 9, steady(0.04))
    monitor = fed(confirmed(cases) if feeds_back else cases, 100, range(30), monitor_of({}))
    status = status_answer(monitor.snapshot(), limit=1)
    audits = status.models[0].audits
    assert audits.follow_predictions is feeds_back
    assert (audits.labelled_0, audits.labelled_1) == (200, 200)
    page = str(now_section(status, status.models[0], None, None))
    assert audits.text in page.replace("&#x27;", "'")
    assert ("follows the prediction: precision or recall is off" in page) is feeds_back


def test_without_audits_the_page_names_the_test():
    status = status_answer(
        fed(Cases(5, 500, 9, steady(0.04)), 0, range(5), monitor_of({})).snapshot(), limit=1
    )
    assert status.models[0].audits is None
    page = str(now_section(status, status.models[0], None, None))
    assert "audits of flagged and of other cases test it" in page


def test_labels_that_follow_the_prediction_are_not_corrected_by_one_rate():
    """Precision would read far too high; nothing is shown instead."""
    monitor = fed(confirmed(Cases(30, 3_000, 9, steady(0.04))), 100, range(30))
    snapshot = monitor.snapshot()
    for window in snapshot.windows:
        assert np.isnan(window.metrics["precision"]).all()
    status = status_answer(snapshot, limit=1).models[0]
    found = next(iter(status.windows.values()))
    assert "at other rates than the others" in found.refused_because
    verdicts = {one.verdict for one in snapshot.models[0].watched.verdicts.values()}
    assert verdicts == {Verdict.LABELS_NOT_TRUSTWORTHY}
    text = " ".join(replay_text(snapshot).split())
    assert "flagged cases have wrong labels at other rates than the others" in text


@pytest.mark.slow
def test_a_diagnosis_says_what_audits_show():
    cases = Cases(66, 2_000, 4, steady(0.04))
    monitor = fed(cases, 100, range(66), monitor_of({}))
    snapshot = monitor.snapshot()
    asked = compared_live(
        snapshot, snapshot.models[0], "1970-01-01..1970-01-29", "1970-01-30..1970-02-20"
    )
    found = compared(
        snapshot.models[0], asked, recall(monitor, asked, LabelRegime.now(snapshot.models[0]))
    )
    assert any(note.startswith("audits found") for note in found.notes)


def test_a_diagnosis_before_enough_audits_is_refused():
    monitor = fed(Cases(40, 500, 4, steady(0.04)), 0, range(40))
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    asked = compared_live(snapshot, model, "1970-01-01..1970-01-15", "1970-01-16..1970-01-30")
    with pytest.raises(UsageError, match="too few labels are audited"):
        compared(model, asked, recall(monitor, asked, LabelRegime.now(model)))


def test_the_json_of_replay_has_the_rates_and_audits_of_the_api(changed_labels):
    snapshot = changed_labels.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    (replayed,) = json.loads(replay_json(snapshot))["models"].values()
    assert replayed["label_errors"] == status.label_errors != {}
    assert {name: tuple(ends) for name, ends in replayed["label_error_ranges"].items()} == (
        status.label_error_ranges
    )
    assert replayed["audits"] == json.loads(msgspec_json.encode(status.audits))


def test_the_json_of_replay_leaves_them_out_where_labels_are_taken_as_they_are():
    snapshot = fed(Cases(5, 500, 9, steady(0.04)), 0, range(5), monitor_of({})).snapshot()
    (replayed,) = json.loads(replay_json(snapshot))["models"].values()
    assert not {"label_errors", "label_error_ranges", "audits"} & replayed.keys()


def test_page_api_replay_and_diagnosis_say_that_the_rates_changed(changed_labels):
    snapshot = changed_labels.snapshot()
    model = snapshot.models[0]
    status = status_answer(snapshot, limit=1)
    (earlier,) = status.models[0].earlier_label_errors
    day = earlier.until[:10]
    assert "audits show that the rates of wrong labels changed" in status.models[0].audits.text
    page = str(now_section(status, status.models[0], None, None))
    text = " ".join(replay_text(snapshot).split())
    for told in (page, text):
        assert f"(before {day} for " in told
        assert "fewer positive labels than wrong ones" not in told
    asked = compared_live(snapshot, model, "1970-01-08..1970-01-29", "1970-02-25..1970-03-18")
    found = compared(model, asked, recall(changed_labels, asked, LabelRegime.now(model)))
    notes = [note for note in found.notes if "labels are taken to be wrong" in note]
    assert [note.partition(":")[0] for note in notes] == ["before", "after"]
    assert found.judgement.verdict not in DEGRADED
    for side in (found.before, found.after):
        measured = side.metrics["recall"]
        assert measured.lower <= RECALL <= measured.upper


def test_a_window_that_holds_all_predictions_has_the_metrics_of_all_time():
    """Rates that changed inside count by cases; time without predictions does not count."""
    settings = {"label_timeout": "60d", "maturity": "0s", "label_errors": AUDITS}
    monitor = Monitor(Config(models={"m": settings}, windows=["120d"]))
    cases = Cases(80, 2_000, 4, steady(0.04), rates=sloppier)
    fed(cases, 200, range(80), monitor, audit_days=range(CHANGED))
    monitor.apply(cases.audits(200, range(CHANGED, 80)))
    snapshot = monitor.snapshot()
    assert len(snapshot.models[0].earlier_label_errors) == 1
    (window,) = snapshot.windows
    assert window.counts.cells[0].sum() > 0.99 * snapshot.lifetime.counts.cells[0].sum()
    for name in ("recall", "precision", "prevalence"):
        one, other = (each.metrics[name].estimate[0] for each in (window, snapshot.lifetime))
        assert one == pytest.approx(other, abs=0.005), name


def test_series_by_time_have_the_rates_of_their_time(changed_labels):
    context = series_context(changed_labels.snapshot().models[0])
    answer = series_answer(changed_labels.history("m"), context, step=7 * DAY)
    recalls = np.array(answer.metrics.recall.estimate, dtype=float)
    known = recalls[~np.isnan(recalls)]
    assert len(known) > 8
    assert known.min() > 0.65
    assert np.median(known[:5]) < 0.9
