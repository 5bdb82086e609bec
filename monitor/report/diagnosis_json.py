"""What `diagnose --json` prints: a diagnosis as one JSON object.

Every metric is an object with `estimate`, `lower` and `upper`; whatever is
undefined or refused is null. Times are ISO 8601 in UTC, points are fractions of
precision. Keys may be added in later versions; none changes its meaning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from monitor.config.quantities import HOUR_MS, format_time
from monitor.counts import ConfusionCounts, Outcome
from monitor.diagnosis import CausePart, Diagnosis, Estimated, SegmentPart, Side
from monitor.drift import MainDriver
from monitor.report.advice import advice
from monitor.report.headline import certainties, headline
from monitor.report.sentences import footnotes, plainly, said_of


def diagnosis_json(diagnosis: Diagnosis) -> str:
    """The JSON text, one object over several lines, ASCII only."""
    return json.dumps(diagnosis_object(diagnosis), indent=2, allow_nan=False)


def diagnosis_object(diagnosis: Diagnosis) -> dict[str, Any]:
    """The object as plain dictionaries, lists, numbers and texts."""
    trusted = diagnosis.refusal is None
    components = _components(diagnosis)
    return {
        "model": diagnosis.model,
        "headline": headline(diagnosis),
        "certainties": certainties(diagnosis),
        "before": _side(diagnosis.before),
        "after": _side(diagnosis.after),
        "change": {
            "points": _defined(diagnosis.change_points),
            "logit": _defined(diagnosis.change_logit),
        },
        "plainly": list(plainly(diagnosis)),
        "attribution": {
            cause: {**_part(part), "said": said_of(diagnosis, cause)}
            for cause, part in diagnosis.attribution.items()
        },
        "footnotes": list(footnotes(diagnosis)),
        "log_likelihood_ratio": components["log_likelihood_ratio"],
        "components": components,
        "precision_had_prevalence_stayed": _estimated(diagnosis.had_prevalence_stayed),
        "blocks": _blocks(diagnosis.before, diagnosis.after),
        "operating_point_moved": diagnosis.operating_point_moved,
        "verdict": diagnosis.verdict.value,
        "judged_within": diagnosis.judged_within,
        "below_reference_curve": diagnosis.below_reference_curve,
        "main_driver": _main_driver(diagnosis.main_driver),
        "fell": list(diagnosis.judgement.fell) if trusted else [],
        "rose": list(diagnosis.judgement.rose) if trusted else [],
        "unknown": list(diagnosis.judgement.unknown) if trusted else list(components),
        "segments": [_segment(part) for part in diagnosis.segments],
        "notes": list(diagnosis.notes),
        "advice": list(advice(diagnosis)),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "open": None if side.opens is None else format_time(side.opens),
        "close": None if side.closes is None else format_time(side.closes),
        "source": side.source or None,
        "predictions": side.predictions,
        "outcomes": _outcomes(side.counts),
        **{name: _estimated(metric) for name, metric in side.metrics.items()},
    }


def _outcomes(counts: ConfusionCounts) -> dict[str, int]:
    cells = counts.cells.tolist()
    return {cell.name.lower(): cells[cell] for cell in Outcome}


def _estimated(metric: Estimated) -> dict[str, float | None]:
    return {
        "estimate": _defined(metric.estimate),
        "lower": _defined(metric.lower),
        "upper": _defined(metric.upper),
    }


def _part(part: CausePart) -> dict[str, Any]:
    return {
        "logit": _defined(part.logit),
        "points": _defined(part.points),
        "lower_points": _defined(part.lower_points),
        "upper_points": _defined(part.upper_points),
        "status": part.status.value,
    }


def _components(diagnosis: Diagnosis) -> dict[str, dict[str, Any]]:
    """Change and standard error of each component whose status is known, and LR-'s without."""
    found, trusted = diagnosis.judgement, diagnosis.refusal is None
    return {
        name: {
            "change": _defined(found.change[name]) if trusted else None,
            "se": _defined(found.standard_error[name]) if trusted else None,
            "status": status.value if trusted else "unknown",
        }
        for name, status in found.status.items()
    }


def _blocks(before: Side, after: Side) -> dict[str, Any]:
    """How many blocks of time held outcomes; `unit` is the shorter of both sides' units."""
    units = [_unit(side.block_ms) for side in (before, after)]
    return {
        "before": before.blocks,
        "after": after.blocks,
        "unit": "hour" if "hour" in units else next((u for u in units if u), None),
        "before_unit": units[0],
        "after_unit": units[1],
    }


def _unit(block_ms: int | None) -> str | None:
    if block_ms is None:
        return None
    return "hour" if block_ms == HOUR_MS else "day"


def _main_driver(driver: MainDriver | None) -> dict[str, Any]:
    if driver is None:
        return {"cause": None, "share": None, "certain": False}
    return {"cause": driver.cause, "share": _defined(driver.share), "certain": driver.certain}


def _segment(part: SegmentPart) -> dict[str, Any]:
    return {
        "segment": part.series.segment,
        "value": part.series.value,
        "before": _outcomes(part.before),
        "after": _outcomes(part.after),
        "within": _numbers(part.within),
        "mix": _numbers(part.mix),
        "logit": _defined(part.within_logit + part.mix_logit),
        "points": _defined(part.points),
        "p_values": _numbers(part.p_values),
        "carries": list(part.carries),
        "small_sample": part.small_sample,
    }


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {cause: _defined(value) for cause, value in values.items()}


def _defined(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
