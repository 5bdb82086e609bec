"""All that shows one moment of one model gives the same two answers in the same words."""

import json
from dataclasses import replace
from datetime import datetime

import httpx
import pytest
from cli.commands import ran
from exporter.page.pages import fed, plain, served
from report.one_moment import MOMENTS, THEN, USUAL, at, count_list, counted

from monitor.cli.replay_text import replay_text
from monitor.cli.top import table
from monitor.diagnosis.comparison import compared_live
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED, MOVED_RATES
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.report.deciding_window import answering
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.findings import of_model, with_model_now
from monitor.report.replay_json import replay_answer, replay_json

LATELY = ["died before its labels", "pages after the fault", "died and pages", "one bad day"]
LATELY += ["reference of two states", "worse at another threshold"]


def compared_now(monitor):
    """The diagnosis of the longest window, against what that is compared with."""
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    asked = compared_live(snapshot, model, None, None, answering(model, "7d"))
    found = compared(model, asked, recall(monitor, asked, LabelRegime()))
    return with_model_now(found, snapshot, model)


def unwrapped(text):
    return " ".join(text.split())


@pytest.mark.parametrize("moment", MOMENTS)
def test_everything_that_shows_a_model_gives_the_same_answers(moment):
    monitor = at(moment)
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    printed = json.loads(replay_json(snapshot))["models"]["m"]
    replayed = replay_answer(snapshot).models["m"]
    assert printed["worse"]["text"] == replayed.worse.text
    assert replayed.worse == status.worse
    assert replayed.moved_precision == status.moved_precision
    assert (replayed.answers, replayed.excluded) == (status.answers, status.excluded)
    assert printed["answers"]["said"] == [status.moved_precision.text, status.worse.text]
    assert printed["answers"]["model_worse"] == status.worse.answer
    assert printed["excluded"]["recall_below"] == status.worse.recall_excluded
    lines = unwrapped(replay_text(snapshot))
    assert f"What moved precision? {status.moved_precision.text}." in lines
    assert f"Is the model worse? {status.worse.text}." in lines
    listed = table(status_answer(snapshot, limit=1))
    assert max(map(len, listed)) <= 80
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "m"}, timeout=60).text)
    texts = [f"{status.moved_precision.text}.", f"{status.worse.text}."]
    if (unlabelled := status.without_labels) is not None:
        texts = [unlabelled.text, *unlabelled.known]
        assert all(text in lines for text in texts)
    else:
        assert status.headline in unwrapped("\n".join(listed))
    for text in texts:
        assert text in unwrapped("\n".join(listed))
        assert text.replace("`", "") in page
    says_it_once(status, {"top": "\n".join(listed), "page": page, "replay": lines})


def says_it_once(status, texts):
    """What predictions alone show to be wrong stands once above all numbers, but for the answer."""
    headline, wrong = status.headline, status.predictions_degenerate.text
    if wrong is not None:
        died, _, headline = headline.partition("). ")
        assert died.startswith(f"The model {wrong} (since ")
        assert wrong not in headline
        above = {name: text.partition("Each metric in")[0] for name, text in texts.items()}
        rest = [unwrapped(text).replace(status.worse.text, "") for text in above.values()]
        assert [text.count(wrong) for text in rest] == [1] * len(above)
    assert headline in texts["page"]


