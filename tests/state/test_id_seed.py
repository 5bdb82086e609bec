"""Ids have keys by a secret of the state directory, so that nobody can compute collisions."""

import itertools
import json
import stat
from typing import NamedTuple

import numpy as np
import pytest
from simulator.process import Inline

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.keys import PUBLIC_SEED, keys_of
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.changes import restart_faults
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.state import Checkpoints, StateFaults
from monitor.state.id_seed import SEED_FILE, restore_seed_file, seed_of_state
from monitor.state.salvage import salvage
from monitor.state.state_errors import StateError

SECRET = 0x1234567890ABCDEF


def config_of(secret):
    return Config.model_validate({"id_secret": secret})


def test_the_first_start_draws_a_seed_that_only_the_owner_can_read(tmp_path):
    first, second = (seed_of_state(tmp_path / name, None, None) for name in "ab")
    assert first != second
    assert PUBLIC_SEED not in (first, second)
    assert stat.S_IMODE((tmp_path / "a" / SEED_FILE).stat().st_mode) == 0o600
    assert seed_of_state(tmp_path / "a", None, None) == first


def test_the_seed_of_the_checkpoint_counts_whatever_the_file_says(tmp_path):
    seed = seed_of_state(tmp_path, None, None)
    assert seed_of_state(tmp_path, None, PUBLIC_SEED) == PUBLIC_SEED
    (tmp_path / SEED_FILE).unlink()
    assert seed_of_state(tmp_path, None, seed) == seed


def test_a_salvaged_directory_has_the_same_seed(tmp_path):
    seed = seed_of_state(tmp_path / "state", None, None)
    assert [found.text for found in salvage(tmp_path / "state", tmp_path / "copy")] == ["copied"]
    assert stat.S_IMODE((tmp_path / "copy" / SEED_FILE).stat().st_mode) == 0o600
    assert seed_of_state(tmp_path / "copy", None, None) == seed


def test_a_configured_secret_is_shared_and_must_be_that_of_the_state(tmp_path):
    secrets = ["a secret of all shards"] * 2 + ["a secret of another shard"]
    seeds = [config_of(text).id_seed for text in secrets]
    assert seeds[0] == seeds[1] != seeds[2]
    drawn = seed_of_state(tmp_path, None, None)
    assert drawn not in seeds
    assert seed_of_state(tmp_path, seeds[0], None) == seeds[0]  # nothing has a key yet
    assert seed_of_state(tmp_path, None, None) == seeds[0]
    assert seed_of_state(tmp_path, seeds[0], seeds[0]) == seeds[0]
    for stored in (seeds[0], PUBLIC_SEED):
        with pytest.raises(StateError, match="id_secret: is not the one of the stored state"):
            seed_of_state(tmp_path, seeds[2], stored)


def test_a_damaged_file_is_refused(tmp_path):
    for text in ("no seed", "x" * 16, ""):
        (tmp_path / SEED_FILE).write_text(text)
        with pytest.raises(StateError, match="16 hexadecimal digits"):
            seed_of_state(tmp_path, None, None)


def test_a_damaged_file_is_written_anew_from_the_checkpoint(tmp_path):
    seed = seed_of_state(tmp_path, None, None)
    file = tmp_path / SEED_FILE
    whole = file.read_bytes()
    assert not restore_seed_file(tmp_path, seed)
    file.write_bytes(b"x" + whole[1:])
    assert not restore_seed_file(tmp_path, PUBLIC_SEED)
    assert restore_seed_file(tmp_path, seed)
    assert file.read_bytes() == whole
    file.write_bytes(whole[:16] + b"\n")  # as earlier versions wrote it
    assert not restore_seed_file(tmp_path, seed)
    assert seed_of_state(tmp_path, None, None) == seed
    file.unlink()
    assert not restore_seed_file(tmp_path, seed)


def test_a_secret_is_not_shown_and_a_change_of_it_is_refused():
    one, another = (config_of(f"a secret of {name}") for name in ("today", "tomorrow"))
    assert "of today" not in repr(one) + one.model_dump_json()
    for old, new in itertools.permutations([Config(), one, another], 2):
        (fault,) = restart_faults(old, new)
        assert fault.startswith("id_secret: cannot be changed")
        assert "a secret" not in fault


class Start(NamedTuple):
    """A start on a state directory.

    Attributes:
        monitor: the engine.
        decoder: gives ids their keys.
        checkpointer: writes checkpoints.
    """

    monitor: Monitor
    decoder: Decoder
    checkpointer: Checkpointer

    def take(self, *events):
        lines = "\n".join(map(json.dumps, events)).encode()
        self.monitor.apply(self.decoder.decode_lines(lines, source="t"))

    def stop(self):
        self.checkpointer.close(self.monitor, [], EventClock(ManualClock(0)))

    @property
    def joined(self):
        """Labels that met their prediction, and those that wait for it."""
        snapshot = self.monitor.snapshot()
        return sum(model.matched for model in snapshot.models), snapshot.labels.held


def started(folder):
    made = Checkpointer(
        Config(),
        Checkpoints(folder / "checkpoints"),
        faults=StateFaults(),
        clock=ManualClock(1_700_000_000),
        say=lambda _: None,
        writer=Inline(),
    )
    made.id_seed = seed_of_state(folder, None, made.id_seed)
    settings = DecodeSettings.from_config(Config(), id_seed=made.id_seed)
    return Start(made.engine(), Decoder(settings), made)


