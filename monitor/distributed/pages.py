"""State of a bucket, one page of bytes, and how events change it.

The rule is `monitor.join.single_id`. A page stores its states in 24 bytes an id, like
the columnar join (see `monitor.join.packing`), sorted by key; only ids in a batch are
unpacked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from monitor.config import Config, Labelling
from monitor.distributed.packets import OWN_LABEL, PREDICTION, Packet
from monitor.distributed.tallies import Counting, Group, Tally, merged, unpacked
from monitor.errors import MonitorError
from monitor.events.columns import Int64Array, KeyArray
from monitor.events.keys import PUBLIC_SEED, keys_of
from monitor.join import ENDLESS
from monitor.join import packing as words
from monitor.join import single_id as rule
from monitor.join.forgetting import Forgetting

_VERSION = 1
_SWEEPS = 16
"""Number of searches for expired states within the shortest horizon."""
_KEY, _WHEN, _WHAT = range(3)


def _mark(seed: int) -> int:
    """Return 32 bits of a key, which differ between seeds and do not reveal the seed."""
    return int(keys_of(["id_secret"], seed)[0]) & 0xFFFFFFFF


_PUBLIC = _mark(PUBLIC_SEED)
_HELD = np.dtype([("key", "<u8"), ("time", "<i8"), ("value", "u1"), ("stratum", "u1")])


class _Stored(Struct, array_like=True):
    """A page as bytes.

    Attributes:
        version: version of this layout.
        buckets: number of buckets that ids are divided among.
        due: time of the next search for expired states, epoch milliseconds; None without one.
        groups: groups that rows refer to.
        rows: uint64 (n, 3), by key.
        held: rows of `_HELD`.
        seed: what shows that the seed of the keys is another one.
    """

    version: int
    buckets: int
    due: int | None
    groups: list[Group]
    rows: bytes
    held: bytes
    seed: int = _PUBLIC


class PageRules:
    """Settings of a job's pages.

    Args:
        config: models, pane and clocks.
        buckets: number of buckets that ids are divided among.
    """

    def __init__(self, config: Config, buckets: int) -> None:
        self.config = config
        self.buckets = buckets
        self._terms: dict[str, rule.Terms] = {}
        named = [*config.models] or [""]
        horizons = [self._of(name).horizon for name in named]
        self.seed = _PUBLIC if config.id_seed is None else _mark(config.id_seed)
        self.rule = rule.Rules(self._of, max(horizons), Forgetting.of(min(horizons)))
        self.shortest = min(horizons)
        self.step = min(max(self.shortest // _SWEEPS, config.pane), ENDLESS)

    def _of(self, model: str) -> rule.Terms:
        known = self._terms.get(model)
        if known is None:
            setting = self.config.model(model)
            known = self._terms[model] = rule.Terms(
                setting.label_timeout or ENDLESS,
                setting.horizon_ms or ENDLESS,
                setting.labelling is Labelling.WEIGHTED,
            )
        return known


class Page:
    """The predictions and labels of one bucket.

    Args:
        rules: settings of the job.
        stored: bytes from `pack`; None for a new page.

    Raises:
        MonitorError: the bytes have another layout, number of buckets or seed of keys.
    """

    def __init__(self, rules: PageRules, stored: bytes | None = None) -> None:
        self._rules = rules
        self.due: int | None = None
        self._groups: list[Group] = []
        self._rows: KeyArray = np.zeros((0, 3), dtype=np.uint64)
        self._held: NDArray[np.void] = np.zeros(0, dtype=_HELD)
        if stored is not None:
            self._load(msgspec.msgpack.decode(stored, type=_Stored))

    def __len__(self) -> int:
        """Number of stored predictions and held labels."""
        return len(self._rows) + len(self._held)

    def pack(self) -> bytes:
        """Return the page as bytes."""
        stored = _Stored(
            _VERSION,
            self._rules.buckets,
            self.due,
            self._groups,
            self._rows.tobytes(),
            self._held.tobytes(),
            self._rules.seed,
        )
        return msgspec.msgpack.encode(stored)

    def take(self, packets: Iterable[bytes], watermark: int) -> Tally:
        """Apply the events of a batch; return the changes of the counts.

        Args:
            packets: packets of this bucket, in any order.
            watermark: watermark of all earlier batches, epoch milliseconds.
        """
        opened = [msgspec.msgpack.decode(data, type=Packet) for data in packets]
        touched, events = self._opened(opened)
        states = self._unpack(touched)
        counting, books = Counting(self._rules.config), Counter[str]()
        for key, event in events:
            step = rule.after(states.get(key, rule.NOTHING), event, self._rules.rule, watermark)
            states[key] = step.state
            self._enter(step, counting, books)
        self._store(touched, states)
        ready = [unpacked(packet.tally) for packet in opened if packet.tally]
        return merged([*ready, counting.tally(books=dict(books))])

    def expire(self, watermark: int) -> Tally:
        """Drop states that can no longer change.

        Args:
            watermark: watermark reached, epoch milliseconds.
        """
        before = self._rules.rule.forgetting.moment(watermark) - self._rules.shortest
        old = self._rows[words.times_of(self._rows[:, _WHEN]) < before, _KEY]
        old_labels = self._held["key"][self._held["time"] < before]
        touched = np.unique(np.concatenate([old, old_labels]))
        states, books = self._unpack(touched), Counter[str]()
        for key, state in states.items():
            step = rule.expired(state, self._rules.rule, watermark)
            states[key] = step.state
            self._enter(step, None, books)
        self._store(touched, states)
        self._forget_groups()
        self.due = None
        return Tally(books=dict(books))

    def next_due(self, watermark: int) -> int | None:
        """Schedule the next search for expired states, unless one is scheduled or not needed.

        Args:
            watermark: watermark reached, epoch milliseconds.

        Returns:
            Its time, epoch milliseconds, or None.
        """
        if self.due is not None or not len(self) or self._rules.shortest >= ENDLESS:
            return None
        earliest = [words.times_of(self._rows[:, _WHEN]), self._held["time"]]
        first = min(int(times.min()) for times in earliest if len(times))
        step = self._rules.step
        slack = self._rules.rule.forgetting.step
        at = max(first + self._rules.shortest + slack, watermark) + 1
        self.due = (at // step + 1) * step
        return self.due

    def _load(self, stored: _Stored) -> None:
        if stored.version != _VERSION or stored.buckets != self._rules.buckets:
            raise MonitorError(
                f"checkpoint: has --buckets {stored.buckets} (layout {stored.version}), not "
                f"{self._rules.buckets} (layout {_VERSION}); give the same number, or start "
                "with a new --checkpoint"
            )
        if stored.seed != self._rules.seed:
            raise MonitorError(
                "checkpoint: was begun with another id_secret, so labels would not find their "
                "predictions; change it back, or start with a new --checkpoint"
            )
        self.due = stored.due
        self._groups = stored.groups
        self._rows = np.frombuffer(stored.rows, dtype=np.uint64).reshape(-1, 3)
        self._held = np.frombuffer(stored.held, dtype=_HELD)

    def _opened(self, packets: list[Packet]) -> tuple[KeyArray, list[tuple[int, rule.Event]]]:
        """Return the ids of the events, and the events, predictions first."""
        predictions: list[tuple[int, rule.Event]] = []
        labels: list[tuple[int, rule.Event]] = []
        keys = [np.zeros(0, dtype=np.uint64)]
        for packet in packets:
            rows = packet.rows()
            keys.append(rows["key"])
            for key, time, group, score_bin, value, stratum, kind in rows.tolist():
                if kind == PREDICTION:
                    positive = value == 1
                    one = rule.SinglePrediction(time, positive, score_bin, packet.groups[group])
                    predictions.append((key, one))
                    continue
                label = rule.SingleLabel(time, value, stratum)
                before = predictions[-1][1] if kind == OWN_LABEL else None
                if isinstance(before, rule.SinglePrediction):  # of the same record
                    predictions[-1] = (key, rule.LabelledPrediction(before, label))
                else:
                    labels.append((key, label))
        return np.unique(np.concatenate(keys)), predictions + labels

    def _enter(self, step: rule.Step, counting: Counting | None, books: Counter[str]) -> None:
        if counting is not None:
            for sign, prediction, label in step.moves:
                time, positive, _, group = prediction
                if label is None:
                    counting.population(sign, time, group, positive=positive)
                else:
                    cell = rule.Move(sign, prediction, label).cell
                    counting.outcome(sign, time, group, cell, label=label[::2])
        if step.books is not rule.NO_CHANGES:
            for name, count in zip(rule.BookChanges._fields, step.books, strict=True):
                if count:
                    books[name] += count

    def _unpack(self, touched: KeyArray) -> dict[int, rule.IdState]:
        """Return the stored states of some ids."""
        rows = self._rows[self._rows_of(touched)]
        when, what = rows[:, _WHEN], rows[:, _WHAT]
        columns = (
            rows[:, _KEY],
            words.times_of(when),
            words.predicted_positive_of(what),
            words.score_bins_of(what),
            words.groups_of(when),
            words.label_times_of(what),
            words.label_values_of(what),
            words.strata_of(what),
        )
        states = {}
        for row in zip(*(column.tolist() for column in columns), strict=True):
            key, time, positive, score_bin, group, label_time, value, stratum = row
            label = None if value < 0 else rule.SingleLabel(label_time, value, stratum)
            prediction = rule.SinglePrediction(time, positive, score_bin, self._groups[group])
            states[key] = rule.IdState(prediction, label)
        waiting = self._held[np.isin(self._held["key"], touched)]
        for key, time, value, stratum in waiting.tolist():
            known = states.get(key, rule.NOTHING)
            states[key] = known._replace(held=(*known.held, rule.SingleLabel(time, value, stratum)))
        return states

    def _rows_of(self, touched: KeyArray) -> Int64Array:
        """Return the rows of those ids that are stored."""
        keys = self._rows[:, _KEY]
        at = np.searchsorted(keys, touched)
        found = np.flatnonzero(at < len(keys))
        places: Int64Array = at[found[keys[at[found]] == touched[found]]]
        return places

    def _store(self, touched: KeyArray, states: dict[int, rule.IdState]) -> None:
        """Replace the stored states of some ids."""
        if not len(touched):
            return
        known = [(k, state) for k, state in states.items() if state.prediction is not None]
        others = np.delete(self._rows, self._rows_of(touched), axis=0)
        rows = np.concatenate([others, self._packed(known)])
        self._rows = rows[np.argsort(rows[:, _KEY], kind="stable")]
        held = [(key, *label) for key, state in states.items() for label in state.held]
        rest = self._held[~np.isin(self._held["key"], touched)]
        self._held = np.concatenate([rest, np.array(held, dtype=_HELD)])

    def _packed(self, known: list[tuple[int, rule.IdState]]) -> KeyArray:
        codes = {group: code for code, group in enumerate(self._groups)}
        rows = np.zeros((len(known), 3), dtype=np.uint64)
        rows[:, _KEY] = [key for key, _ in known]
        predictions = [state.prediction for _, state in known if state.prediction is not None]
        group = [codes.setdefault(p.group, len(codes)) for p in predictions]
        self._groups = [*codes]
        rows[:, _WHEN] = words.when_words(_ints(p.time for p in predictions), _ints(group))
        positive = np.array([p.positive for p in predictions], dtype=np.bool_)
        rows[:, _WHAT] = words.unlabelled_words(positive, _ints(p.score_bin for p in predictions))
        labelled = [i for i, (_, state) in enumerate(known) if state.label is not None]
        labels = [state.label for _, state in known if state.label is not None]
        rows[labelled, _WHAT] |= words.label_words(
            _ints(label.time for label in labels),
            _ints(label.value for label in labels),
            _ints(label.stratum for label in labels),
        )
        return rows

    def _forget_groups(self) -> None:
        used, index = np.unique(words.groups_of(self._rows[:, _WHEN]), return_inverse=True)
        self._groups = [self._groups[code] for code in used.tolist()]
        rows = self._rows.copy()
        rows[:, _WHEN] = words.when_words(words.times_of(rows[:, _WHEN]), index.astype(np.int64))
        self._rows = rows


def _ints(values: Iterable[int]) -> Int64Array:
    return np.array([*values], dtype=np.int64)
