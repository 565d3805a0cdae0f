"""Shards: a cut that loses nothing, and files that are whole or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowsax.experiment.assemble import Cell
from dowsax.experiment.config import RunConfig
from dowsax.experiment.shards import BrokenShard, Shard, cut, read_shard, write_shard

from .conftest import assert_same, invented

SHARD = Shard(Cell("greedy", "gas", "id"), 1, 3, 6)


@given(episodes=st.integers(1, 60), size=st.integers(1, 70))
def test_the_cut_covers_every_episode_once(episodes, size):
    config = RunConfig(("greedy", "random"), ("gas", "noise"), episodes=episodes, shard_size=size)
    shards = cut(config)
    assert len({shard.file_name for shard in shards}) == len(shards)
    for policy in config.policies:
        own = [shard for shard in shards if shard.cell == Cell(policy, "gas", "id")]
        assert [number for shard in own for number in range(shard.start, shard.stop)] == list(range(episodes))
        assert {shard.size for shard in own[:-1]} <= {size}


def test_what_is_read_is_what_was_written(tmp_path):
    path = tmp_path / SHARD.file_name
    written = invented(SHARD)
    write_shard(path, written, "mark")
    read = read_shard(path, SHARD, "mark")
    assert (read.shard, read.device) == (SHARD, "an abacus")
    assert_same({SHARD.cell: read.episodes}, {SHARD.cell: written.episodes})
    assert [file.name for file in tmp_path.iterdir()] == ["greedy--gas--id--00001.npz"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_cut_short_is_refused(tmp_path, share):
    path = tmp_path / SHARD.file_name
    write_shard(path, invented(SHARD), "mark")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(BrokenShard, match="greedy--gas--id--00001"):
        read_shard(path, SHARD, "mark")


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / SHARD.file_name
    write_shard(path, invented(SHARD), "mark")
    content = bytearray(path.read_bytes())
    # In the middle of the last array's numbers, where nothing but the checksum can tell.
    content[content.rindex(b"row_ess.npy", 0, content.rindex(b"PK\x01\x02")) + 150] ^= 1
    path.write_bytes(content)
    with pytest.raises(BrokenShard, match="cannot be read"):
        read_shard(path, SHARD, "mark")


@pytest.mark.parametrize(("shard", "mark"), [(SHARD, "other"), (SHARD._replace(start=2, stop=5), "mark")])
def test_a_shard_of_another_run_is_refused(tmp_path, shard, mark):
    path = tmp_path / SHARD.file_name
    write_shard(path, invented(SHARD), "mark")
    with pytest.raises(BrokenShard, match="another run"):
        read_shard(path, shard, mark)


def test_nothing_is_left_of_a_failed_write(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dowsax.experiment.shards.np.savez", full)
    with pytest.raises(OSError, match="No space"):
        write_shard(tmp_path / SHARD.file_name, invented(SHARD), "mark")
    assert list(tmp_path.iterdir()) == []
