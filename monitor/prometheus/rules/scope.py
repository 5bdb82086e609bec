"""The models, windows and objectives that the rules are about, and selectors of their series."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from monitor.clock import DAY_MS, SECOND_MS
from monitor.config import Config, Labelling, ModelConfig
from monitor.drift import Verdict
from monitor.report.vocabulary import METRIC_WORDS

GAP = "10m"
"""Look-back for the last sample of a gauge: failed scrapes shorter than this go unnoticed."""

OBJECTIVES = {
    name: row.stem.removeprefix("classifier_")
    for name, row in METRIC_WORDS.items()
    if row.objective
}
"""Metrics in series names by the key of `objective` in the configuration."""

_VERDICTS_EXPLAINED = "monitor/drift/README.md"
"""The document with a heading for each verdict, by path from the root of the project."""


class NotThis(NamedTuple):
    """Matches, in a selector, any value of the label but this one."""

    value: str


Wanted = str | tuple[str, ...] | NotThis

_COUNTED = (Labelling.COMPLETE, Labelling.NEGATIVES_BY_TIMEOUT)
"""Labelling regimes under which the counts of outcomes are themselves the evidence."""

_STALE_SECONDS, _CHECKPOINTS_MISSED = 900, 10
"""A checkpoint is stale at this age, or after this many were due, whichever is later."""

_META = re.compile(r"[.^$*+?()\[\]{}|\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Configuration that the rules are made for.

    Attributes:
        models: names of the models; empty for any model.
        windows: names of the windows of every model, from the shortest to the longest.
        daily: windows of at least a day, which hold nights and days alike, those that only
            models of little volume have among them; the longest window where none is that long.
        lasting: the longest of `windows`, and longer ones of models of little volume.
        estimated: models whose numbers are estimates (labels are a sample, or of flagged
            cases alone), which cannot be recomputed from counts.
        objectives: targets by metric (`OBJECTIVES`) and model.
        max_series: limit of series that the monitor counts.
        stale_seconds: age from which the newest checkpoint is stale.
        job: name of the scrape job of the monitor.
        runbooks: prefix of the path of a runbook.
        page: address of the monitor's page, with its final slash; "" where it is not known.
        dashboards: address of Grafana, with its final slash; "" where it is not known.
        objective_severity: severity of a missed objective: `page` or `ticket`.
        label_silence: time without a label after which the feed has stalled.
        prediction_silence: time without a prediction after which the feed has stalled.
    """

    models: tuple[str, ...] = ()
    windows: tuple[str, ...]
    daily: tuple[str, ...]
    lasting: tuple[str, ...]
    estimated: tuple[str, ...] = ()
    objectives: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    max_series: int
    stale_seconds: int
    job: str = "precision-monitor"
    runbooks: str = ""
    page: str = ""
    dashboards: str = ""
    objective_severity: str = "ticket"
    label_silence: str = "1d"
    prediction_silence: str = "1h"

    @classmethod
    def of(cls, config: Config, **more: str) -> Scope:
        """Return the scope of a configuration.

        Args:
            config: the configuration.
            more: attributes that no configuration sets.

        >>> scope = Scope.of(Config(models={"fraud": {"objective": {"precision": 0.9}}}))
        >>> scope.models, scope.daily, scope.objectives
        (('fraud',), ('1d', '7d', '28d'), {'precision': {'fraud': 0.9}})
        """
        lengths = sorted(config.window_lengths.items(), key=lambda item: item[1])
        names = tuple(name for name, _ in lengths)
        daily = tuple(name for name, length in lengths if length >= DAY_MS)
        longer = () if config.longer_window is None else (config.longer_window,)
        return cls(
            models=tuple(config.models),
            windows=names,
            daily=(daily or names[-1:]) + longer,
            lasting=names[-1:] + longer,
            estimated=_estimated(config),
            objectives=_objectives(config),
            max_series=config.max_series,
            stale_seconds=max(
                _STALE_SECONDS, _CHECKPOINTS_MISSED * config.state.checkpoint_every // SECOND_MS
            ),
            page=config.exporter.external_url or "",
            **more,
        )

    def counted(self) -> Scope | None:
        """Return the scope of models whose numbers follow from counts; None without any."""
        models = tuple(name for name in self.models if name not in self.estimated)
        return replace(self, models=models) if models or not self.estimated else None

    def not_counted(self) -> Scope | None:
        """Return the scope of models whose numbers are estimates; None without any."""
        models = self.estimated if self.models else ()
        return replace(self, models=models) if self.estimated else None

    @property
    def long(self) -> str:
        """The longest window, which shows that a change matters."""
        return self.windows[-1]

    @property
    def short(self) -> str:
        """The next shorter window, which shows that a change lasts; or the longest itself."""
        return self.windows[-2:][0]

    def select(self, name: str, **labels: Wanted) -> str:
        r"""Return a selector of a series of these models.

        Args:
            name: name of the series.
            labels: further labels to match; a tuple for any of several values.

        >>> scope = Scope.of(Config(models={"a.b": {}, "c": {}}))
        >>> print(scope.select("x", window=("1h",), cause="recall"))
        x{model=~"a\\.b|c",window="1h",cause="recall"}
        """
        wanted = ({"model": self.models} if self.models else {}) | labels
        return select(name, **wanted)

    def link(self, path: str) -> str:
        """Return the address of a runbook.

        Args:
            path: from the root of the project, with its heading.
        """
        return f"{self.runbooks}{path}"

    def verdict_link(self, verdict: Verdict) -> str:
        """Return the address of the text that explains a verdict."""
        return self.link(f"{_VERDICTS_EXPLAINED}#{verdict}")


def _objectives(config: Config) -> dict[str, dict[str, float]]:
    """Configured targets by metric and model, without metrics that have none."""
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
    return tuple(name for name, model in models.items() if not _is_counted(model))


def _is_counted(model: ModelConfig) -> bool:
    return not model.label_errors.any and model.labelling in _COUNTED


WHOLE = {"class": ""}
"""Labels of the series of a whole model, which one of more than two classes has by class, too."""


def select(name: str, **labels: Wanted) -> str:
    """Return a selector; a tuple of values matches any of them.

    Args:
        name: name of the series.
        labels: labels to match.

    >>> select("up", job="precision-monitor")
    'up{job="precision-monitor"}'
    """
    matchers = ",".join(_matcher(label, value) for label, value in labels.items())
    return f"{name}{{{matchers}}}" if matchers else name


def quoted(text: str) -> str:
    r"""Return a text as a string literal of PromQL.

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
