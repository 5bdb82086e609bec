"""Two versions of a model compared over the same stretch of recorded events.

versions   those asked for; else the one that began last with enough outcomes, and the one that
           predicted most since
stretch    the time in which both predicted, up to where outcomes are mature; of it the
           last days, where so many are asked for
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from monitor.clock import DAY_MS, SECOND_MS
from monitor.config import ModelConfig
from monitor.diagnosis.time_ranges import TimeRange
from monitor.diagnosis.version_events import VersionEvents
from monitor.drift.version_choice import VersionChoice, named_versions
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_scores import VersionScores, have_both_classes
from monitor.drift.versions_compared import (
    DiagnoseCommand,
    VersionsCompared,
    VersionStretch,
    check_labelling,
    common_stretch,
    ended_version,
)
from monitor.events.columns import EventBatch
from monitor.events.left_out_keys import LeftOutKey
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.version_sides import check_sides
from monitor.windows.days_then_weeks import DAYS

_OPTION = "--versions"


def compare_recorded(
    batches: Sequence[EventBatch],
    model: str,
    settings: ModelConfig,
    *,
    mature_until: int | None,
    versions: tuple[str, str] | None = None,
    last: int | None = None,
    diagnose: str = "diagnose",
    is_shadow: Callable[[str], bool] = lambda _: False,
    left_out: tuple[LeftOutKey, ...] = (),
) -> VersionsCompared:
    """Compare two versions of a model.

    Args:
        batches: all events, as decoded.
        model: its name.
        settings: of the model.
        mature_until: moment up to which outcomes are mature, epoch milliseconds; None where
            no label came.
        versions: names of A, to compare with, and of B, to judge; None for those of
            `VersionChoice.latest`.
        last: compare this length of time at the end of the stretch, milliseconds; None for
            all of it.
        diagnose: command that compares two stretches of time of the same events, without these.
        is_shadow: returns whether a version decides nothing.
        left_out: keys of the events that are no segments, since nobody named any.

    Raises:
        UsageError: no prediction names a version, or labels do not allow a comparison.
        NotComparedError: there is one version, one that is asked for has no prediction, or the
            two never predicted in the same mature time.
    """
    check_labelling(model, settings)
    events = VersionEvents(batches, model, settings)
    option = model if versions is None else _OPTION
    choice = VersionChoice(
        events.versions,
        is_shadow=is_shadow,
        made_since=events.made_since,
        rarer_outcomes=partial(events.rarer_outcomes, mature_until=mature_until),
    )
    if versions is not None:
        a, b = named_versions(events.versions, versions, option)
    else:
        a, b = choice.latest(option)
    over_time = DiagnoseCommand(diagnose, SECOND_MS)
    common = common_stretch((a, b), mature_until, option, over_time)
    opens = common.opens if last is None else max(common.opens, common.closes - last)
    within = TimeRange(opens, common.closes)
    names = (a.name, b.name)
    outcomes = events.outcomes(names, within)
    positive, negative = events.pairs(names, within)
    cells = outcomes.cells.sum(axis=1)
    check_sides((a, b), outcomes.cells)
    made = cells[:, PREDICTED_POSITIVE:].sum(axis=1)
    scores = events.scores(a.name, within), events.scores(b.name, within)
    compared_scores = VersionScores.of(scores, outcomes.by_day)
    lately = TimeRange(max(a.first, common.closes - DAYS * DAY_MS), common.closes)
    return VersionsCompared(
        model=model,
        versions=(a, b),
        within=VersionStretch(*within),
        predictions=(int(made[0]), int(made[1])),
        segments=tuple(settings.segments),
        left_out=left_out,
        anytime=opens == common.opens,
        too_new=choice.too_new((a, b)) if versions is None else None,
        ended=ended_version(
            (a, b),
            max(one.last for one in events.versions),
            over_time,
            together=bool(made.all()),
        ),
        scores=compared_scores,
        on_unlike_days=compared_scores is None and have_both_classes(scores),
        comparison=compare_two(
            outcomes,
            positive.astype(np.float64),
            negative.astype(np.float64),
            scores=events.scores(a.name, lately),
        ),
    )
