"""Simulated days of labelled cases, some of them audited, with rates of wrong labels by day."""

import numpy as np

from monitor.metrics.audited_errors import AuditedDays

RECALL, FPR = 0.8, 0.02


def audited_days(rng, rates, *, days=120, a_day=1_000, prevalence=lambda _: 0.05, each=lambda _: 1):
    """So many audits of each predicted class and label a day, on average."""
    audited, labelled = np.zeros((days, 2, 2, 2), np.int64), np.zeros((days, 2, 2), np.int64)
    for day in range(days):
        fp, fn = rates(day)
        positive = rng.binomial(a_day, prevalence(day))
        flagged = rng.binomial(positive, RECALL), rng.binomial(a_day - positive, FPR)
        cells = np.zeros((2, 2, 2), np.int64)
        for called, actual, count in (
            (1, 1, flagged[0]), (0, 1, positive - flagged[0]),
            (1, 0, flagged[1]), (0, 0, a_day - positive - flagged[1]),
        ):  # fmt: skip
            wrong = rng.binomial(count, fn if actual else fp)
            cells[called, actual, actual] = count - wrong
            cells[called, 1 - actual, actual] = wrong
        labelled[day] = cells.sum(axis=2)
        for called in range(2):
            for label in range(2):
                size = min(rng.poisson(each(day)), labelled[day, called, label])
                found = rng.hypergeometric(*cells[called, label, ::-1], size) if size else 0
                audited[day, called, label] = size - found, found
    held = audited.any(axis=(1, 2, 3))
    return AuditedDays(np.flatnonzero(held), audited[held], labelled[held])
