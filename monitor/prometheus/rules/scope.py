"""Which models, windows and objectives the rules speak of, and how they name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from monitor.clock import DAY_MS, SECOND_MS
from monitor.config import Config, Labelling, ModelConfig

GAP = "10m"
"""Looked back for the last sample of a gauge: failed scrapes shorter than this go unnoticed."""


OBJECTIVES = {
    "precision": "precision",
    "balanced_precision": "balanced_precision",
    "recall": "recall",
    "false_positive_rate": "false_positive",
}
"""Keys of `objective` in the configuration, and what series call the metric."""


class NotThis(NamedTuple):
    """In a selector: any value of the label but this one."""

    value: str


Wanted = str | tuple[str, ...] | NotThis

_COUNTED = (Labelling.COMPLETE, Labelling.NEGATIVES_BY_TIMEOUT)
"""Under these labellings the counts of outcomes are themselves the evidence."""

_STALE_SECONDS, _CHECKPOINTS_MISSED = 900, 10
"""A checkpoint is stale at this age, or after so many were due, whichever is later."""

_META = re.compile(r"[.^$*+?()\[\]{}|\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the rules speak of.

    Attributes:
        models: their names; empty for whatever models there are.
        windows: names of the configured windows, from the shortest to the longest.
        daily: those that hold at least a day, so that nights and days are in all of them;
            the longest alone where none does.
        estimated: those of them whose numbers are estimates (labels are a sample, or of
            flagged cases alone), which cannot be made anew from counts.
        objectives: what to reach, by metric (`OBJECTIVES`) and model.
        max_series: series that the monitor takes at most.
        stale_seconds: age of the newest checkpoint from which on it is stale.
        job: of the scrapes of the monitor.
        runbooks: put before the path of a runbook.
        objective_severity: of falling short of an objective: `page` or `ticket`.
        label_silence: so long without a label is a stalled feed.
        prediction_silence: so long without a prediction is one.
    """

    models: tuple[str, ...] = ()
    windows: tuple[str, ...]
    daily: tuple[str, ...]
    estimated: tuple[str, ...] = ()
    objectives: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    max_series: int
    stale_seconds: int
    job: str = "precision-monitor"
    runbooks: str = ""
    objective_severity: str = "ticket"
    label_silence: str = "1d"
    prediction_silence: str = "1h"

    @classmethod
    def of(cls, config: Config, **more: str) -> Scope:
        """The scope of a configuration.

        Args:
            config: what is monitored.
            more: the attributes that are not configured there.

        >>> scope = Scope.of(Config(models={"fraud": {"objective": {"precision": 0.9}}}))
        >>> scope.models, scope.daily, scope.objectives
        (('fraud',), ('1d', '7d'), {'precision': {'fraud': 0.9}})
        """
        lengths = sorted(config.window_lengths.items(), key=lambda item: item[1])
        names = tuple(name for name, _ in lengths)
        daily = tuple(name for name, length in lengths if length >= DAY_MS)
        return cls(
            models=tuple(config.models),
            windows=names,
            daily=daily or names[-1:],
            estimated=_estimated(config),
            objectives=_objectives(config),
            max_series=config.max_series,
            stale_seconds=max(
                _STALE_SECONDS, _CHECKPOINTS_MISSED * config.state.checkpoint_every // SECOND_MS
            ),
            **more,
        )

    def counted(self) -> Scope | None:
        """The same of the models whose numbers can be made anew from counts; None without any."""
        models = tuple(name for name in self.models if name not in self.estimated)
        return replace(self, models=models) if models or not self.estimated else None

    def not_counted(self) -> Scope | None:
        """The same of the other models; None without any."""
        models = self.estimated if self.models else ()
        return replace(self, models=models) if self.estimated else None

    @property
    def long(self) -> str:
        """The longest window: what holds there is no weather."""
        return self.windows[-1]

    @property
    def short(self) -> str:
        """The next shorter one: what holds there goes on now. The longest where it is alone."""
        return self.windows[-2:][0]

    def select(self, name: str, **labels: Wanted) -> str:
        r"""A selector of a series about these models.

        Args:
            name: of the series.
            labels: what else must match; a tuple for any of several.

        >>> scope = Scope.of(Config(models={"a.b": {}, "c": {}}))
        >>> print(scope.select("x", window=("1h",), cause="recall"))
        x{model=~"a\\.b|c",window="1h",cause="recall"}
        """
        wanted = ({"model": self.models} if self.models else {}) | labels
        return select(name, **wanted)

    def link(self, path: str) -> str:
        """Where a runbook is.

        Args:
            path: from the root of the project, with its heading.
        """
        return f"{self.runbooks}{path}"


def _objectives(config: Config) -> dict[str, dict[str, float]]:
    """Configured objectives by metric and model; metrics that no model has one for are left out."""
    found = {
        metric: {
            name: target
            for name, model in config.models.items()
            if (target := getattr(model.objective, setting)) is not None
        }
        for setting, metric in OBJECTIVES.items()
    }
    return {metric: targets for metric, targets in found.items() if targets}


def _estimated(config: Config) -> tuple[str, ...]:
    """Names of models; any name at all where the models are not known."""
    models: Mapping[str, ModelConfig] = config.models or {"": config.defaults}
    return tuple(name for name, model in models.items() if model.labelling not in _COUNTED)


def select(name: str, **labels: Wanted) -> str:
    """A selector; of several values of a label any will do.

    >>> select("up", job="precision-monitor")
    'up{job="precision-monitor"}'
    """
    matchers = ",".join(_matcher(label, value) for label, value in labels.items())
    return f"{name}{{{matchers}}}" if matchers else name


def quoted(text: str) -> str:
    r"""A text as PromQL reads it.

    >>> print(quoted('a"b\\n'))
    "a\"b\\n"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'.replace("\n", "\\n")


def _matcher(label: str, value: Wanted) -> str:
    if isinstance(value, NotThis):
        return f"{label}!={quoted(value.value)}"
    if isinstance(value, str):
        return f"{label}={quoted(value)}"
    if len(value) == 1:
        return f"{label}={quoted(value[0])}"
    pattern = "|".join(_META.sub(r"\\\g<0>", one) for one in value)
    return f"{label}=~{quoted(pattern)}"
