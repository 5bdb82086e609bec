"""Names of the classes of recorded events: values that are none of 0 and 1, or keys of scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from monitor.cli.rejected_records import RejectedRecords
from monitor.config.classes import MANY, MOST_CLASSES, is_class_name
from monitor.config.mapping import ClassField, text_of
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.odd_values import (
    Values,
    look_like_scores,
    number_further_classes,
    stands_for_no_class,
)

_SCORE = "scores."


def class_names(
    rejected: RejectedRecords, known: tuple[str, ...], taken: Collection[str] = ()
) -> tuple[str, ...]:
    """Return names of classes that are not known yet, in alphabetical order.

    Two values of a model without known classes are left out: which of them is the positive class
    only a person knows. So are two of predictions and two others of labels, which name the same two
    classes. Numbers between 0 and 1 are left out too: they seem to be scores. So are names that a
    configuration refuses, such as those with a line break. 0 and 1 are names beside predictions of
    2 or more, and both of them beside -1: the model numbers its classes.

    Args:
        rejected: records that were rejected while the known ones were the classes.
        known: names of classes.
        taken: which of 0 and 1 came and were taken for the classes of a model of two.
    """
    values = [_classes(rejected.values(RejectReason.BAD_VALUE, field)) for field in ClassField]
    predicted, labelled = ({t for v in each if is_class_name(t := text_of(v))} for each in values)
    differ = predicted and labelled and not predicted & labelled
    if differ and not known and max(len(predicted), len(labelled)) < MANY:
        return ()
    found = (predicted | labelled) - set(known)
    if number_further_classes(values[0], taken):
        found |= set(taken)
    return tuple(sorted(found)) if len(found) + len(known) >= MANY else ()


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of classes in alphabetical order, numbers first and by their size.

    >>> in_order(["other", "10", "-1", "2", "card"])
    ('-1', '2', '10', 'card', 'other')
    """
    return tuple(sorted(names, key=_rank))


def alike(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of classes that differ from another one in their case alone, in order.

    >>> alike(["Card", "card", "other"])
    ('Card', 'card')
    """
    by_text: dict[str, list[str]] = {}
    for name in names:
        by_text.setdefault(name.casefold().strip(), []).append(name)
    return in_order(name for same in by_text.values() if len(same) > 1 for name in same)


def scored_classes(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the classes that `scores` of events name, in their order; none of fewer than three.

    Args:
        columns: of the first events; those of an object are written `scores.NAME`.

    >>> scored_classes(["ts", "scores.card", "scores.loan", "scores.other", "label"])
    ('card', 'loan', 'other')
    """
    found = [name.removeprefix(_SCORE) for name in columns if name.startswith(_SCORE)]
    fit = MANY <= len(found) <= MOST_CLASSES and all(map(is_class_name, found))
    return tuple(found) if fit else ()


def _rank(name: str) -> tuple[bool, int, str]:
    number = name.removeprefix("-").isdecimal()
    return not number, int(name) if number else 0, name


def _classes(values: Values) -> list[str | float]:
    """Return those values that may be classes."""
    given = [value for value in values if not stands_for_no_class(text_of(value))]
    numbers = (v for v in given if isinstance(v, str | int) or float(v).is_integer())
    return [] if look_like_scores(given) else [*numbers]
