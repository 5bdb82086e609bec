"""The questions that the API and the page ask, each with its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from monitor.config.quantities import parse_duration
from monitor.diagnosis.beginning import may_have_news, with_news
from monitor.diagnosis.class_comparison import ClassComparison, compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.diagnosis.comparison import compared_live
from monitor.diagnosis.ending_unjudged import may_end_unjudged, with_unjudged_end
from monitor.diagnosis.ending_unlabelled import may_end_unlabelled, with_unlabelled_end
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.exporter.api.compare import digest, given_reference, is_mature, recall
from monitor.exporter.api.engine_access import EngineUnavailableError, ReadEngine
from monitor.exporter.api.explanation import Explanation, explain
from monitor.exporter.api.find_model import find_model
from monitor.exporter.api.memo import RecentMemo, SnapshotMemo
from monitor.exporter.api.score_shares import counted_scores, score_stretches, scores_answer
from monitor.exporter.api.scores_answer import ScoresAnswer
from monitor.exporter.api.segment_values import segments_answer
from monitor.exporter.api.segments_answer import SegmentsAnswer
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.series import MOST_STEPS, SeriesContext, series_answer
from monitor.exporter.api.series_answer import Numbers, SeriesAnswer
from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import StatusAnswer
from monitor.exporter.api.trends import PATIENCE_SECONDS, Trends
from monitor.labels.error_words import audits_text
from monitor.labels.regime import LabelRegime
from monitor.report.deciding_window import answering, deciding_window, label_fault_of
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.findings import with_model_now
from monitor.report.rejected_lately import RejectedLately
from monitor.report.version_news_words import change_beginning
from monitor.report.versions_now import VersionsReading, versions_reading
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT
from monitor.windows.history import History

T = TypeVar("T")

_LABEL_SHIFTS = (LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT)
_MOSTLY = 0.5


class Queries:
    """Answers about the latest snapshot; safe to use from any thread.

    A repeated question is answered from memory until the state changes, so that many
    readers read the engine once. An explanation is made anew only when the counts behind
    it have changed.

    Args:
        read_snapshot: returns the latest snapshot.
        read_engine: reads the history; None where none is served.
        patience: seconds that a list of models waits for its trends.
        rejected_lately: returns which records of the last day are rejected; None where nobody
            counts them.
    """

    def __init__(
        self,
        read_snapshot: Callable[[], Snapshot],
        read_engine: ReadEngine | None,
        patience: float = PATIENCE_SECONDS,
        rejected_lately: Callable[[], RejectedLately] | None = None,
    ) -> None:
        self._rejected_lately = rejected_lately
        self._read_snapshot = read_snapshot
        self._read_engine = read_engine
        self._answers = SnapshotMemo()
        self._explanations: RecentMemo[Explanation] = RecentMemo()
        self._trends = Trends(self._from_engine, patience)

    @property
    def has_history(self) -> bool:
        """True where the history is served at all."""
        return self._read_engine is not None

    def status(self, asked: Selection, limit: int) -> StatusAnswer:
        """Return one page of the models as they are now.

        Args:
            asked: the models, and their order.
            limit: return at most this many.
        """
        snapshot = self._read_snapshot()

        def make() -> StatusAnswer:
            lately = None if self._rejected_lately is None else self._rejected_lately()
            return status_answer(snapshot, asked, limit=limit, rejected_lately=lately)

        return self._answers.get(snapshot, ("status", asked, limit), make)

    def series(
        self,
        name: str | None,
        *,
        step: int | None = None,
        last: int | None = None,
        most: int = MOST_STEPS,
    ) -> SeriesAnswer:
        """Return one model over time.

        Args:
            name: of the model; None for the only one there is.
            step: milliseconds; None for the finest that stays within `most` steps.
            last: leave out all but this many steps.
            most: steps.

        Raises:
            UnknownModelError: no such model.
            EngineUnavailableError: the history cannot be read.
        """

        def make(snapshot: Snapshot, model: ModelState) -> SeriesAnswer:
            def history() -> History:
                return self._from_engine(lambda monitor: monitor.history(model.name))

            counted = self._answers.get(snapshot, (model.name, "history"), history)
            context = series_context(model)
            return series_answer(counted, context, step=step, last=last, most=most)

        return self._of_model(name, ("series", step, last, most), make)

    def scores(self, name: str | None) -> ScoresAnswer:
        """Return the distribution of a model's scores now, beside an earlier one.

        Args:
            name: of the model; None for the only one there is.

        Raises:
            UnknownModelError: no such model.
            EngineUnavailableError: the history cannot be read.
        """

        def make(_: Snapshot, model: ModelState) -> ScoresAnswer:
            asked = score_stretches(model)
            if asked is None:
                return scores_answer(model.name, None, None)
            counted = self._from_engine(lambda monitor: counted_scores(monitor, model.name, asked))
            return scores_answer(model.name, asked, counted)

        return self._of_model(name, ("scores",), make)

    def segments(self, name: str | None, window: str | None) -> SegmentsAnswer:
        """Return the segment values of a model in one window.

        Args:
            name: of the model; None for the only one there is.
            window: its name; None for the one that gives the model's verdict.

        Raises:
            UnknownModelError: no such model.
            UsageError: no such window.
        """

        def make(snapshot: Snapshot, model: ModelState) -> SegmentsAnswer:
            windows = {one.name: one for one in snapshot.windows}
            chosen = deciding_window(model, [*windows]) if window is None else window
            if chosen not in windows:
                raise UsageError(f"window: must be one of {', '.join(windows)}, got {chosen!r}")
            return segments_answer(snapshot, model, windows[chosen])

        return self._of_model(name, ("segments", window), make)

    def versions(
        self, name: str | None, asked: tuple[str, str] | None = None, last: int | None = None
    ) -> VersionsReading:
        """Return the versions of a model, and two of them compared over the same time.

        Args:
            name: of the model; None for the only one there is.
            asked: names of the version to compare with and of the one to judge; None for the
                one that predicted most since the one to judge, which began last.
            last: compare this length of time at the end, milliseconds; None for all of it.

        Raises:
            UnknownModelError: no such model.
            UsageError: versions are asked for that are not known, or not counted apart.
            EngineUnavailableError: the counts cannot be read.
        """

        def make(snapshot: Snapshot, model: ModelState) -> VersionsReading:
            found = model.versions_now
            if asked is not None or last is not None:
                found = self._from_engine(
                    lambda monitor: monitor.versions.compare(
                        model.name, model.mature_until, asked, last
                    )
                )
            return versions_reading(snapshot, model, found)

        return self._of_model(name, ("versions", asked, last), make)

    def trends(self, names: Sequence[str], *, step: int, last: int) -> dict[str, Numbers]:
        """Return precision over time of several models, read from the engine at once.

        A trend is as of the last full hour of event time that is mature.

        Args:
            names: of models that exist.
            step: milliseconds.
            last: leave out all but this many steps.

        Returns:
            By name. Where the engine does not answer in time: the trend known before, or
            no entry.
        """
        snapshot, wanted = self._read_snapshot(), set(names)
        contexts = {m.name: series_context(m) for m in snapshot.models if m.name in wanted}
        return self._trends.of(contexts, step=step, last=last)

    def explanation(self, name: str | None, before: str | None, after: str | None) -> Explanation:
        """Return why precision moved between two periods, and the curve of the later one.

        Args:
            name: of the model; None for the only one there is.
            before: as written; None for the reference.
            after: as written; None for the window that gives the verdict.

        Raises:
            UnknownModelError: no such model.
            UsageError: the periods cannot be compared.
            EngineUnavailableError: the history cannot be read.
        """

        def make(snapshot: Snapshot, model: ModelState) -> Explanation:
            deciding = deciding_window(model, [one.name for one in snapshot.windows])
            asked = compared_live(snapshot, model, before, after, answering(model, deciding))
            regime = LabelRegime.now(model)
            counted = self._from_engine(lambda monitor: recall(monitor, asked, regime))
            audits = model.audits and audits_text(model.audits)
            rates = model.label_errors, audits, model.label_sources
            fault = label_fault_of(model, deciding, asked.after_source)
            known = is_mature(model, asked), given_reference(model), rates, fault
            key = (asked, digest(counted), *known)
            explained = self._explanations.get(key, lambda: explain(model, asked, counted, fault))
            found = explained.diagnosis
            if may_have_news(found, model):
                found = self._from_engine(partial(with_news, found, now=model.now_ms))
            if may_end_unjudged(found, model):
                found = self._from_engine(
                    lambda monitor: with_unjudged_end(found, monitor.history, model)
                )
            if may_end_unlabelled(found):
                found = self._from_engine(partial(with_unlabelled_end, found, model=model))
            found = with_model_now(found, snapshot, model)
            if found is explained.diagnosis:
                return explained
            return explained._replace(diagnosis=found, answer=diagnosis_answer(found))

        return self._of_model(name, ("explanation", before, after), make)

    def class_comparison(
        self, name: str | None, before: str | None, after: str | None
    ) -> ClassComparison | None:
        """Return why the precision of a model's classes moved between two stretches of days.

        Args:
            name: of the model; None for the only one there is.
            before: as written; None for the reference.
            after: as written; None for the latest mature days, as many as the window has that
                gives the verdict.

        Returns:
            None for a model of two classes.

        Raises:
            UnknownModelError: no such model.
            UsageError: the stretches cannot be compared.
            EngineUnavailableError: the history cannot be read.
        """

        def make(snapshot: Snapshot, model: ModelState) -> ClassComparison | None:
            if not model.classes:
                return None
            deciding = deciding_window(model, [one.name for one in snapshot.windows])
            asked = ClassRanges.asked(model, before, after, parse_duration(deciding))
            counted = self._from_engine(lambda monitor: counted_days(monitor, model.name, asked))
            return compare_classes(model, asked, counted)

        return self._of_model(name, ("class_comparison", before, after), make)

    def _of_model(
        self, name: str | None, asked: tuple[object, ...], make: Callable[[Snapshot, ModelState], T]
    ) -> T:
        """Answer a question about a model, once a snapshot."""
        snapshot = self._read_snapshot()
        model = find_model(snapshot, name)
        key = (model.name, *asked)
        return self._answers.get(snapshot, key, lambda: make(snapshot, model))

    def _from_engine(self, read: Callable[[Monitor], T]) -> T:
        if self._read_engine is None:
            raise EngineUnavailableError("history: is not served here")
        return self._read_engine(read)


def series_context(model: ModelState) -> SeriesContext:
    """Return what the series of a model needs besides its counts."""
    reference, began = model.watched.reference, change_beginning(model.watched.began)
    if not _label_shift_holds(model):
        reference = None
    return SeriesContext(
        model=model.name,
        regime=LabelRegime.now(model),
        mature_until=model.mature_until,
        reference=None if reference is None else reference.counts,
        detections=model.watched.detections,
        versions=model.versions,
        changed=None if began is None else began.at,
        refused=model.refused,
    )


def _label_shift_holds(model: ModelState) -> bool:
    """Return whether an estimate of prevalence rests mostly on label shift, by its record."""
    found = [one.nowcast.prevalence for one in model.watched.verdicts.values() if one.nowcast]
    return any(
        one.is_supported and one.method in _LABEL_SHIFTS and one.weight >= _MOSTLY for one in found
    )
