"""The rule of the join for one id, as one pure function of plain values.

`monitor.join.join` applies this rule to columns of a whole stream. Here the input is the
state of one id and one event, and the output is the new state and the moves between
counts. It shares no code with the columnar join, so that tests check each against the
other, also where the join runs on a distributed engine.

The order of the tuples is the order of precedence. Of two predictions of one id the lesser
`SinglePrediction` counts: the earlier, then the first by the names of its model and segment
values, which no prediction has a part in, so that of two versions that score the same cases
all cases count for the same one; then the predicted negative, then the lower score bin.
Of two labels the greater `SingleLabel` is in force: the
later, at the same time null before 1 before 0, then the one with the rarer sampling.

A label is late if its time is more than the label timeout after that of its prediction; a
label in the same record as its prediction is never late.

This module has no arrays, no storage and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from monitor.join.forgetting import Forgetting

_FN_OR_TN = 2


class SinglePrediction(NamedTuple):
    """One prediction.

    Attributes:
        time: event time, epoch milliseconds.
        group: its model and its segment values.
        positive: the predicted class.
        score_bin: see `monitor.events.score_bins`.
    """

    time: int
    group: tuple[str, tuple[str, ...]]
    positive: bool
    score_bin: int


class SingleLabel(NamedTuple):
    """One label.

    Attributes:
        time: event time, epoch milliseconds.
        value: 0, 1, or 2 for a retraction.
        stratum: how it was sampled, see `monitor.join.sampling`.
    """

    time: int
    value: int
    stratum: int = 0


class LabelledPrediction(NamedTuple):
    """A prediction and its label in one record.

    Attributes:
        prediction: the prediction.
        label: its label.
    """

    prediction: SinglePrediction
    label: SingleLabel


Event = SinglePrediction | SingleLabel | LabelledPrediction


class Terms(NamedTuple):
    """The terms on which a model's labels count.

    Attributes:
        label_timeout: a label later than this after its prediction does not count, milliseconds.
        horizon: how long labels may revise a matched prediction, milliseconds.
        weighted: True where labels count by their sampling probability.
    """

    label_timeout: int
    horizon: int
    weighted: bool = False


class Rules(NamedTuple):
    """The terms of all models.

    Attributes:
        of: gives the terms of a model by its name.
        longest_horizon: how long a label waits for its prediction, milliseconds.
        forgetting: the steps of event time in which state is forgotten.
        lags: how far models are behind the watermark, by name, milliseconds.
    """

    of: Callable[[str], Terms]
    longest_horizon: int
    forgetting: Forgetting
    lags: Mapping[str, int] = MappingProxyType({})

    def over(self, watermark: int, model: str | None) -> int:
        """Return the moment before which horizons have ended.

        Args:
            watermark: epoch milliseconds.
            model: name; None for labels without a prediction, which wait for the last model.
        """
        lag = max(self.lags.values(), default=0) if model is None else self.lags.get(model, 0)
        return self.forgetting.moment(watermark - lag)


class IdState(NamedTuple):
    """The state of one id.

    Attributes:
        prediction: None as long as only labels came.
        label: the label in force; None if none came, or none in time.
        held: labels that wait for the prediction.
    """

    prediction: SinglePrediction | None = None
    label: SingleLabel | None = None
    held: tuple[SingleLabel, ...] = ()


NOTHING = IdState()
"""The state of an id without events."""


class Move(NamedTuple):
    """One more, or one less, in a cell of the counts.

    Attributes:
        sign: 1 or -1.
        prediction: determines the pane and the group.
        label: with the prediction, determines the outcome; None to count the prediction itself.
    """

    sign: int
    prediction: SinglePrediction
    label: SingleLabel | None = None

    @property
    def cell(self) -> int:
        """Number of the cell, see `monitor.join.deltas`.

        >>> Move(1, SinglePrediction(0, ("m", ()), True, 0), SingleLabel(5, 0)).cell
        1
        """
        if self.label is None:
            return 4 if self.prediction.positive else 5
        if self.prediction.positive:
            return 1 - self.label.value
        return _FN_OR_TN + 1 - self.label.value


class BookChanges(NamedTuple):
    """Changes of the counters of the join, see `Books` in `monitor.join.counters`."""

    duplicates: int = 0
    dropped: int = 0
    applied: int = 0
    held: int = 0
    duplicate_labels: int = 0
    late: int = 0
    orphaned: int = 0


NO_CHANGES = BookChanges()


class Step(NamedTuple):
    """The effect of an event on an id.

    Attributes:
        state: the new state; `NOTHING` if it need not be stored.
        moves: changes of the counts.
        books: changes of the counters, by the event and by held labels that it released.
    """

    state: IdState
    moves: tuple[Move, ...] = ()
    books: BookChanges = NO_CHANGES


def after(state: IdState, event: Event, rules: Rules, watermark: int) -> Step:
    """Apply one event to the state of its id.

    Args:
        state: the state so far.
        event: an event of this id.
        rules: the models' terms.
        watermark: of all events before, epoch milliseconds.

    >>> rules = Rules(lambda model: Terms(60_000, 86_400_000), 86_400_000, Forgetting(1))
    >>> known = after(NOTHING, SinglePrediction(0, ("m", ()), True, 0), rules, 0).state
    >>> step = after(known, SingleLabel(5_000, 1), rules, 0)
    >>> [(move.sign, move.cell) for move in step.moves]
    [(1, 0)]
    >>> [(m.sign, m.cell) for m in after(step.state, SingleLabel(9_000, 0), rules, 0).moves]
    [(-1, 0), (1, 1)]
    """
    ended = _ended(state, rules, watermark)
    if ended.books is not NO_CHANGES or ended.state != state:
        step = after(ended.state, event, rules, watermark)
        return step._replace(books=_sum(ended.books, step.books))
    if isinstance(event, LabelledPrediction):
        return _both(state, event, rules, watermark)
    if isinstance(event, SingleLabel):
        return _labelled(state, event, rules, watermark)
    return _predicted(state, event, rules, watermark)


def expired(state: IdState, rules: Rules, watermark: int) -> Step:
    """Expire the state of an id as event time advances.

    Args:
        state: the state so far.
        rules: the models' terms.
        watermark: now, epoch milliseconds.
    """
    return _ended(state, rules, watermark)


def _ended(state: IdState, rules: Rules, watermark: int) -> Step:
    if state.prediction is not None:
        if not _is_over(state.prediction, state.label, rules, watermark):
            return Step(state)
        return Step(NOTHING, books=BookChanges(dropped=int(not _counts(state.label))))
    over = rules.over(watermark, None)
    held = tuple(h for h in state.held if h.time + rules.longest_horizon >= over)
    gone = len(state.held) - len(held)
    return Step(
        IdState(held=held), books=BookChanges(held=-gone, orphaned=gone) if gone else NO_CHANGES
    )


def _predicted(state: IdState, prediction: SinglePrediction, rules: Rules, watermark: int) -> Step:
    if state.prediction is None:
        return _remembered(state, prediction, rules, watermark)
    return _again(state, state.prediction, prediction, rules)


def _both(state: IdState, outcome: LabelledPrediction, rules: Rules, watermark: int) -> Step:
    """Apply a prediction and its label: never late, and final if the prediction is not stored."""
    first = _predicted(state, outcome.prediction, rules, watermark)
    known, terms = first.state.prediction, rules.of(outcome.prediction.group[0])
    if known is None:
        label = outcome.label if terms.weighted else outcome.label._replace(stratum=0)
        moves = (*first.moves, Move(1, outcome.prediction, label))
        return Step(first.state, moves, BookChanges(applied=1))
    then = _meet(first.state, known, outcome.label, rules.of(known.group[0]), together=True)
    return Step(then.state, (*first.moves, *then.moves), _sum(first.books, then.books))


def _remembered(state: IdState, prediction: SinglePrediction, rules: Rules, watermark: int) -> Step:
    """Apply the first prediction of an id, and then the labels that waited for it."""
    terms, moves = rules.of(prediction.group[0]), [Move(1, prediction)]
    over = rules.over(watermark, prediction.group[0])
    if prediction.time + max(terms.horizon, terms.label_timeout) < over:
        return Step(state, tuple(moves), BookChanges(dropped=1))
    books = BookChanges(held=-len(state.held))
    known = IdState(prediction)
    for label in state.held:
        ended = _ended(known, rules, watermark)
        step = _labelled(ended.state, label, rules, watermark)
        known, books = step.state, _sum(books, _sum(ended.books, step.books))
        moves += step.moves
    return Step(known, tuple(moves), books)


def _again(
    state: IdState, known: SinglePrediction, prediction: SinglePrediction, rules: Rules
) -> Step:
    """Apply a further prediction of an id: a duplicate, unless it precedes the known one."""
    if not prediction < known:
        return Step(state, books=BookChanges(duplicates=1))
    label, timeout = state.label, rules.of(prediction.group[0]).label_timeout
    late = label is not None and label.time - prediction.time > timeout
    moves = [Move(-1, known), Move(1, prediction)]
    if label is not None and _counts(label):
        moves += [Move(-1, known, label)] if late else _moved(known, prediction, label)
    books = BookChanges(duplicates=1, late=int(late), applied=-int(late))
    return Step(IdState(prediction, None if late else label), tuple(moves), books)


def _labelled(state: IdState, label: SingleLabel, rules: Rules, watermark: int) -> Step:
    prediction = state.prediction
    if prediction is None:
        if label.time + rules.longest_horizon < rules.over(watermark, None):
            return Step(state, books=BookChanges(late=1))
        return Step(IdState(held=(*state.held, label)), books=BookChanges(held=1))
    return _meet(state, prediction, label, rules.of(prediction.group[0]))


def _meet(
    state: IdState,
    prediction: SinglePrediction,
    label: SingleLabel,
    terms: Terms,
    *,
    together: bool = False,
) -> Step:
    """Apply a label to a prediction that can still change."""
    before = state.label
    if label.time - prediction.time > terms.label_timeout and not together:
        return Step(state, books=BookChanges(late=1))
    if not terms.weighted:
        label = label._replace(stratum=0)
    books = BookChanges(applied=1) if before is None else BookChanges(duplicate_labels=1)
    if before is not None and label <= before:
        return Step(state, books=books)
    moves = [Move(-1, prediction, before)] if _counts(before) else []
    if _counts(label):
        moves.append(Move(1, prediction, label))
    return Step(IdState(prediction, label), tuple(moves), books)


def _is_over(
    prediction: SinglePrediction, label: SingleLabel | None, rules: Rules, watermark: int
) -> bool:
    """Return whether a prediction is final; for a matched one only the horizon matters."""
    terms = rules.of(prediction.group[0])
    keep = terms.horizon if _counts(label) else max(terms.horizon, terms.label_timeout)
    return prediction.time + keep < rules.over(watermark, prediction.group[0])


def _counts(label: SingleLabel | None) -> bool:
    return label is not None and label.value <= 1


def _moved(known: SinglePrediction, prediction: SinglePrediction, label: SingleLabel) -> list[Move]:
    return [Move(-1, known, label), Move(1, prediction, label)]


def _sum(one: BookChanges, other: BookChanges) -> BookChanges:
    return BookChanges(*map(sum, zip(one, other, strict=True)))
