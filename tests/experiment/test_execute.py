"""Filling a run: nothing twice, nothing lost, and the same numbers however it is cut."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from dowsax.evaluate import episodes
from dowsax.evaluate.stops import LADDER
from dowsax.experiment.assemble import assemble, cells_of, episode_keys
from dowsax.experiment.execute import fill, here
from dowsax.experiment.shards import cut
from dowsax.experiment.store import open_run

from .conftest import assert_same, invented


def quiet(shard, ended):
    """No progress."""


def test_the_cut_changes_no_number(config, reference, filled_run):
    """Shards of two and of four, and the episodes by themselves."""
    fours = filled_run(replace(config, shard_size=4), here, "fours").run
    assert_same(reference.run.cells(), fours.cells(), seconds=False)
    cell = cells_of(config)[0]
    search, policy = assemble(config, cell)
    alone = episodes.run_episodes(search, policy, episode_keys(0, "temperature", np.array([5])), LADDER)
    assert_same({cell: reference.run.cells()[cell][5:]}, {cell: alone}, seconds=False)


def test_policies_meet_the_same_sources(config, reference):
    greedy, random = reference.run.cells().values()
    for one, other in zip(greedy, random, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        np.testing.assert_array_equal(one.rows.position[0], other.rows.position[0])
        assert one.rows.reading[0] == other.rows.reading[0]
    assert len({episode.theta.tobytes() for episode in greedy}) == config.episodes


def test_progress_counts_every_episode(config, reference):
    ended = dict.fromkeys(cut(config), 0)
    for shard, more in reference.progress:
        ended[shard] += more
    assert ended == {shard: shard.size for shard in cut(config)}


def test_an_interruption_keeps_what_was_finished(config, reference, tmp_path):
    run = open_run(tmp_path, config, lambda: 2)

    def interrupted(*arguments):
        engine = here(*arguments)
        yield next(engine)
        yield next(engine)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(run, run.missing(), interrupted, quiet)
    assert run.missing() == cut(config)[2:]
    asked = []

    def going_on(config, shards, progress):
        asked.extend(shards)
        yield from here(config, shards, progress)

    fill(run, run.missing(), going_on, quiet)
    assert asked == cut(config)[2:]
    assert_same(run.cells(), reference.run.cells(), seconds=False)


def test_a_broken_shard_is_computed_again(config, reference, tmp_path):
    run = open_run(tmp_path, config, lambda: 2)
    (tmp_path / "shards").mkdir()
    for shard in cut(config):
        content = reference.run.path(shard).read_bytes()
        run.path(shard).write_bytes(content[:500] if shard.number == 1 else content)
    warnings = []
    missing = run.missing(warnings.append)
    assert [shard.number for shard in missing] == [1, 1]
    assert len(warnings) == 2
    fill(run, missing, here, quiet)
    assert_same(run.cells(), reference.run.cells(), seconds=False)


def test_a_batch_that_does_not_fit_is_halved(config, monkeypatch):
    """An accelerator with room for two episodes takes five as two, two and one."""
    sizes = []

    def in_groups(search, policy, keys, until, progress):
        if keys.shape[0] > 2:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")
        sizes.append(keys.shape[0])
        return [invented(cut(config)[0]).episodes[0] for _ in keys]

    monkeypatch.setattr(episodes, "run_in_groups", in_groups)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    search, policy = assemble(config, cells_of(config)[0])
    keys = episode_keys(0, "temperature", np.arange(5))
    assert len(episodes.run_episodes(search, policy, keys, LADDER)) == 5
    assert sizes == [2, 2, 1]