@pytest.mark.parametrize("moment", [*THEN, *LATELY])
def test_diagnose_answers_as_the_window_that_it_compares(moment):
    monitor = at(moment)
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    diagnosis = compared_now(monitor)
    answer: DiagnosisAnswer = diagnosis_answer(diagnosis)
    assert status.verdict_window == "7d"
    assert (answer.verdict, answer.verdict_because) == (status.verdict, status.verdict_because)
    assert status.headline == answer.headline
    assert answer.moved_precision == status.moved_precision
    assert answer.worse.answer == status.worse.answer
    assert answer.answers.precision_moved_by == status.answers.precision_moved_by
    assert answer.answers.model_worse == status.answers.model_worse
    excluded = status.worse.recall_excluded
    assert answer.worse.recall_excluded == (excluded and pytest.approx(excluded, rel=1e-3))
    assert (answer.change_began or None) == status.change_began
    assert answer.worse.text == status.worse.text
    if moment == "another threshold":
        assert "recall over the last 7d is between" in status.worse.text
    lines = unwrapped(diagnosis_text(diagnosis))
    assert f"What moved precision? {answer.moved_precision.text}." in lines
    assert f"Is the model worse? {answer.worse.text}." in lines


def test_a_steady_window_says_everywhere_which_fall_would_have_been_shown():
    monitor = at("as ever")
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    said = "A fall of recall to .70 would have been shown with 80 % probability."
    assert status.worse.recall_visible == pytest.approx(0.7, abs=0.01)
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "m"}, timeout=60).text)
    texts = {
        "replay": replay_text(snapshot),
        "diagnose": diagnosis_text(compared_now(monitor)),
        "page": page,
    }
    assert [name for name, text in texts.items() if said not in unwrapped(text)] == []
    moved = at("rarer positives").snapshot()
    assert "would have been shown" not in replay_text(moved)


def test_the_fall_that_would_have_been_shown_is_of_the_window_that_excludes_most():
    snapshot = at("as ever").snapshot()
    (model,) = snapshot.models
    week, day = (model.watched.verdicts[name] for name in ("7d", "1d"))
    assert week.recall.excluded > day.recall.excluded
    assert of_model(snapshot, model, "7d").recall_visible == week.visible_recall
    less = replace(week, recall=week.recall._replace(excluded=0.1))
    watched = replace(model.watched, verdicts=model.watched.verdicts | {"7d": less})
    found = of_model(snapshot, replace(model, watched=watched), "7d")
    assert found.recall_visible == day.visible_recall != week.visible_recall


def test_a_week_that_a_dead_model_flagged_in_until_it_died_has_no_precision_now():
    monitor = at("died with its labels")
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    diagnosis = compared_now(monitor)
    assert diagnosis.after.counts.predicted_positive > 0
    answer = diagnosis_answer(diagnosis)
    assert answer.moved_precision == status.moved_precision
    assert answer.moved_precision.text.startswith("Not known: nothing is flagged any more")
    assert answer.worse.text == status.worse.text
    assert answer.worse.text == "Yes: it flags nothing any more"


def test_a_dead_model_that_pages_is_nowhere_an_old_page_that_fades():
    monitor = at("died and pages")
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    assert (status.verdict_window, status.verdict) == ("7d", Verdict.INSUFFICIENT_EVIDENCE)
    assert status.windows["1d"].verdict is Verdict.MODEL_DEGRADED
    dead = "The model flags nothing any more (since 1970-02-09 18:30). "
    assert status.headline.startswith(dead)
    assert ": over the last 1d recall fell" in status.headline
    short = "Yes: it flags nothing any more; over the last 1d recall fell"
    assert status.worse.text.startswith(short)
    assert "recovered" not in status.headline + status.worse.text
    found = status_answer(snapshot, Selection(kind=Verdict.MODEL_DEGRADED), limit=1)
    assert found.total == 1
    assert found.tally == {Verdict.MODEL_DEGRADED: 1}
    assert "1 model degraded" in "\n".join(table(found))
    with served(monitor) as url:
        pages = [
            plain(httpx.get(url, params=asked, timeout=60).text)
            for asked in ({"model": "m"}, {"verdict": "model_degraded"})
        ]
    assert all("Model degraded" in page for page in pages)
    assert "Moved, not settled" not in pages[0].partition("What moved precision?")[0]


def rests_on(monitor):
    """What the page says that the answers rest on."""
    with served(monitor) as url:
        page = plain(httpx.get(url, params={"model": "m"}, timeout=60).text)
    return page.partition("Rests on ")[2].partition(" Now ")[0]


