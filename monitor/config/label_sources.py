"""Settings of labels that say who labelled."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from monitor.config import quantities as q
from monitor.config.fields import Distinct, Name, Section, setting

MOST_SOURCES = 30
"""Sources of labels that a monitor tells apart; all further ones count as one."""


def _few(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) > MOST_SOURCES:
        raise q.unfit(
            f"must list at most {MOST_SOURCES} sources", "list fewer: those not listed come last"
        )
    return names


class LabelSources(Section):
    """Which source counts where several label the same case."""

    order: Annotated[tuple[Name, ...], AfterValidator(_few), Distinct] = setting(
        (),
        "Names of sources; the label of the one that comes first counts, the latest where both "
        "are of one. Those not listed, and labels without a source, come last, together. Default: "
        "the latest label counts, whoever labelled.",
        json_schema_extra={"default": [], "uniqueItems": True, "maxItems": MOST_SOURCES},
    )


def sources_fit(models: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of models if so many sources can be ranked.

    Args:
        models: settings by name.

    Raises:
        PydanticCustomError: the orders of all models name more than `MOST_SOURCES`.
    """
    names = {name for model in models.values() for name in model.label_sources.order}
    if len(names) > MOST_SOURCES:
        raise q.unfit(
            f"must rank at most {MOST_SOURCES} sources in label_sources.order, all models together",
            "list fewer: those not listed come last",
        )
    return models
