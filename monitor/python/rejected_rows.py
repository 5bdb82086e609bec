"""Rejected rows of a table: how many, the first ones, and what to write so that they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from monitor.config.mapping import ClassField, TimeUnit
from monitor.config.quantities import count_of
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.decode.class_lists import ONE_LABEL
from monitor.feeds.decode.named_values import NAME_ALLOWED
from monitor.feeds.decode.record_faults import UNLABELLED
from monitor.feeds.decode.time_texts import moment_of
from monitor.feeds.decode.time_units import unit_to_give
from monitor.feeds.mapping.proposed_formats import proposed_formats, time_settings
from monitor.feeds.odd_values import (
    Values,
    are_infinite,
    are_named_classes,
    are_of_more_classes,
    look_like_scores,
    number_further_classes,
    stands_for_no_class,
    texts_of,
)
from monitor.feeds.table_fields import CLASSES, TIMES

_SHOWN = 5
_EXAMPLES = 1_000
"""Rows of each reason and field to look at."""
_TWO = 2
_MOST_LISTED = 12
"""Classes that a line to write lists."""
_ONE_LABEL = "give one class a row; for several labels a case, configure a model for each label"
_MANY = "or, of more than two, name all classes, Monitor(Config(defaults={{'classes': {names}}}))"
_THRESHOLD = "give the model a threshold, Monitor(Config(defaults={'threshold': 0.5}))"
_TYPE = "leave `type` out where it is no type of event, type={'value': ''}"


class RejectedRows:
    """The rejected rows of a table.

    Args:
        unit: of times that are numbers, as they are read.
        columns: the column of each field that the table has.
        threshold: how to give the score from which a case is positive.
        many: what to do with more than two classes, `{names}` standing for a list of them.

    Attributes:
        first: the first rejected rows.
    """

    def __init__(
        self,
        unit: TimeUnit,
        columns: Mapping[str, str],
        threshold: str = _THRESHOLD,
        many: str = _MANY,
    ) -> None:
        self.first: list[Rejection] = []
        self._unit = unit
        self._columns = columns
        self._threshold = threshold
        self._many = many
        self._numbers: Counter[tuple[RejectReason, str]] = Counter()
        self._examples: dict[tuple[RejectReason, str], list[Rejection]] = {}

    def add(self, rejections: Sequence[Rejection]) -> None:
        """Add rejected rows.

        Args:
            rejections: as decoding gives them.
        """
        self.first += rejections[: _SHOWN - len(self.first)]
        for one in rejections:
            kind = (one.reason, one.field)
            self._numbers[kind] += 1
            examples = self._examples.setdefault(kind, [])
            if len(examples) < _EXAMPLES:
                examples.append(one)

    @property
    def total(self) -> int:
        """Number of rejected rows."""
        return self._numbers.total()

    @property
    def stand_for_no_class(self) -> bool:
        """True where rows of the most frequent kind have a class that seems to stand for none."""
        (_, field), _ = next(iter(self._numbers.most_common(1)), ((None, ""), 0))
        examples = self._examples.get((RejectReason.BAD_VALUE, field), [])
        values = [one.value for one in examples if isinstance(one.value, str)]
        of_class = field in CLASSES and len(values) == len(examples) > 0
        return of_class and all(map(stands_for_no_class, values))

    @property
    def by_reason(self) -> dict[str, int]:
        """Number of rejected rows by reason."""
        found: Counter[str] = Counter()
        for (reason, _), number in self._numbers.items():
            found[str(reason)] += number
        return dict(found)

    def spoil(self, rows: int) -> bool:
        """Return whether the other rows tell nothing: most were rejected, or those of a class.

        Args:
            rows: of the table.
        """
        kind = (RejectReason.BAD_VALUE, str(ClassField.PREDICTION))
        examples = self._examples.get(kind, [])
        values = [one.value for one in examples if isinstance(one.value, str | int | float)]
        allowed = examples[0].allowed if examples else ""
        of_class = are_of_more_classes(values, allowed, self._numbers[kind], rows)
        return of_class or self.total * 2 > rows

    def hint(self) -> str:
        """Return what to write so that the most frequent kind is read; "" where that is not known.

        >>> rows = RejectedRows(TimeUnit.SECONDS, {})
        >>> rows.add([Rejection(RejectReason.MISSING_FIELD, "row:1", "id: is missing", b"")])
        >>> rows.hint()
        "name the column that holds id, id='COLUMN'"
        """
        if not self._numbers:
            return ""
        (kind, number), *_ = self._numbers.most_common(1)
        (reason, field), examples = kind, self._examples[kind]
        if reason is RejectReason.TIMESTAMP_IN_MILLISECONDS:
            fits = unit_to_give(float(examples[0].value), self._unit)
            return "" if fits is None else f"give the unit of times, time={{'unit': '{fits}'}}"
        if reason is RejectReason.MISSING_FIELD:
            return self._missing(field, examples[0].detail, count_of(number, "row"))
        if reason is RejectReason.BAD_VALUE:
            return self._bad_value(field, examples)
        return _TYPE if reason is RejectReason.UNKNOWN_TYPE else ""

    def _missing(self, field: str, detail: str, rows: str) -> str:
        if detail.endswith(UNLABELLED) and (label := self._columns.get("label")):
            return (
                f"column {label!r} has no label in {rows}: leave these rows out, or name the "
                "column of ids, id='COLUMN', by which labels find them later"
            )
        if column := self._columns.get(field):
            return (
                f"column {column!r} has no {field} in {rows}: leave these rows out, in pandas "
                f"df.dropna(subset=[{column!r}]), or name another column, {field}='COLUMN'"
            )
        if field == "prediction":
            return f"name the column of predictions, prediction='COLUMN', or {self._threshold}"
        return f"name the column that holds {field}, {field}='COLUMN'"

    def _bad_value(self, field: str, examples: Sequence[Rejection]) -> str:
        shown = (one.value for one in examples)
        values = list(dict.fromkeys(v for v in shown if isinstance(v, str | int | float)))
        column = self._columns.get(field, "COLUMN")
        if field in TIMES:
            return _time_hint(values)
        if field in CLASSES:
            if field == "prediction" and look_like_scores(values):
                scores = "predictions between 0 and 1 seem to be scores"
                return f"{scores}: write score={column!r}, and {self._threshold}"
            if ONE_LABEL in examples[0].detail:
                return _ONE_LABEL
            return _class_hint(field, values, examples[0].allowed, self._many)
        if field == "segment":
            return f"name the column of each segment key, segment={{{column!r}: {column!r}}}"
        return _score_hint(column, examples[0].value) if field == "score" else ""


def _score_hint(column: str, first: object) -> str:
    if isinstance(first, list):
        place = f"{column}.{max(len(first) - 1, 0)}"
        return f"give the place of the positive class in these lists, from 0 on, score={place!r}"
    return "give scores from 0 to 1, percentages divided by 100"


def _time_hint(values: Values) -> str:
    value = values[0] if values else None
    if not isinstance(value, str):
        return ""
    if formats := proposed_formats(values):
        first, *other = formats
        doubt = f"; the day may come first, or the month: then {other[0]!r}" if other else ""
        form = time_settings(first)
        zone = " and the zone" if "zone" in form else ""
        return f"give the format{zone} of these times, time={form!r}{doubt}"
    moment = moment_of(value)
    if moment is None or moment.tzinfo is not None:
        return ""
    return "give the zone of times that name none, time={'zone': 'Europe/Berlin'}"


def _class_hint(field: str, values: Values, allowed: str, many: str) -> str:
    texts = texts_of(values)
    absent = [text for text in texts if stands_for_no_class(text)]
    if are_infinite(values):
        return f"{field}s are not finite: give 0 or 1, or None where there is none"
    if absent and absent == texts:
        missing = {field: {"missing": ["", *absent]}}
        return f"say which values stand for no {field}, values={missing!r}"
    if look_like_scores(values):
        seem = f"{field}s between 0 and 1 seem to be scores"
        return f"{seem}: name the column that holds classes, {field}='COLUMN'"
    if are_named_classes(allowed):
        one_of, more = "one of the configured classes, ", ", or add the others to `classes`"
        if allowed.startswith(NAME_ALLOWED):
            one_of, more = "", ", as text or a whole number"
        return f"give {one_of}{allowed}{more}"
    positive = f"values={{'{field}': {{'positive': ['VALUE']}}}}"
    asked = f"say which values are of the positive class, {positive}"
    numbered = number_further_classes(values)
    if len(texts) <= _TWO and not numbered:
        return asked
    names = [text for text in texts if text not in absent]
    listed = "['NAME', …]" if numbered or len(names) > _MOST_LISTED else repr(sorted(names))
    return f"{asked}, {many.format(names=listed)}"
