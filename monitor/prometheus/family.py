"""A family of series, apart from how it is written.

A family splits into the samples that it can have (`lines`, which depend on
the snapshot's `Shape` alone and are remembered) and their numbers (`values`,
fresh from each snapshot and in the same order). NaN is undefined: that sample
is absent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from prometheus_client.utils import floatToGoString

from monitor.drift.class_confusions import Confusion
from monitor.events.columns import FloatArray, Series
from monitor.prometheus.process_series import SeriesDescription
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import VersionsNow

SeriesKind = Literal["gauge", "counter", "histogram", "info"]
Labels = dict[str, str]

_KIND_SUFFIX = {"counter": "_total", "info": "_info"}

MOST_LABEL_SOURCES = 8
"""Sources of labels of a model that have series."""
MOST_CONFUSIONS = 5
"""Confusions of a model and window that have series."""


class Bound(NamedTuple):
    """An estimate or an end of its interval.

    Attributes:
        field: attribute of `monitor.snapshot.Estimate`.
        infix: what the name of its series has before the unit.
        remark: what its HELP text ends with.
    """

    field: str
    infix: Literal["", "lower", "upper"]
    remark: str


BOUNDS = (
    Bound("estimate", "", ""),
    Bound("lower", "lower", " Lower end of the 95 % interval."),
    Bound("upper", "upper", " Upper end of the 95 % interval."),
)


class WindowShape(NamedTuple):
    """The properties of one window that decide its samples, besides its rows."""

    name: str
    class_ratios: tuple[float, ...]


class ModelShape(NamedTuple):
    """The properties of one model that decide its samples.

    Attributes:
        name: of the model.
        version: of its latest prediction.
        row: of its totals.
        versions: that began last.
        compared: pairs of them that are compared, A and B, two at most.
        has_shadows: True where it has shadow versions configured.
        classes: its classes; none for a model of two.
        label_sources: sources of its labels, the first `MOST_LABEL_SOURCES`.
        confusions: that certainly changed: window, actual and predicted class.
    """

    name: str
    version: str
    row: int
    versions: tuple[str, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()
    has_shadows: bool = False
    classes: tuple[str, ...] = ()
    label_sources: tuple[str, ...] = ()
    confusions: tuple[tuple[str, str, str], ...] = ()


class Shape(NamedTuple):
    """All that decides which samples a snapshot can have; equal shapes, equal samples."""

    series: tuple[Series, ...]
    windows: tuple[WindowShape, ...]
    lifetime: WindowShape
    models: tuple[ModelShape, ...]
    delay_edges: tuple[float, ...]
    sources: tuple[str, ...] = ()
    unused: frozenset[tuple[str, str]] = frozenset()
    """Models and their windows without samples."""
    score_metrics: bool = False
    """Whether all metrics of scores have samples."""

    def hides(self, labels: Labels) -> bool:
        """Return whether these are labels of a window that its model does not use."""
        pair = labels.get("model", ""), labels.get("window", "")
        return bool(self.unused) and pair in self.unused


class Line(NamedTuple):
    """One possible sample of a family.

    Attributes:
        labels: clean label values by label name.
        suffix: added to the family's name: "_bucket" and so on in histograms.
    """

    labels: Labels
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family of series.

    Attributes:
        name: as queries use it, with `_total` or `_info`.
        kind: Prometheus type.
        meaning: HELP text, one line, without quotes and backslashes.
        labels: names of its labels; `segment` and `value` only on series by segment.
        lines: the samples that a snapshot of this shape can have.
        values: a number for each of these, in their order; NaN where undefined.
        is_shown: whether it is written; its name stands there without samples, too.
    """

    name: str
    kind: SeriesKind
    meaning: str
    labels: tuple[str, ...]
    lines: Callable[[Shape], Sequence[Line]]
    values: Callable[[Snapshot], FloatArray]
    is_shown: Callable[[Shape], bool] = lambda _: True

    @property
    def metric_name(self) -> str:
        """The name in OpenMetrics, where counters and infos have no suffix."""
        return self.name.removesuffix(_KIND_SUFFIX.get(self.kind, ""))

    @property
    def description(self) -> SeriesDescription:
        """The family as a person reads about it."""
        return SeriesDescription(self.name, self.kind, self.labels, self.meaning)


def shape_of(snapshot: Snapshot) -> Shape:
    """Return what decides which samples this snapshot can have."""
    return Shape(
        series=snapshot.series,
        windows=tuple(_window_shape(window) for window in snapshot.windows),
        lifetime=_window_shape(snapshot.lifetime),
        models=tuple(map(_model_shape, snapshot.models)),
        delay_edges=tuple(snapshot.delay_edges.tolist()),
        sources=tuple(source.name for source in snapshot.sources),
        unused=frozenset(
            (clean(model.name), window)
            for model in snapshot.models
            for window in model.unused_windows
        ),
        score_metrics=snapshot.score_metrics,
    )


def _window_shape(window: Window) -> WindowShape:
    return WindowShape(window.name, tuple(window.precision_at))


def _model_shape(model: ModelState) -> ModelShape:
    now = model.versions_now or VersionsNow()
    sources = model.label_sources
    return ModelShape(
        model.name,
        model.version,
        model.row,
        versions=tuple(name for name, _ in model.latest_versions),
        compared=tuple((a.name, b.name) for a, b in (one.versions for one in now.comparisons)),
        has_shadows=now.shadows is not None,
        classes=next((report.names for report in model.classes.values()), ()),
        label_sources=() if sources is None else sources.names[:MOST_LABEL_SOURCES],
        confusions=tuple(
            (window, one.actual, one.predicted) for window, one in changed_confusions(model)
        ),
    )


def changed_confusions(model: ModelState) -> list[tuple[str, Confusion]]:
    """Return the confusions that certainly changed most, `MOST_CONFUSIONS` of each window.

    Args:
        model: of any number of classes; one of two has none.

    Returns:
        The name of the window, and the confusion; the largest change of a window first.
    """
    classes = model.watched.classes
    if classes is None:
        return []
    return [
        (window, one)
        for window in classes.changes
        for one in classes.confusions(window)[:MOST_CONFUSIONS]
    ]


def line(suffix: str = "", /, **labels: str) -> Line:
    """Make a possible sample, its label values cleaned.

    Args:
        suffix: added to the family's name.
        labels: label values by name.
    """
    return Line({name: clean(value) for name, value in labels.items()}, suffix)


def clean(value: str) -> str:
    r"""Return the text with lone surrogates, which UTF-8 cannot hold, spelled out.

    One such character in one label would fail every scrape from then on.

    >>> clean("vergnügt"), clean("a\ud800")
    ('vergnügt', 'a\\ud800')
    """
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def number_text(number: float) -> str:
    """Return a number as Prometheus's own programs write it; they switch to exponents early.

    >>> number_text(0.5), number_text(1234567), number_text(float("inf"))
    ('0.5', '1.234567e+06', '+Inf')
    """
    return str(floatToGoString(number))  # type: ignore[no-untyped-call]  # has no types
