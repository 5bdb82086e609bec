"""Labels meet predictions: who waits, what counts, and what a revision changes.

The state of a prediction is two registers: the prediction itself and the label
in force. Each is the winner of all that came for it, by an order that no order
of arrival changes: of two predictions of one id the earlier; of two labels the
later, at the same time null before 1 before 0. What a prediction counts as is a
function of its two registers, and every change of it leaves this module as
deltas: minus one where it counted, plus one where it counts now. Therefore
duplicates change nothing and any order of arrival inside the horizon gives the
same state.

The same is told for a single id, as one pure function, by `monitor.join.single_id`; tests
hold the columns to it, and it to a recount.

One case is left to the order of arrival, since only the label in force is kept:
an id that comes with two different predictions of different times, and with
several labels of which only a superseded one is in time for the earlier. Another to
batches: a horizon shorter than the label timeout, and a label and a prediction of one id
that both come later than the horizon and its slack.

What is over is forgotten in steps of event time (see `monitor.join.forgetting`), by the time
of its model. Batches are cut where the time that models share enters another step (see
`monitor.events.parts`), so that their size decides nothing.
"""

from monitor.join.counters import Books
from monitor.join.deltas import CELLS, Deltas
from monitor.join.forgetting import BEFORE_ALL, Over
from monitor.join.join import Join
from monitor.join.terms import ENDLESS

__all__ = ["BEFORE_ALL", "CELLS", "ENDLESS", "Books", "Deltas", "Join", "Over"]
