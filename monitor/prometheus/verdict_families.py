"""The families about verdicts, causes, detectors and the reference.

Every window of every model has exactly one verdict at 1: `insufficient_evidence` where
nothing can be judged yet.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from monitor.counts import Outcome
from monitor.drift import Verdict
from monitor.drift.checked_estimate import ESTIMATED_RATES
from monitor.drift.degenerate import Degeneracy
from monitor.drift.rates_changed import moved_by_prevalence
from monitor.drift.recall_evidence import Because
from monitor.labels.faults import LabelFault
from monitor.prometheus.class_verdict_families import (
    by_class,
    by_class_and_window,
    causes_of_class,
    classes_of,
    watched_class,
)
from monitor.prometheus.family import BOUNDS, Family, line
from monitor.prometheus.watched_family import by_model, by_window
from monitor.report.vocabulary import ADDITIVE_CAUSES, REFERENCE_SOURCES
from monitor.snapshot import ModelState
from monitor.verdicts import (
    ESTIMATE_METHODS,
    NOT_COMPARED,
    ReferenceOutcomes,
    Watched,
    WindowVerdict,
)

_CAUSES = tuple(ADDITIVE_CAUSES)
_RATES = {"recall": "recall", "false_positive_rate": "false_positive"}
"""Rates by their names in `monitor.metrics`, as series call them."""
_METHODS = tuple((r, method) for r in ESTIMATED_RATES for method in ESTIMATE_METHODS)
_CHECKED = (
    " estimated ahead of the labels, over a window that ended with the last whole day (UTC); "
    "absent where past estimates do not support it, and where mature labels reach as far."
)


def verdict_families() -> Iterator[Family]:
    """Yield the families about verdicts, in the order of the exposition."""
    verdicts = [{"verdict": verdict.value} for verdict in Verdict]
    yield by_class_and_window(
        by_window(
            "classifier_verdict",
            "What happened between the reference and the window: 1 for the verdict that holds.",
            _verdict,
            verdicts,
        ),
        verdicts,
        lambda model, window, number: _verdict(
            watched_class(model, classes_of(model)[number]).verdicts.get(window, NOT_COMPARED)
        ),
    )
    yield by_window(
        "classifier_verdict_because",
        "1 for the reason why the verdict of the window is insufficient_evidence, where it is.",
        lambda found: [float(found.because == because) for because in Because],
        [{"because": because.value} for because in Because],
    )
    yield by_window(
        "classifier_recall_excluded_ratio",
        "Recall of the window, or since a reference that it reaches back into, is not below this, "
        "with 95 % for all looks of 60 days.",
        lambda found: [found.recall.excluded],
    )
    yield by_window(
        "classifier_operating_point_moved",
        "1 where recall and false positives moved the same way, as after a slide of the threshold.",
        _moved,
    )
    yield by_window(
        "classifier_rate_changed",
        "1 where the rate of the window certainly rose since the reference (or the model's level, "
        "where the window is compared with that), -1 where it certainly fell, 0 where neither "
        "is certain.",
        _rates_changed,
        [{"rate": name} for name in _RATES.values()],
    )
    yield by_window(
        "classifier_verdict_against_level",
        "1 where the window is compared with the model's level, not with the reference: where it "
        "is degraded against that alone, and while the model pages.",
        lambda found: [float(found.level is not None)],
    )
    yield by_window(
        "classifier_precision_moved_by_prevalence",
        "1 where precision certainly moved, mostly by the class ratio, and skill is not shown to "
        "have changed.",
        _by_prevalence,
    )
    yield by_window(
        "classifier_label_fault",
        "1 for the fault of the window's labels, where there is one.",
        lambda found: [float(found.label_fault == fault) for fault in LabelFault],
        [{"fault": fault.value} for fault in LabelFault],
    )
    yield _change(
        "classifier_precision_change_logit",
        "Change of logit(precision) since the reference, by cause; the causes add up to it.",
        "logit",
    )
    yield _change(
        "classifier_precision_change_ratio",
        "Change of precision since the reference, by cause (Owen value), as a fraction.",
        "points",
    )
    yield by_window(
        "classifier_class_ratio_far_from_reference",
        "1 where r is at least five times below or above the reference's: precision at the "
        "other's class ratio is then an extrapolation.",
        lambda found: [np.nan if found.judgement is None else float(found.far_from_reference)],
    )
    for rate in ESTIMATED_RATES:
        for bound in BOUNDS:
            yield by_window(
                "_".join(filter(None, ("classifier", rate, "estimated", bound.infix, "ratio"))),
                f"{rate.capitalize()}{_CHECKED}{bound.remark}",
                partial(_estimated, rate, bound.field),
            )
    yield by_window(
        "classifier_estimate_method",
        "1 for what an estimate ahead of the labels rests on: mature labels alone, or label shift "
        "(of all predictions, or within the values of segments) or covariate shift beside them.",
        lambda found: [_rests_on(found, *label) for label in _METHODS],
        [{"estimate": rate, "method": method} for rate, method in _METHODS],
    )
    for bound in BOUNDS:
        yield by_model(
            "_".join(filter(None, ("classifier_live_class_ratio", bound.infix))),
            "r = P/N of mature labels smoothed over panes: an outcome counts half after the "
            "length of the shortest window." + bound.remark,
            partial(_live_ratio, bound.field),
        )
    yield by_model(
        "classifier_expected_class_ratio",
        "r that the reference's daily and weekly profile expects of the last mature pane.",
        lambda watched: [watched.expected_class_ratio],
    )
    yield _of_classes_too(
        "classifier_detector_evidence_ratio",
        "Evidence for a fall of skill over the threshold of a detector: the larger of those by "
        "pane and by days. From 1 on it alarms; a page needs a degraded judgement as well.",
        lambda watched: watched.evidence,
    )
    yield _of_classes_too(
        "classifier_detector_warming_up",
        "1 while the reference does not suffice for the detectors by pane: it has under 1,000 "
        "positives or 500 false positives, or there is none. With a small one, changes are found "
        "by days, not within hours.",
        lambda watched: float(watched.warming_up),
    )
    yield _of_classes_too(
        "classifier_degradation_detected",
        "1 from a certain degradation that a detector has found, until the model is certainly "
        "back. ModelDegraded fires on it.",
        lambda watched: np.nan if watched.detectors_off else float(watched.degradation_detected),
    )
    yield by_model(
        "classifier_prevalence_shift_detected",
        "1 where the class ratio has left its profile within the longest window; absent where "
        "labels are a sample or of flagged cases alone.",
        _shifted,
    )
    yield by_model(
        "classifier_predictions_degenerate",
        "1 while predictions, without labels, are outside the range learned from the model's past; "
        "absent while its past is too short to know what is usual.",
        lambda watched: [_if_known(watched, watched.predictions.kind is not None)],
    )
    yield by_model(
        "classifier_predictions_degenerate_kind",
        "1 for what is wrong with the predictions, where something is.",
        lambda watched: [
            _if_known(watched, watched.predictions.kind is kind) for kind in Degeneracy
        ],
        [{"kind": kind.value} for kind in Degeneracy],
    )
    yield by_model(
        "classifier_predicted_positive_over_known_ratio",
        "Rate of predicted positives over the highest one known, where it lies far above, or over "
        "the lowest one known, where it lies far below; absent elsewhere.",
        lambda watched: [watched.predictions.times],
    )
    yield by_model(
        "classifier_judged_age_seconds",
        "Age from which predictions are judged; beyond the windows' where these end sooner.",
        lambda watched: [np.nan if watched.judged_age_ms is None else watched.judged_age_ms / 1000],
    )
    yield by_model(
        "classifier_reference_outcomes",
        "Outcomes of the reference that windows are compared with.",
        lambda watched: _cells(watched.reference),
        [{"outcome": outcome.name.lower()} for outcome in Outcome],
    )
    yield by_model(
        "classifier_reference_open_timestamp_seconds",
        "First moment of the reference, event time.",
        lambda watched: _moment(watched.reference, "opens"),
    )
    yield by_model(
        "classifier_reference_close_timestamp_seconds",
        "First moment after the reference, event time.",
        lambda watched: _moment(watched.reference, "closes"),
    )
    yield by_model(
        "classifier_reference_class_ratio",
        "Class ratio of the reference, the r0 of class_ratio=reference.",
        lambda watched: [np.nan if watched.reference is None else watched.reference.class_ratio],
    )
    yield by_model(
        "classifier_reference_version",
        "1 for the first reference that was found; one more each time it moves on (trailing).",
        lambda watched: [np.nan if watched.reference is None else watched.reference.version],
    )
    yield by_model(
        "classifier_reference_held_back",
        "1 while longer first days are known, and not taken since the model looks worse; else 0.",
        lambda watched: [_held_back(watched.reference)],
    )
    yield _sources()
    yield by_model(
        "classifier_level_outcomes",
        "Outcomes of the level that pages rest on; absent while it is the reference.",
        lambda watched: _cells(watched.level),
        [{"outcome": outcome.name.lower()} for outcome in Outcome],
    )
    yield by_model(
        "classifier_level_open_timestamp_seconds",
        "First moment of the level that pages rest on, event time.",
        lambda watched: _moment(watched.level, "opens"),
    )
    yield by_model(
        "classifier_level_close_timestamp_seconds",
        "First moment after the level that pages rest on, event time.",
        lambda watched: _moment(watched.level, "closes"),
    )


def _verdict(found: WindowVerdict) -> list[float]:
    return [float(found.verdict == verdict) for verdict in Verdict]


def _change(name: str, meaning: str, scale: str) -> Family:
    """Changes of precision by cause; those of a class by the prevalence of all classes."""
    causes = [{"cause": cause} for cause in _CAUSES]
    family = by_window(name, meaning, lambda found: _parts(found, scale), causes)
    return by_class_and_window(family, causes, partial(causes_of_class, scale=scale))


def _of_classes_too(name: str, meaning: str, read: Callable[[Watched], float]) -> Family:
    return by_class(by_model(name, meaning, lambda watched: [read(watched)]), read)


def _if_known(watched: Watched, holds: bool) -> float:  # noqa: FBT001  # the number itself
    return float(holds) if watched.predictions.known else np.nan


def _shifted(watched: Watched) -> list[float]:
    shifted = watched.prevalence_shift_detected
    return [np.nan if shifted is None else float(shifted)]


def _live_ratio(field: str, watched: Watched) -> list[float]:
    return [float(getattr(watched.live_class_ratio, field))]


def _moved(found: WindowVerdict) -> list[float]:
    return [np.nan if found.judgement is None else float(found.judgement.operating_point_moved)]


def _rates_changed(found: WindowVerdict) -> list[float]:
    judgement = found.judgement
    if judgement is None:
        return [np.nan] * len(_RATES)
    return [float((rate in judgement.rose) - (rate in judgement.fell)) for rate in _RATES]


def _by_prevalence(found: WindowVerdict) -> list[float]:
    moved = moved_by_prevalence(found.verdict, found.judgement, found.attribution)
    return [np.nan if moved is None else float(moved)]


def _estimated(rate: str, field: str, found: WindowVerdict) -> list[float]:
    return [np.nan if found.nowcast is None else getattr(getattr(found.nowcast, rate), field)]


def _rests_on(found: WindowVerdict, rate: str, method: str) -> float:
    estimate = None if found.nowcast is None else getattr(found.nowcast, rate)
    return np.nan if estimate is None or estimate.withheld else float(estimate.method == method)


def _parts(found: WindowVerdict, scale: str) -> list[float]:
    if found.attribution is None:
        return [np.nan] * len(_CAUSES)
    return [getattr(found.attribution, scale)[cause] for cause in _CAUSES]


def _cells(compared: ReferenceOutcomes | None) -> list[float]:
    if compared is None or compared.pooled:
        return [np.nan] * len(Outcome)
    return [float(cell) for cell in compared.counts.cells.tolist()]


def _held_back(reference: ReferenceOutcomes | None) -> float:
    if reference is None:
        return np.nan
    return reference.held_back is not None and not reference.held_back.over


def _moment(compared: ReferenceOutcomes | None, edge: str) -> list[float]:
    moment = None if compared is None else getattr(compared, edge)
    return [np.nan if moment is None else moment / 1000]


def _sources() -> Family:
    return Family(
        name="classifier_reference_info",
        kind="info",
        meaning="Where the reference of a model comes from: first, window, trailing or counts.",
        labels=("model", "source"),
        lines=lambda shape: [
            line(model=m.name, source=source) for m in shape.models for source in REFERENCE_SOURCES
        ],
        values=lambda snapshot: np.array(
            [
                _is_source(model, source)
                for model in snapshot.models
                for source in REFERENCE_SOURCES
            ],
            dtype=np.float64,
        ),
    )


def _is_source(model: ModelState, source: str) -> float:
    reference = model.watched.reference
    return 1.0 if reference is not None and reference.source == source else np.nan
