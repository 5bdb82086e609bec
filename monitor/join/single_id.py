"""The rule of the join for one id, as one pure function of plain values.

What `monitor.join.join` does to columns of a whole stream, told for a single
prediction: the state and one event in, the new state and what moves out.
A distributed engine that keeps its state by key runs this; and as it shares no
code with the columnar join, each is the other's check.

Order carries the meaning. Of two predictions of one id the lesser `SinglePrediction`
counts: the earlier, then the one called negative, then the lower score bin, then
the first by name. Of two labels the greater `SingleLabel` is in force: the later, at
the same time null before 1 before 0, then that with the rarer sampling.

A label is late if it is dated more than the label timeout after its prediction; one
that came in the record of its prediction counts always.

Owns the rule alone: no arrays, no storage, no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from monitor.join.forgetting import Forgetting

_FN_OR_TN = 2


class SinglePrediction(NamedTuple):
    """One prediction.

    Attributes:
        time: event time, epoch milliseconds.
        positive: what the classifier decided.
        score_bin: see `monitor.events.score_bins`.
        group: its model and its segment values.
    """

    time: int
    positive: bool
    score_bin: int
    group: tuple[str, tuple[str, ...]]


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
        prediction: what was predicted.
        label: what turned out.
    """

    prediction: SinglePrediction
    label: SingleLabel


Event = SinglePrediction | SingleLabel | LabelledPrediction


class Terms(NamedTuple):
    """What a model's labels may do.

    Attributes:
        label_timeout: a label later than this after its prediction does not count, milliseconds.
        horizon: how long a matched prediction waits for revisions, milliseconds.
        weighted: whether it matters how labels were sampled.
    """

    label_timeout: int
    horizon: int
    weighted: bool = False


class Rules(NamedTuple):
    """The terms of all models.

    Attributes:
        of: the terms of a model by its name.
        longest_horizon: how long a label waits for a prediction that is not known, milliseconds.
        forgetting: how much longer than its terms say anything is remembered.
    """

    of: Callable[[str], Terms]
    longest_horizon: int
    forgetting: Forgetting


class IdState(NamedTuple):
    """What is remembered of one id.

    Attributes:
        prediction: None while only labels came.
        label: in force; None where none came, or none in time.
        held: labels that wait for the prediction.
    """

    prediction: SinglePrediction | None = None
    label: SingleLabel | None = None
    held: tuple[SingleLabel, ...] = ()


NOTHING = IdState()
"""What is remembered of an id that never came."""


class Move(NamedTuple):
    """Something that counts one more, or one less.

    Attributes:
        sign: 1 or -1.
        prediction: in whose pane and group.
        label: by which it is an outcome; None where the prediction itself is meant.
    """

    sign: int
    prediction: SinglePrediction
    label: SingleLabel | None = None

    @property
    def cell(self) -> int:
        """Number of the cell, see `monitor.join.deltas`.

        >>> Move(1, SinglePrediction(0, True, 0, ("m", ())), SingleLabel(5, 0)).cell
        1
        """
        if self.label is None:
            return 4 if self.prediction.positive else 5
        if self.prediction.positive:
            return 1 - self.label.value
        return _FN_OR_TN + 1 - self.label.value


class BookChanges(NamedTuple):
    """What to enter in the books of the join, see `monitor.join.counters`."""

    duplicates: int = 0
    dropped: int = 0
    applied: int = 0
    held: int = 0
    duplicate_labels: int = 0
    late: int = 0
    orphaned: int = 0


NO_CHANGES = BookChanges()


class Step(NamedTuple):
    """What an event does to the state of an id.

    Attributes:
        state: from now on; `NOTHING` where nothing needs to be remembered.
        moves: what counts otherwise now.
        books: where the event, and labels that it released, went.
    """

    state: IdState
    moves: tuple[Move, ...] = ()
    books: BookChanges = NO_CHANGES


def after(state: IdState, event: Event, rules: Rules, watermark: int) -> Step:
    """What one event does to the state of its id.

    Args:
        state: the state so far.
        event: that came for this id.
        rules: the models' terms.
        watermark: of all that came before, epoch milliseconds.

    >>> rules = Rules(lambda model: Terms(60_000, 86_400_000), 86_400_000, Forgetting(1))
    >>> known = after(NOTHING, SinglePrediction(0, True, 0, ("m", ())), rules, 0).state
    >>> step = after(known, SingleLabel(5_000, 1), rules, 0)
    >>> [(move.sign, move.cell) for move in step.moves]
    [(1, 0)]
    >>> [(m.sign, m.cell) for m in after(step.state, SingleLabel(9_000, 0), rules, 0).moves]
    [(-1, 0), (1, 1)]
    """
    over = rules.forgetting.moment(watermark)
    ended = _ended(state, rules, over)
    if ended.books is not NO_CHANGES or ended.state != state:
        step = after(ended.state, event, rules, watermark)
        return step._replace(books=_sum(ended.books, step.books))
    if isinstance(event, LabelledPrediction):
        return _both(state, event, rules, over)
    if isinstance(event, SingleLabel):
        return _labelled(state, event, rules, over)
    return _predicted(state, event, rules, over)


