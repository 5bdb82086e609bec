"""The state of the join: predictions, labels that wait, and the counters of both."""

from __future__ import annotations

import numpy as np

from monitor.counts import add_at
from monitor.events.audit_marks import are_audits
from monitor.events.catalogue import Catalogue
from monitor.events.columns import BoolArray, Int64Array, KeyArray, Labels, Predictions, rows_where
from monitor.join import packing as words
from monitor.join import unlabelled
from monitor.join.audits import Audits
from monitor.join.counters import Books
from monitor.join.deltas import Deltas
from monitor.join.early_labels import HeldLabels
from monitor.join.forgetting import Over
from monitor.join.packed_rows import outcome_deltas, population_deltas
from monitor.join.shadows import Shadows
from monitor.join.source_labels import SourceLabels
from monitor.join.table import PredictionTable
from monitor.join.terms import ENDLESS, ModelTerms
from monitor.join.unlabelled import NO_OUTCOME, outcomes_of


class JoinMemory:
    """State of the join, with the operations that the rules for predictions and labels share.

    Args:
        catalogue: numbers of groups and models, and the models' settings.

    Attributes:
        catalogue: as given.
        table: remembered predictions, each with the label in force.
        held: labels that wait for their prediction.
        audits: of predictions.
        sources: labels of sources.
        terms: label timeouts and horizons by model number.
        books: where every prediction and every label went.
        shadows: predictions of shadow versions.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.table = PredictionTable()
        self.held = HeldLabels()
        self.audits = Audits(self.table)
        self.sources = SourceLabels(catalogue, self.table)
        self.terms = ModelTerms(catalogue)
        self.books = Books()
        self.shadows = Shadows(catalogue, self.terms, self.table)

    def learn_models(self) -> None:
        """Add the models that are new in the catalogue."""
        if len(self.catalogue.settings) > len(self.terms):
            self.books.ensure(len(self.catalogue.settings))
            self.sources.ensure(len(self.catalogue.settings))
            self.terms.learn()

    def known(self, predictions: Predictions, over: Over) -> Int64Array:
        """Find predictions of the same ids, and forget those that are over.

        Args:
            predictions: of any ids.
            over: predictions that ended before these moments are over, see `Forgetting`.

        Returns:
            Slot of each id; -1 where it is not remembered.
        """
        slots = self.table.find(predictions.key)
        found = np.flatnonzero(slots >= 0)
        if len(found):
            past = found[self.is_over(slots[found], over)]
            self.drop(np.unique(slots[past]), self.books.dropped)
            slots[past] = -1
        return slots

    def is_over(self, slots: Int64Array, over: Over) -> BoolArray:
        """Tell whether the predictions in these slots can no longer change.

        Args:
            slots: of the predictions.
            over: predictions that ended before these moments are over, see `Forgetting`.
        """
        return self.terms.ended(self.table.when(slots), self.table.what(slots), over)

    def drop(self, slots: Int64Array, book: Int64Array) -> None:
        """Forget predictions, and count those without an outcome.

        Args:
            slots: of the predictions.
            book: array of the books by model that counts them.
        """
        if not len(slots):
            return
        model = self.catalogue.model_of_group[words.groups_of(self.table.when(slots))]
        unmatched = outcomes_of(self.table.what(slots)) == NO_OUTCOME
        np.add.at(book, model[unmatched], 1)
        self.audits.settle(slots)
        self.sources.forget(slots)
        self.table.forget(slots)

    def evict(self, slots: Int64Array, times: Int64Array) -> Deltas:
        """Forget predictions to make room; those past their label timeout count as expired.

        Args:
            slots: of the predictions.
            times: of each model by number, epoch milliseconds.

        Returns:
            Population cells to take out, of models in which silence is a negative.
        """
        when, what = self.table.when(slots), self.table.what(slots)
        model = self.terms.model_of(when)
        waiting = unlabelled.is_waiting(when, self.terms.label_timeout[model], times[model])
        lost = self.terms.silence_is_negative[model] & waiting & (outcomes_of(what) == NO_OUTCOME)
        if self.shadows.in_use:
            self.shadows.lose(self.table.keys(slots[lost]), when[lost], what[lost])
        self.drop(slots[~waiting], self.books.dropped)
        self.drop(slots[waiting], self.books.evicted)
        return population_deltas(when[lost], what[lost], -1)

    def without_stale(self, predictions: Predictions, labels: Labels, over: Over) -> Labels:
        """Count labels as late that are too old to wait for predictions later in the batch.

        Args:
            predictions: of the batch, in the order of their records.
            labels: of the batch, in the order of their records.
            over: as in `hold`.

        Returns:
            The other labels.
        """
        if not len(labels) or not len(predictions):
            return labels
        if int(labels.time.min()) >= (oldest := self._oldest(over)):
            return labels
        rows = np.flatnonzero((labels.time < oldest) & labels.alone)
        rows = rows[self.table.find(labels.key[rows]) < 0]
        order = np.argsort(predictions.key, kind="stable")
        place = np.searchsorted(predictions.key, labels.key[rows], sorter=order)
        first = order[np.minimum(place, len(order) - 1)]
        known = predictions.key[first] == labels.key[rows]
        stale = rows[~known | (predictions.row[first] > labels.row[rows])]
        self.hold(labels.take(stale), over)
        return labels.take(np.delete(np.arange(len(labels)), stale))

    def _oldest(self, over: Over) -> int:
        """Return the earliest time of a label that waits for its prediction."""
        horizon = int(self.terms.horizon.max(initial=0)) or ENDLESS
        return over.common - horizon

    def hold(self, labels: Labels, over: Over) -> None:
        """Hold labels until their predictions come; those too old for any count as late.

        Args:
            labels: of ids that are not remembered.
            over: predictions that ended before these moments are over, see `Forgetting`.
        """
        if not len(labels):
            return
        self.audits.unmet += int(are_audits(labels).sum())
        stale = labels.time < self._oldest(over)
        self.books.late += int(stale.sum())
        self.held.add(labels.take(~stale))

    def enter_predictions(self, model: Int64Array, what: KeyArray, sign: int) -> None:
        """Count predictions in the books.

        Args:
            model: number of the model of each.
            what: second word of each, see `packing`.
            sign: 1, or -1 to take them out.
        """
        predicted = words.predicted_positive_of(what).astype(np.int64)
        add_at(self.books.predictions, model, predicted, sign)

    def move(
        self, old_when: KeyArray, old_what: KeyArray, when: KeyArray, what: KeyArray
    ) -> list[Deltas]:
        """Return the deltas of outcomes that change, and enter them in the books.

        Args:
            old_when: first word of each prediction as it counted.
            old_what: its second word.
            when: first word as it counts now.
            what: second word as it counts now.
        """
        old, new = outcomes_of(old_what), outcomes_of(what)
        old_model = self.terms.model_of(old_when)
        model = self.terms.model_of(when)
        np.add.at(self.books.matched, old_model[old >= 0], -1)
        np.add.at(self.books.matched, model[new >= 0], 1)
        moved = old != new
        self.books.move(model[moved], old[moved], new[moved])
        gone, come = rows_where(old >= 0), rows_where(new >= 0)
        return [
            outcome_deltas(
                old_when[gone], old_what[gone], words.label_times_of(old_what[gone]), old[gone], -1
            ),
            outcome_deltas(when[come], what[come], words.label_times_of(what[come]), new[come], +1),
        ]
