"""Rates of wrong labels are learned where a day closes, not wherever something is looked at."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from audited_cases import DAY, Cases, monitor_of, steady

from monitor.events.columns import EventBatch
from monitor.labels import learned_errors

DAYS, PARTS = 24, 6


def events(cases):
    """Predictions, labels and audits in the order of their times, in so many batches a day."""
    parts = []
    for day in range(DAYS):
        whole, audits = cases.batch(day), cases.audits(5, [day])
        parts += [EventBatch(predictions=whole.predictions, groups=whole.groups), audits]
        parts.append(EventBatch(labels=whole.labels))
    ends = np.arange(1, (DAYS + 1) * PARTS + 1) * DAY // PARTS
    for opens, closes in pairwise([0, *ends.tolist()]):
        for one in parts:
            made, said = (rows_of(rows, opens, closes) for rows in (one.predictions, one.labels))
            if len(made) or len(said):
                records = len(made) + len(said)
                yield replace(one, predictions=made, labels=said, records=records)


def rows_of(rows, opens, closes):
    return rows.take((rows.time >= opens) & (rows.time < closes))


def test_a_day_in_many_batches_learns_the_rates_once(monkeypatch):
    learned, found = [], learned_errors.audit_findings

    def counted(days):
        learned.append(days)
        return found(days)

    monkeypatch.setattr(learned_errors, "audit_findings", counted)
    monitor = monitor_of()
    for batch in events(Cases(DAYS, 600, 6, steady(0.1))):
        monitor.apply(batch)
    assert 0 < len(learned) <= DAYS, len(learned)
