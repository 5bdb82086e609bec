"""Classes that text writes, by the models whose classes they are."""

from __future__ import annotations

from typing import Any

from monitor.config.classes import are_many
from monitor.config.mapping import MappedRecords
from monitor.feeds import table_fields
from monitor.feeds.decode.settings import DecodeSettings

_DIGITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}
_WITH_COMMA = {"0,0": 0, "1,0": 1}
_WORDS = {"false": 0, "true": 1}


def class_of_text(value: str) -> int | str:
    """Return the class that a text writes: 0, 1, 0.0, 1.0, 0,0, 1,0, true or false, in any case.

    >>> class_of_text(" True"), class_of_text("0.0"), class_of_text("1,0"), class_of_text("card")
    (1, 0, 1, 'card')
    """
    found = _CLASSES.get(value)
    return _CLASSES.get(value.strip().lower(), value) if found is None else found


def number_or_name(value: str) -> int | str:
    """Return the class that a text writes where true and false are names of classes.

    >>> number_or_name(" true"), number_or_name("1.0"), number_or_name("card")
    (' true', 1, 'card')
    """
    return _DIGITS.get(value.strip(), value)


_CLASSES = _DIGITS | _WITH_COMMA | _WORDS


class ClassTexts:
    """Reads the classes of records whose cells are text, once the other fields are read.

    The words true and false are names where the model of the record has more than two classes, and
    1 and 0 where it has two. In a label that names no model they are names where no model has two.

    Args:
        settings: the models and their classes.
        mapping: of the records; it reads the fields whose values it lists itself.
    """

    def __init__(self, settings: DecodeSettings, mapping: MappedRecords | None = None) -> None:
        values = {} if mapping is None else mapping.values
        listed = {str(field) for field, classes in values.items() if classes.positive}
        self._fields = [name for name in table_fields.CLASSES if name not in listed]
        self._settings = settings
        models = [settings.default] if settings.models is None else settings.models.values()
        self._any = any(are_many(model.classes) for model in models)
        self._all = all(are_many(model.classes) for model in models)

    def read(self, fields: dict[str, Any]) -> None:
        """Replace the texts of classes by what they write.

        Args:
            fields: of one record, by name.
        """
        for name in self._fields:
            value = fields.get(name)
            if isinstance(value, str):
                has_names = self._any and (self._all or self._has_names(fields))
                fields[name] = number_or_name(value) if has_names else class_of_text(value)

    def _has_names(self, fields: dict[str, Any]) -> bool:
        name = fields.get("model") or self._settings.only_model
        model = self._settings.fields_of(name) if isinstance(name, str) else None
        return model is not None and are_many(model.classes)
