"""The store: shards that lose nothing, and files that are complete or refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import MADE, assert_same, invent, invented

from dowsax.experiments import fingerprint
from dowsax.experiments.records import pack
from dowsax.experiments.run import Run
from dowsax.experiments.store import Store

RUN = Run("greedy", "gas", episodes=6)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, shard_size=3)


@pytest.fixture
def shard_file(store):
    """The file of the second of two shards."""
    invent(store, store.shards(RUN)[1])
    return store.shard_path(store.shards(RUN)[1])


@given(episodes=st.integers(1, 60), size=st.integers(1, 70))
def test_the_shards_cover_every_episode_once(episodes, size, tmp_path_factory):
    store = Store(tmp_path_factory.getbasetemp() / "none", size)
    shards = store.shards(replace(RUN, episodes=episodes))
    assert len({shard.label for shard in shards}) == len(shards)
    assert [number for shard in shards for number in range(shard.start, shard.stop)] == list(range(episodes))
    assert {shard.size for shard in shards[:-1]} <= {size}


def test_shards_are_joined_to_one_file_that_is_what_was_written(store):
    first, second = store.shards(RUN)
    invent(store, second)
    assert store.missing([RUN]) == [first]
    assert store.episodes(RUN) is None
    invent(store, first)
    assert store.missing([RUN]) == store.incomplete([RUN]) == []
    assert_same({RUN: store.episodes(RUN)}, {RUN: invented(first) + invented(second)})
    assert [path for path in store.folder.rglob("*") if path.is_file()] == [store.path(RUN)]
    assert (store.about(RUN)["device"], store.about(RUN)["took"]) == ("an abacus", 3.0)


def test_a_run_that_was_not_joined_is_joined_later(store, monkeypatch):
    """A process may be killed between the last shard and the one file."""
    with monkeypatch.context() as patch:
        patch.setattr(Store, "join", lambda store, run: None)
        for shard in store.shards(RUN):
            invent(store, shard)
    assert store.missing([RUN]) == []
    assert store.incomplete([RUN]) == [RUN]
    store.join(RUN)
    assert len(store.episodes(RUN)) == 6


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_cut_short_is_missing(store, shard_file, share):
    shard_file.write_bytes(shard_file.read_bytes()[: int(share * shard_file.stat().st_size)])
    warnings = []
    assert store.missing([RUN], warnings.append) == store.shards(RUN)
    assert len(warnings) == 1
    assert str(shard_file) in warnings[0]


def test_a_flipped_bit_is_noticed(store, shard_file):
    content = bytearray(shard_file.read_bytes())
    # In the middle of the last array's numbers, where nothing but the checksum can tell.
    content[content.rindex(b"row_ess.npy", 0, content.rindex(b"PK\x01\x02")) + 100] ^= 1
    shard_file.write_bytes(content)
    warnings = []
    assert store.missing([RUN], warnings.append) == store.shards(RUN)
    assert len(warnings) == 1


@pytest.mark.parametrize("changes", [{"seed": 1}, {"episodes": 7}, {"preset": "paper"}])
def test_a_file_of_another_run_is_not_taken(store, shard_file, changes):
    """Neither under its own name nor under that of the other run."""
    other = replace(RUN, **changes)
    shard = store.shards(other)[1]
    assert store.missing([other])[1] == shard
    store.shard_path(shard).parent.mkdir(parents=True)
    store.shard_path(shard).write_bytes(shard_file.read_bytes())
    warnings = []
    assert store.missing([other], warnings.append)[1] == shard
    assert "another run" in warnings[0]


def test_a_shard_of_another_size_is_computed_again(store, shard_file):
    other = replace(store, shard_size=2)
    assert other.missing([RUN]) == other.shards(RUN)
    for shard in other.shards(RUN):
        invent(other, shard)
    assert len(other.episodes(RUN)) == 6
    assert not shard_file.exists()


def test_damage_inside_a_complete_run_says_what_to_do(store):
    for shard in store.shards(RUN):
        invent(store, shard)
    path = store.path(RUN)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"row_ess.npy", 0, content.rindex(b"PK\x01\x02")) + 100] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged: delete it, and the same command computes it again"):
        store.episodes(RUN)


def test_nothing_is_left_of_a_failed_write(store, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dowsax.experiments.store.np.savez_compressed", full)
    with pytest.raises(OSError, match="No space"):
        invent(store, store.shards(RUN)[0])
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []


def test_runs_with_other_settings_have_other_names(store):
    changes = ({}, {"seed": 1}, {"episodes": 3}, {"members": ("att-pfrl", "pfrl")})
    assert len({store.path(replace(RUN, **change)) for change in changes}) == len(changes)


def test_results_of_other_code_are_refused_unless_it_is_trusted(store, monkeypatch):
    for shard in store.shards(RUN):
        invent(store, shard)
    mark = store.about(RUN)["code"]
    monkeypatch.setattr(fingerprint, "code_hash", lambda: "other")
    with pytest.raises(ValueError, match=f"computed by other code, with the hash {mark}.*--trust {mark}"):
        store.missing([RUN])
    for trusted in ((mark,), None):
        assert replace(store, trusted=trusted).missing([RUN]) == []


def test_a_run_says_where_it_comes_from(store):
    for shard in store.shards(RUN):
        invent(store, shard)
    about = store.about(RUN)
    assert {"policy", "field", "seed", "episodes", "filter", "code", "versions", "device"} <= set(about)
    assert json.loads(json.dumps(about)) == about


@pytest.mark.parametrize("folder", ["cells/default", "default/id/gas"])
def test_folders_of_earlier_versions_are_refused(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    with pytest.raises(ValueError, match=r"an earlier version, .* give another --out"):
        Store(tmp_path)


def test_arrays_are_joined_along_the_first_axis(store):
    first, second = store.shards(RUN)
    joined = pack(invented(first) + invented(second))
    for shard in (first, second):
        store.write(shard, pack(invented(shard)), MADE)
    for name, array in store.read(RUN).items():
        np.testing.assert_array_equal(array, joined[name])
