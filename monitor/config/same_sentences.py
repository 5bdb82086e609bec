"""Sentences on models, each printed once for all the models that share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_NAMED = 2
"""Names before the number of more models; three are all named."""


def each_once(sentences: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each sentence once, behind the names of its models, in the order of the first ones.

    Args:
        sentences: name of a model, and a sentence on it; a model may have several.

    >>> list(each_once([("a", "ok"), ("b", "late"), ("c", "ok")]))
    ['models a and c: ok', 'b: late']
    >>> list(each_once((name, "ok") for name in "abcde"))
    ['models a, b and 3 more: ok']
    """
    names: dict[str, list[str]] = {}
    for name, sentence in sentences:
        names.setdefault(sentence, []).append(name)
    for sentence, found in names.items():
        yield f"{_named(found)}: {sentence}"


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) <= _NAMED + 1:
        return f"models {', '.join(names[:-1])} and {names[-1]}"
    return f"models {', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
