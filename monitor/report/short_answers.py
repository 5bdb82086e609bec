"""The two answers and what the outcomes exclude, as few values for a program to read.

`replay --json`, `diagnose --json` and the API give them under the names of this module, beside
the answers with their limits (`two_answers`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from monitor.report.answer_parts import defined
from monitor.report.compared import Compared
from monitor.report.two_answers import is_model_worse, what_moved_precision


class Answers(Struct, frozen=True, kw_only=True):
    """The two answers: what moved precision, and whether the model is worse.

    Attributes:
        precision_moved_by: `prevalence`, `recall` or `false_positives`, where its part
            certainly moved precision; `open` where precision certainly moved and no single
            cause did it; null where precision did not certainly move, and of a model of many
            classes, whose classes each have their own parts.
        model_worse: whether the model is worse.
        said: both answers for people, a line each, without a full stop.
    """

    precision_moved_by: str | None
    model_worse: Literal["yes", "no", "not_shown", "unknown"]
    said: tuple[str, str]


class Excluded(Struct, frozen=True, kw_only=True):
    """Rates that the outcomes exclude, at 95 % for all looks of 60 days together.

    Attributes:
        recall_below: recall after is not below this; null where nothing is excluded.
        false_positive_rate_above: the false positive rate after is not above this; null
            where nothing is excluded.
    """

    recall_below: float | None
    false_positive_rate_above: float | None


def short_answers(found: Compared) -> Answers:
    """Return both answers.

    Args:
        found: what was found.
    """
    moved, worse = what_moved_precision(found), is_model_worse(found)
    cause = moved.cause if moved.certain else None
    if cause is None and found.change.certain and not found.obstacle:
        cause = "open"
    return Answers(
        precision_moved_by=cause, model_worse=worse.answer, said=(moved.text, worse.text)
    )


def what_is_excluded(found: Compared) -> Excluded:
    """Return what the outcomes exclude.

    Args:
        found: what was found.
    """
    return Excluded(
        recall_below=defined(found.recall.excluded) or None,
        false_positive_rate_above=defined(found.false_positive_rate_above),
    )