def test_the_page_counts_the_positives_of_the_level_that_the_answers_compare_with():
    monitor = at("worse at another threshold")
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    before = status.windows["7d"].level.outcomes
    positives = f"{before.tp + before.fn:,.0f} positives"
    assert rests_on(monitor).endswith(f", compared with {positives} of the model's level.")


def test_the_page_counts_the_cases_of_a_shorter_window_that_an_answer_names():
    monitor = at("died and pages")
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert (status.verdict_window, "over the last 1d" in status.worse.text) == ("7d", True)
    day = status.windows["1d"].outcomes
    text = f"; last 1d: {day.tp + day.fn:,.0f} positives and 0 flagged cases of "
    assert text in rests_on(monitor)


def test_a_window_that_reaches_back_rests_on_no_comparison():
    monitor = counted([USUAL] * 8, windows=("7d",))
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert (status.reference is None, status.since_reference) == (False, None)
    assert rests_on(monitor).startswith("last 7d: ")
    assert "compared with" not in rests_on(monitor)


def test_a_model_that_is_worse_than_its_level_is_compared_with_the_days_of_that(capsys, tmp_path):
    snapshot = at("worse at another threshold").snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    assert status.windows["7d"].level.source == "level"
    days = (status.windows["7d"].level.open[:10], status.windows["7d"].level.close[:10])
    assert "1970-01-29" <= days[0] < days[1] <= "1970-03-26"
    replayed = replay_answer(snapshot).models["m"].windows["7d"]
    assert replayed.level == status.windows["7d"].level
    assert status.reference.close[:10] == "1970-01-29"
    rates = "recall fell from .66 to .50, compared with the model's level, "
    assert status.worse.text.startswith(f"Yes: {rates}")
    level = status.worse.text.partition(", ")[2]
    lines = [line.strip() for line in replay_text(snapshot).splitlines()]
    assert f"7d      model_degraded, {level}" in lines
    path = tmp_path / "counts.ndjson"
    records = count_list([USUAL] * 28 + [(33, 10, 17, 440)] * 56 + [(25, 10, 25, 440)] * 10)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    done = json.loads(ran(capsys, "diagnose", path, "--json").out)
    assert (done["before"]["source"], done["before"]["open"][:10]) == ("level", days[0])
    assert done["worse"]["text"] == status.worse.text
    asked = json.loads(
        ran(capsys, "diagnose", path, "--json", "--after", "1970-03-30..1970-04-05").out
    )
    assert (asked["before"]["source"], asked["verdict"]) == ("first", "operating_point_moved")


def test_while_a_model_pages_all_windows_are_compared_with_its_level():
    days = [USUAL] * 28 + [(33, 10, 17, 440)] * 56 + [(25, 10, 25, 440)] * 10
    monitor = counted(days[:-10])
    (before,) = status_answer(monitor.snapshot(), limit=1).models
    fed(monitor, count_list([*days, *[(2, 1, 1, 12)] * 2])[4 * len(days[:-10]) :])
    (after,) = status_answer(monitor.snapshot(), limit=1).models
    assert (before.detectors.degradation_detected, after.detectors.degradation_detected) == (0, 1)
    assert not before.windows["1d"].level
    assert after.windows["1d"].verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert after.windows["1d"].level == after.windows["7d"].level
    assert after.windows["1d"].level.source == "level"


def test_a_page_that_lasts_says_since_when():
    snapshot = at("pages after the fault").snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    (started,) = [one for one in status.detections if one.kind == "model_degraded"]
    day = datetime.fromisoformat(started.at).strftime("%-d %B %Y")
    assert status.worse.text.startswith(f"Yes: it has paged since {day}, and has not certainly ")
    found = of_model(snapshot, snapshot.models[0], "7d")
    assert "since" in found.lasting_page
    assert "since" not in found._replace(paged_since=None).lasting_page
    assert "version" not in found.lasting_page


