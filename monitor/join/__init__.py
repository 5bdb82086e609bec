"""Joins labels to predictions: pending predictions, outcomes, and revisions.

The state of an id is two registers: its prediction and the label in force. Each holds the
maximum of all events of the id, by an order that does not depend on the order of arrival:
of two predictions the earlier; of two labels the later, at the same time null before 1
before 0. The outcome of a prediction is a function of the two registers. The join emits
each change of an outcome as deltas: minus one in the old cell, plus one in the new one. So
duplicates change nothing, and any order of arrival inside the horizon gives the same state.

`monitor.join.single_id` implements the same rule for one id as a pure function. Tests
compare the columnar join with it, and it with a recount.

Since only the label in force is stored, one case depends on the order of arrival: an id with
two different predictions of different times, and several labels of which only a superseded
one is in time for the earlier prediction. Two cases depend on batches: a horizon shorter
than the label timeout, and a label and a prediction of one id that both come later than the
horizon and its slack.

What is over is forgotten in steps of event time (see `monitor.join.forgetting`), by the time
of its model; a label without its prediction, by the model furthest behind. Batches are cut where
the time that models share, or that of the model furthest behind, enters another step (see
`monitor.events.parts`), so that their size decides nothing.
"""

from monitor.join.counters import Books
from monitor.join.deltas import CELLS, Deltas
from monitor.join.forgetting import BEFORE_ALL, Over
from monitor.join.join import Join
from monitor.join.terms import ENDLESS

__all__ = ["BEFORE_ALL", "CELLS", "ENDLESS", "Books", "Deltas", "Join", "Over"]
