"""Everything that is shown has a row of words, and no word of it is empty."""

import string
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from monitor import snapshot
from monitor.config import Labelling
from monitor.config.model import Objective
from monitor.config.reference import REFERENCE_KINDS
from monitor.drift import CAUSES, Verdict
from monitor.drift.degenerate import Degeneracy
from monitor.drift.recall_evidence import Because
from monitor.labels.evidence import STATUS
from monitor.labels.faults import LabelFault
from monitor.report import vocabulary
from monitor.report.model_kinds import JudgedModel


class Kind(NamedTuple):
    members: tuple[str, ...]
    rows: Mapping[Any, Any]


KINDS = {
    "metric": Kind(snapshot.METRIC_NAMES, vocabulary.METRIC_WORDS),
    "cause": Kind(CAUSES, vocabulary.CAUSES),
    "verdict": Kind(tuple(Verdict), vocabulary.VERDICTS),
    "reason without a verdict": Kind(tuple(Because), vocabulary.BECAUSE),
    "degeneracy": Kind(tuple(Degeneracy), vocabulary.DEGENERACIES),
    "label fault": Kind(tuple(LabelFault), vocabulary.LABEL_FAULTS),
    "labelling": Kind(tuple(Labelling), vocabulary.LABELLINGS),
    "window status": Kind(tuple(dict.fromkeys(STATUS)), vocabulary.WINDOW_STATUSES),
    "source": Kind((*REFERENCE_KINDS, "level", "mature"), vocabulary.SOURCES),
}
MEMBERS = [(kind, member) for kind, (members, _) in KINDS.items() for member in members]
ROWS = [(kind, member) for kind, (_, rows) in KINDS.items() for member in rows]
MAY_BE_EMPTY = {"unit"}


def named(pairs: list[tuple[str, str]]) -> list[Any]:
    return [pytest.param(kind, member, id=f"{kind} {member}") for kind, member in pairs]


def words_of(row: Any) -> dict[str, str]:
    fields = {"text": row} if isinstance(row, str) else row._asdict()
    return {name: text for name, text in fields.items() if isinstance(text, str)}


@pytest.mark.parametrize(("kind", "member"), named(MEMBERS))
def test_every_member_has_a_row(kind: str, member: str) -> None:
    assert member in KINDS[kind].rows, f"monitor/report/vocabulary.py: no {kind} {member!r}"


@pytest.mark.parametrize(("kind", "member"), named(ROWS))
def test_every_row_is_of_a_member_and_has_all_its_words(kind: str, member: str) -> None:
    assert member in KINDS[kind].members, f"there is no {kind} {member!r}"
    empty = [name for name, text in words_of(KINDS[kind].rows[member]).items() if not text.strip()]
    assert set(empty) <= MAY_BE_EMPTY, f"{kind} {member!r}: no {', '.join(empty)}"


@pytest.mark.parametrize("kind", ["metric", "cause", "degeneracy", "label fault", "labelling"])
def test_rows_come_in_the_order_of_their_members(kind: str) -> None:
    assert tuple(KINDS[kind].rows) == KINDS[kind].members


def test_rows_stand_under_their_own_names() -> None:
    rows = [*vocabulary.METRIC_WORDS.items(), *vocabulary.CAUSES.items()]
    assert [name for name, row in rows if row.name != name] == []


@pytest.mark.parametrize("field", ["words", "short", "meaning", "stem"])
def test_no_two_metrics_share_a_name(field: str) -> None:
    values = [getattr(row, field) for row in vocabulary.METRIC_WORDS.values()]
    assert len(set(values)) == len(values)


def test_no_two_verdicts_share_a_title_or_a_meaning() -> None:
    rows = vocabulary.VERDICTS.values()
    assert len({row.title for row in rows}) == len({row.meaning for row in rows}) == len(rows)


def test_each_reason_without_a_verdict_is_less_urgent_than_a_page() -> None:
    open_verdict = Verdict.INSUFFICIENT_EVIDENCE
    found = [JudgedModel(open_verdict, because).urgency for because in Because]
    assert min(found) > JudgedModel(open_verdict, None, pages=True).urgency
    assert len(set(found)) == len(found)


def test_places_in_tables_are_counted_without_a_gap() -> None:
    places = [row.place for row in vocabulary.PAGE_METRICS]
    assert places == list(range(1, len(places) + 1))


def test_the_metrics_of_json_have_words_and_come_in_their_order() -> None:
    named_in_json = [name for name in vocabulary.METRIC_WORDS if name in vocabulary.JSON_METRICS]
    assert tuple(named_in_json) == vocabulary.JSON_METRICS


def test_the_metrics_with_an_objective_are_those_of_the_configuration() -> None:
    bounded = {name for name, row in vocabulary.METRIC_WORDS.items() if row.objective}
    assert bounded == set(Objective.model_fields)


def test_headlines_name_only_what_can_be_filled_in() -> None:
    parser = string.Formatter()
    fields = {
        field
        for row in vocabulary.VERDICTS.values()
        for _, field, _, _ in parser.parse(row.headline)
        if field is not None
    }
    assert fields <= {"positives", "moved", "slid", "open"}


def test_causes_point_at_metrics_that_exist() -> None:
    assert {row.metric for row in vocabulary.CAUSES.values()} <= set(vocabulary.METRIC_WORDS)