@pytest.mark.parametrize("days", [8, pytest.param(12, marks=pytest.mark.slow)])
def test_a_trailing_reference_is_the_same_in_diagnose_as_in_replay(capsys, tmp_path, days):
    worse, path, config = (20, 40, 30, 410), tmp_path / "counts.ndjson", tmp_path / "trailing.yml"
    records = count_list([USUAL] * 40 + [worse] * days)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    config.write_text("models: {m: {maturity: 1h, reference: {trailing: 7d}}}\nwindows: [1d, 7d]\n")
    asked = ("-c", config, path, "--json")
    (replayed,) = json.loads(ran(capsys, "replay", *asked).out)["models"].values()
    diagnosed = json.loads(ran(capsys, "diagnose", *asked).out)
    assert replayed["paging"]
    assert replayed["reference"]["close"] < replayed["change_began"]["at"] < "1970-02-10T12:00:00Z"
    level = replayed["windows"][replayed["verdict_window"]]["level"]  # while it pages
    before = {name: diagnosed["before"][name] for name in ("source", "open", "close")}
    assert before == {name: level[name] for name in before}
    for name in ("worse", "moved_precision", "verdict", "change_began"):
        assert diagnosed[name] == replayed[name]


def test_whether_a_model_is_worse_than_a_reference_of_two_states_cannot_be_known():
    monitor = at("reference of two states")
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    why = "a change about 6 January 1970 (recall .80 before, .71 from then on)"
    for worse in (status.worse, diagnosis_answer(compared_now(monitor)).worse):
        assert worse.answer == "unknown"
        assert worse.text == f"Cannot be known: the reference holds {why}"
    assert status.answers.model_worse == "unknown"


@pytest.mark.parametrize("moment", MOMENTS)
def test_no_answer_contradicts_another_of_the_same_moment(moment):
    (status,) = status_answer(at(moment).snapshot(), limit=1).models
    calm = "no sign of a change" in status.headline
    assert calm == (status.verdict_because == "steady")
    quiet = status.worse.text.startswith(("Nothing points to it", "No:"))
    wrong = status.predictions_degenerate.text is not None or status.change_began is not None
    days = [one for name in ("1d", "7d") if (one := status.windows.get(name)) is not None]
    degraded = [one for one in days if one.verdict in DEGRADED]
    moved = [one for one in days if one.verdict in MOVED_RATES]
    shifted = status.detectors.prevalence_shift_detected and has_moved(days)
    assert not (quiet and degraded)
    assert not (calm and (wrong or moved or shifted))
    assert not (quiet and status.predictions_degenerate.text)
    if status.verdict_because == "too_few_outcomes" and status.missing_evidence is None:
        assert not quiet or "only a fall" in status.worse.text


def has_moved(windows):
    return any(one.verdict_because == "moved_cause_open" for one in windows)


def test_a_day_of_rarer_positives_that_the_detector_found_decides():
    """The alert fires by this day, and names its numbers."""
    (status,) = status_answer(at("a day of rarer positives").snapshot(), limit=1).models
    assert status.detectors.prevalence_shift_detected
    assert (status.verdict_window, status.verdict_because) == ("1d", "moved_cause_open")
    assert status.headline.endswith("certainly fewer positives. Whether skill changed is open.")
    assert status.moved_precision.text.startswith("Rarer positives: ")


def test_a_better_day_is_named_while_the_week_is_open():
    (status,) = status_answer(at("a better day").snapshot(), limit=1).models
    assert (status.verdict_window, status.verdict_because) == ("7d", "moved_cause_open")
    assert status.windows["1d"].verdict == Verdict.MODEL_IMPROVED
    assert ": over the last 1d recall rose from .80 to .92" in status.headline
    assert status.worse.text.startswith("Nothing points to it: ")
