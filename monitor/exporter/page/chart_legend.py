"""The legend of the chart over time: only what the chart shows."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.api.series_answer import IntervalSeries, SeriesAnswer


def legend(series: SeriesAnswer, *, pooled: bool = False) -> Iterator[h.Node]:
    """Yield a key for each line, mark and band.

    Args:
        series: the model over time.
        pooled: the model has more than two classes: precision over all of them is accuracy.
    """
    lines = {"precision": "accuracy"} if pooled else _lines(series)
    for kind, words in lines.items():
        yield _key(h.path(f".line.{kind}", d="M0 4H24"), words, (24, 8))
    for sign, words in _marks(series):
        yield _key(sign, words, (12, 12))
    if _known(series.metrics.precision):
        yield h.span(".key")["shaded: 95 % intervals"]
    if series.mature_until is not None:
        yield h.span(".key")["grey, at the right: labels still to come"]
    if not series.versions:
        yield h.span(".key")["no deployments: predictions carry no version"]


def _known(metric: IntervalSeries) -> bool:
    return any(value is not None for value in metric.estimate)


def _lines(series: SeriesAnswer) -> dict[str, str]:
    """Return the words for each line by its class."""
    lines: dict[str, str] = {}
    if _known(series.metrics.precision):
        lines["precision"] = "precision"
    if _known(series.metrics.balanced_precision):
        lines["balanced_precision"] = "balanced precision (prevalence cancelled out)"
    if _known(series.metrics.class_ratio):
        lines["prevalence"] = "class ratio, labelled"
    if any(ratio is not None for ratio in series.class_ratio_from_predictions):
        lines["estimated"] = "class ratio, estimated from predictions if the model is unchanged"
    return lines | {"flagged": "flagged cases"}


def _marks(series: SeriesAnswer) -> Iterator[tuple[h.Element, str]]:
    kinds = {found.kind for found in series.detections}
    if "model_degraded" in kinds:
        yield h.path(".detection-sign.bad", d="M0 1h12l-6 10Z"), "a worse model was detected"
    if "prevalence_shift" in kinds:
        sign = h.path(".detection-sign.world", d="M6 0l6 6-6 6-6-6Z")
        yield sign, "a shift of prevalence was detected"
    upright = h.line(x1="6", x2="6", y1="0", y2="12")
    if series.changed is not None:
        yield h.g(".change")[upright], "recall or false positives changed"
    if len(series.versions) > 1:
        yield h.g(".deployment")[upright], "first prediction of a version"


def _key(sign: h.Element, words: str, size: tuple[int, int]) -> h.Element:
    width, height = size
    return h.span(".key")[
        h.svg(
            viewBox=f"0 0 {width} {height}",
            width=str(width),
            height=str(height),
            aria_hidden="true",
        )[sign],
        words,
    ]
