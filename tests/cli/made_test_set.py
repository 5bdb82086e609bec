"""A made test set, as a table, and its outcomes counted by pandas."""

import random

import pandas as pd

CELLS = {"tp": (1, 1), "fp": (1, 0), "fn": (0, 1), "tn": (0, 0)}
LABELLED = ("--field", "label=fraud", "--positive", "label=yes")


def cells(predicted, actual):
    """Outcomes, counted by pandas."""
    table = pd.crosstab(predicted.astype(int), actual.astype(int))
    return {name: int(table.loc[cell]) for name, cell in CELLS.items()}


def held(rows=3_000, seed=4):
    rng = random.Random(seed)
    proba = [round(rng.random(), 4) for _ in range(rows)]
    return pd.DataFrame(
        {
            "customer": [f"c{number}" for number in range(rows)],
            "proba": proba,
            "decision": ["deny" if one > 0.6 else "pay" for one in proba],
            "fraud": ["yes" if rng.random() < one**2 else "no" for one in proba],
        }
    )


def outcomes(path, name, rows, seed):
    table = held(rows, seed)
    table = table.assign(
        ts=pd.date_range("2026-09-01", periods=rows, freq="5min", tz="UTC").astype(str),
        model=name,
        prediction=(table["decision"] == "deny").astype(int),
        label=(table["fraud"] == "yes").astype(int),
    )
    table[["ts", "model", "prediction", "label"]].to_csv(path, index=False)
    return table