def prediction(name, ts=1):
    return {"type": "prediction", "id": name, "ts": ts, "prediction": 1}


def label(name, ts=2):
    return {"type": "label", "id": name, "ts": ts, "label": 1}


def test_predictions_and_labels_meet_across_restarts(tmp_path):
    seeds = []
    for number in range(3):
        start = started(tmp_path)
        start.take(prediction(f"a{number}"), *([label(f"a{number - 1}")] if number else []))
        seeds.append(start.checkpointer.id_seed)
        start.stop()
        (tmp_path / SEED_FILE).unlink(missing_ok=True)
    assert len(set(seeds)) == 1
    assert started(tmp_path).joined == (2, 0)


def test_labels_find_predictions_of_a_state_from_before_there_were_seeds(tmp_path):
    old = Monitor()
    for event in map(prediction, "abc"):
        old.apply(Decoder(DecodeSettings()).decode_lines(json.dumps(event).encode(), source="t"))
    first = started(tmp_path)
    first._replace(monitor=old).stop()
    stored = dict(Checkpoints(tmp_path / "checkpoints").newest().state)
    del stored["id_seed"]
    Checkpoints(tmp_path / "checkpoints").write(stored)
    start = started(tmp_path)
    assert start.checkpointer.id_seed == PUBLIC_SEED
    start.take(*map(label, "ab"), prediction("d"))
    start.stop()
    start = started(tmp_path)
    start.take(*map(label, "cd"))
    assert start.joined == (4, 0)


def unshifted(mixed, by, plus=0):
    """Return x of x ^ ((x >> by) + plus), uint64."""
    found = mixed
    for _ in range(64 // by + 1):
        found = mixed ^ ((found >> np.uint64(by)) + np.uint64(plus))
    return found


def turned(word, by):
    by = by % 64
    return word << np.uint64(by) | word >> np.uint64(64 - by)


def word_of(keys, size):
    """Return what XXH3 mixes of ids of 4 to 8 bytes: it can be computed back from the hash."""
    back = np.uint64(pow(0x9FB21C651E98DF25, -1, 2**64))
    word = unshifted(unshifted(keys, 28) * back, 35, size) * back
    for power in range(6):  # the inverse of w ^ turned(w, 49) ^ turned(w, 24)
        word = word ^ turned(word, 49 << power) ^ turned(word, 24 << power)
    return word


def first_and_last(ids):
    """Return the word that XXH3 reads of ids: the last four bytes below the first four."""
    words = [id_.encode() for id_ in ids]
    return np.array([int.from_bytes(w[-4:] + w[:4], "little") for w in words], dtype=np.uint64)


def colliding(tries):
    """Return pairs of an id of eight letters and one of seven, computed for the public seed."""
    letters = np.random.default_rng(5).integers(97, 123, (tries, 8), dtype=np.uint8)
    long = [row.tobytes().decode() for row in letters]
    secret = word_of(keys_of(["letters"]), 7) ^ first_and_last(["letters"])
    found = (word_of(keys_of(long), 7) ^ secret).astype("<u8").view(np.uint8).reshape(-1, 8)
    short = np.concatenate([found[:, 4:], found[:, 1:4]], axis=1)
    fits = (found[:, 7] == found[:, 0]) & (short < 0x80).all(axis=1)
    return [(long[i], short[i].tobytes().decode()) for i in np.flatnonzero(fits)]


def labels_that_join(pairs, seed):
    decoder, monitor = Decoder(DecodeSettings.from_config(Config(), id_seed=seed)), Monitor()
    events = [*(prediction(long) for long, _ in pairs), *(label(short) for _, short in pairs)]
    monitor.apply(decoder.decode_lines("\n".join(map(json.dumps, events)).encode(), source="t"))
    return sum(model.matched for model in monitor.snapshot().models)


def test_labels_computed_to_join_anothers_prediction_do_not_under_a_secret():
    pairs = colliding(300_000)
    assert len(pairs) >= 5
    assert labels_that_join(pairs, PUBLIC_SEED) == len(pairs)
    assert labels_that_join(pairs, SECRET) == 0


def crowded(count, bits):
    """Ids whose keys have the same high bits under the public seed."""
    found, start = [], 0
    while len(found) < count:
        ids = [f"x{n}" for n in range(start, start + 200_000)]
        high = keys_of(ids) >> np.uint64(64 - bits)
        found += [ids[i] for i in np.flatnonzero(high == 5)]
        start += len(ids)
    return found[:count]


def test_ids_computed_to_crowd_are_spread_by_a_secret():
    ids = crowded(60, 10)
    assert len(np.unique(keys_of(ids) >> np.uint64(54))) == 1
    assert len(np.unique(keys_of(ids, SECRET) >> np.uint64(54))) > 40


@pytest.mark.parametrize("kind", ["lines", "fields"])
def test_every_record_has_its_key_by_the_seed(kind):
    decoder = Decoder(DecodeSettings.from_config(Config(), id_seed=SECRET))
    events = [prediction("a"), label("b"), prediction("c") | {"type": "outcome", "label": 0}]
    if kind == "lines":
        lines = "\n".join(map(json.dumps, events)).encode()
        batch = decoder.decode_lines(lines, source="t")
    else:
        batch = decoder.decode_fields(events, position=str, record=lambda _: b"")
    assert batch.predictions.key.tolist() == keys_of(["a", "c"], SECRET).tolist()
    assert batch.labels.key.tolist() == keys_of(["b", "c"], SECRET).tolist()
