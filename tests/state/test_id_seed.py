"""Ids are keyed by a secret of the state directory, so that collisions cannot be computed."""

import json
import stat

import numpy as np
import pytest

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.keys import PUBLIC_SEED, keys_of
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.state.id_seed import SEED_FILE, seed_of_state
from monitor.state.state_errors import StateError


def test_the_first_start_draws_a_seed_that_only_the_owner_can_read(tmp_path):
    first, second = (seed_of_state(tmp_path / name, None, None) for name in "ab")
    assert first != second
    assert PUBLIC_SEED not in (first, second)
    assert stat.S_IMODE((tmp_path / "a" / SEED_FILE).stat().st_mode) == 0o600
    assert seed_of_state(tmp_path / "a", None, None) == first


def test_the_seed_of_the_checkpoint_counts_where_the_file_is_gone(tmp_path):
    seed = seed_of_state(tmp_path, None, None)
    (tmp_path / SEED_FILE).unlink()
    assert seed_of_state(tmp_path, None, seed) == seed


@pytest.mark.parametrize("part", ["checkpoints", "journal"])
def test_state_from_before_there_were_seeds_goes_on_with_the_public_one(tmp_path, part):
    (tmp_path / part).mkdir()
    (tmp_path / part / "000").write_bytes(b"")
    assert seed_of_state(tmp_path, None, None) == PUBLIC_SEED
    assert not (tmp_path / SEED_FILE).exists()


def test_a_configured_secret_is_shared_and_must_be_that_of_the_state(tmp_path):
    seeds = [Config(id_secret=text).id_seed for text in ("one", "one", "another")]
    assert seeds[0] == seeds[1] != seeds[2]
    assert seed_of_state(tmp_path, seeds[0], None) == seeds[0]
    assert seed_of_state(tmp_path, None, None) == seeds[0]
    with pytest.raises(StateError, match="id_secret: is another one"):
        seed_of_state(tmp_path, seeds[2], seeds[0])


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / SEED_FILE).write_text("no seed")
    with pytest.raises(StateError, match="16 hexadecimal digits"):
        seed_of_state(tmp_path, None, None)


def test_a_secret_is_not_shown():
    config = Config.model_validate({"id_secret": "hush"})
    assert "hush" not in repr(config) + config.model_dump_json()


def crowded(count, bits):
    """Ids whose keys have the same high bits under the public seed."""
    found, start = [], 0
    while len(found) < count:
        ids = [f"x{n}" for n in range(start, start + 200_000)]
        high = keys_of(ids) >> np.uint64(64 - bits)
        found += [ids[i] for i in np.flatnonzero(high == 5)]
        start += len(ids)
    return found[:count]


def test_ids_computed_for_the_public_seed_are_spread_by_another():
    ids = crowded(60, 10)
    assert len(np.unique(keys_of(ids) >> np.uint64(54))) == 1
    assert len(np.unique(keys_of(ids, 0x1234567890ABCDEF) >> np.uint64(54))) > 40


@pytest.mark.parametrize("kind", ["lines", "fields"])
def test_predictions_and_labels_meet_by_any_seed(kind):
    settings = DecodeSettings.from_config(Config(), id_seed=7)
    decoder, monitor = Decoder(settings), Monitor()
    events = [
        {"type": "prediction", "id": "a", "ts": 1, "prediction": 1},
        {"type": "label", "id": "a", "ts": 2, "label": 1},
    ]
    if kind == "lines":
        batch = decoder.decode_lines("\n".join(map(json.dumps, events)).encode(), source="t")
    else:
        batch = decoder.decode_fields(events, position=str, record=lambda _: b"")
    monitor.apply(batch)
    assert batch.predictions.key.tolist() == keys_of(["a"], 7).tolist()
    assert monitor.snapshot().lifetime.counts.tp.tolist() == [1]
