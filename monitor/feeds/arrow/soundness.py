"""Validates record batches of foreign files: Arrow follows damaged offsets out of their buffers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from monitor.errors import FeedError

pa: Any = import_module("pyarrow")


def is_utf8(batch: Any, name: str) -> bool:
    """Return whether all strings of a record batch are UTF-8, which files do not guarantee.

    Args:
        batch: the record batch; nothing of it may be read before.
        name: of the table, for messages.

    Raises:
        FeedError: the batch is damaged: its offsets, lengths or indices lead out of its buffers.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        _check_but_for_utf8(batch, name)
        return False
    return True


def _check_but_for_utf8(batch: Any, name: str) -> None:
    rows = pa.struct([(field.name, _bytes_for_text(field.type)) for field in batch.schema])
    try:
        batch.validate()
        batch.to_struct_array().view(rows).validate(full=True)
    except pa.ArrowInvalid as error:
        raise FeedError(f"{name}: is damaged: {str(error).splitlines()[0]}") from error


def _bytes_for_text(kind: Any) -> Any:
    types = pa.types
    if types.is_string(kind):
        return pa.binary()
    if types.is_large_string(kind):
        return pa.large_binary()
    if types.is_string_view(kind):
        return pa.binary_view()
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _bytes_for_text(kind.value_type), kind.ordered)
    if types.is_struct(kind):
        return pa.struct([field.with_type(_bytes_for_text(field.type)) for field in kind])
    return kind