def expired(state: IdState, rules: Rules, watermark: int) -> Step:
    """What is left of an id as time passes, the watermark (epoch milliseconds) being reached."""
    return _ended(state, rules, rules.forgetting.moment(watermark))


def _ended(state: IdState, rules: Rules, over: int) -> Step:
    if state.prediction is not None:
        if not _is_over(state.prediction, state.label, rules, over):
            return Step(state)
        return Step(NOTHING, books=BookChanges(dropped=int(not _counts(state.label))))
    held = tuple(h for h in state.held if h.time + rules.longest_horizon >= over)
    gone = len(state.held) - len(held)
    return Step(
        IdState(held=held), books=BookChanges(held=-gone, orphaned=gone) if gone else NO_CHANGES
    )


def _predicted(state: IdState, prediction: SinglePrediction, rules: Rules, over: int) -> Step:
    if state.prediction is None:
        return _remembered(state, prediction, rules, over)
    return _again(state, state.prediction, prediction, rules)


def _both(state: IdState, outcome: LabelledPrediction, rules: Rules, over: int) -> Step:
    """A prediction, then its own label: in time however late, and for good if not remembered."""
    first = _predicted(state, outcome.prediction, rules, over)
    known, terms = first.state.prediction, rules.of(outcome.prediction.group[0])
    if known is None:
        label = outcome.label if terms.weighted else outcome.label._replace(stratum=0)
        moves = (*first.moves, Move(1, outcome.prediction, label))
        return Step(first.state, moves, BookChanges(applied=1))
    then = _meet(first.state, known, outcome.label, rules.of(known.group[0]), together=True)
    return Step(then.state, (*first.moves, *then.moves), _sum(first.books, then.books))


def _remembered(state: IdState, prediction: SinglePrediction, rules: Rules, over: int) -> Step:
    """A prediction of which nothing was known: labels that waited for it meet it."""
    terms, moves = rules.of(prediction.group[0]), [Move(1, prediction)]
    if prediction.time + max(terms.horizon, terms.label_timeout) < over:
        return Step(state, tuple(moves), BookChanges(dropped=1))
    books = BookChanges(held=-len(state.held))
    known = IdState(prediction)
    for label in state.held:
        ended = _ended(known, rules, over)
        step = _labelled(ended.state, label, rules, over)
        known, books = step.state, _sum(books, _sum(ended.books, step.books))
        moves += step.moves
    return Step(known, tuple(moves), books)


def _again(
    state: IdState, known: SinglePrediction, prediction: SinglePrediction, rules: Rules
) -> Step:
    """A prediction that came again: a duplicate, unless it takes the place of the known one."""
    if not prediction < known:
        return Step(state, books=BookChanges(duplicates=1))
    label, timeout = state.label, rules.of(prediction.group[0]).label_timeout
    late = label is not None and label.time - prediction.time > timeout
    moves = [Move(-1, known), Move(1, prediction)]
    if label is not None and _counts(label):
        moves += [Move(-1, known, label)] if late else _moved(known, prediction, label)
    books = BookChanges(duplicates=1, late=int(late), applied=-int(late))
    return Step(IdState(prediction, None if late else label), tuple(moves), books)


def _labelled(state: IdState, label: SingleLabel, rules: Rules, over: int) -> Step:
    prediction = state.prediction
    if prediction is None:
        if label.time + rules.longest_horizon < over:
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
    """A label competes for a prediction that can still change."""
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
    prediction: SinglePrediction, label: SingleLabel | None, rules: Rules, over: int
) -> bool:
    """Whether it can change no more: a matched prediction waits for the horizon alone."""
    terms = rules.of(prediction.group[0])
    keep = terms.horizon if _counts(label) else max(terms.horizon, terms.label_timeout)
    return prediction.time + keep < over


def _counts(label: SingleLabel | None) -> bool:
    return label is not None and label.value <= 1


def _moved(known: SinglePrediction, prediction: SinglePrediction, label: SingleLabel) -> list[Move]:
    return [Move(-1, known, label), Move(1, prediction, label)]


def _sum(one: BookChanges, other: BookChanges) -> BookChanges:
    return BookChanges(*map(sum, zip(one, other, strict=True)))
