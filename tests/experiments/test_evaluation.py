"""Run folders: what is read is what was kept, and a folder of something else is refused."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from dowsax.evaluate.stops import LADDER
from dowsax.experiment import store
from dowsax.experiment.config import stop_rule
from dowsax.experiment.shards import cut
from dowsax.experiment.store import open_run, read_run

from .conftest import assert_same, invented


def kept(config):
    """The made-up episodes by cell."""
    cells = {}
    for shard in cut(config):
        cells.setdefault(shard.cell, []).extend(invented(shard).episodes)
    return cells


def test_the_table_of_episodes_loses_nothing(invented_run, config):
    assert invented_run.tabulate()
    assert invented_run.table.exists()
    for path in invented_run.folder.glob("shards/*"):
        path.unlink()
    assert_same(read_run(invented_run.folder).cells(), kept(config))


def test_the_table_has_a_row_an_episode_and_the_stop_of_every_rule(invented_run, config):
    invented_run.tabulate()
    rows = pq.read_table(invented_run.table).to_pylist()
    episodes = [episode for cell in kept(config).values() for episode in cell]
    assert [row["episode"] for row in rows] == [*range(6), *range(6)]
    assert {(row["policy"], row["field"], row["scenario"]) for row in rows} == {
        ("greedy", "temperature", "id"),
        ("random", "temperature", "id"),
    }
    for row, episode in zip(rows, episodes, strict=True):
        assert np.float32(row["theta_lambda"]) == episode.theta[6]
        assert np.float32(row["final_x"]) == episode.final_theta[0]
        assert np.array_equal(row["position_y"], episode.rows.position[:, 1])
        assert row["readings"] == len(episode.rows.ess) == len(row["ess"])
        spread = episode.rows.spread
        first = next((number for number in range(2, len(spread) + 1) if spread[number - 1] < 0.5), None)
        assert row["contraction-0.5_reading"] == first
        assert row["contraction-0.5_error"] == (None if first is None else episode.rows.error[first - 1])
    assert {f"{rule}_path_length" for rule in LADDER} <= set(rows[0])


def test_shards_serve_where_there_is_no_table(invented_run, config, monkeypatch):
    monkeypatch.setattr(store, "_has_pyarrow", lambda: False)
    assert not invented_run.tabulate()
    assert not invented_run.table.exists()
    assert_same(read_run(invented_run.folder).cells(), kept(config))


def test_a_damaged_table_is_made_anew(invented_run, config):
    invented_run.tabulate()
    invented_run.table.write_bytes(invented_run.table.read_bytes()[:100])
    assert_same(invented_run.cells(), kept(config))
    invented_run.tabulate()
    assert_same(invented_run.cells(), kept(config))


def test_of_an_incomplete_run_episodes_stand_in_place_of_their_numbers(invented_run, config):
    """Beyond a gap nothing is given out, so that the same place is the same episode in every run."""
    gap = cut(config)[1]
    invented_run.path(gap).unlink()
    assert invented_run.missing() == [gap]
    expected = kept(config)
    expected[gap.cell] = expected[gap.cell][:2]
    assert_same(invented_run.cells(), expected)


def test_a_broken_shard_is_named_and_missing(invented_run, config):
    broken = cut(config)[4]
    invented_run.path(broken).write_bytes(b"nonsense")
    warnings = []
    assert invented_run.missing(warnings.append) == [broken]
    assert len(warnings) == 1
    assert "random--temperature--id--00001.npz" in warnings[0]


def test_run_json_says_what_where_and_with_what(invented_run):
    record = json.loads((invented_run.folder / "run.json").read_text())
    assert record["schema"] == 1
    assert set(record["versions"]) == {"dowsax", "jax", "python"}
    assert {"commit", "device", "created", "fingerprint"} <= set(record)
    expected = {"episodes": 6, "seed": 0, "particles": 64, "shard_size": 2, "scenario": "id"}
    assert expected.items() <= record["configuration"].items()
    assert record["configuration"]["ladder"] == [str(rule) for rule in LADDER]


def test_the_cut_of_a_begun_run_stays(invented_run, config):
    again = open_run(invented_run.folder, replace(config, shard_size=25), lambda: 500)
    assert again.configuration == config
    assert again.missing() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 7}, "seed is 0 there and 7 here"),
        ({"episodes": 8, "seed": 1}, "episodes is 6 there and 8 here; seed is 0 there and 1 here"),
        ({"policies": ("greedy",)}, "policies is greedy, random there and greedy here"),
        ({"rule": stop_rule("entropy")}, "stop is credible-0.95 there and entropy-1 here"),
    ],
)
def test_a_folder_of_other_episodes_is_refused(invented_run, config, changes, said):
    with pytest.raises(ValueError, match="another configuration") as caught:
        open_run(invented_run.folder, replace(config, **changes), lambda: 2)
    assert said in str(caught.value)
    assert "--out" in str(caught.value)


def test_another_rule_of_the_ladder_is_welcome(invented_run, config):
    again = open_run(invented_run.folder, replace(config, rule=stop_rule("contraction")), lambda: 2)
    assert again.missing() == []
    assert read_run(invented_run.folder).configuration.rule == stop_rule("contraction")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no run folder"),
        ("{", "damaged"),
        ("{}", "damaged"),
        ('{"schema": 99, "configuration": 0, "fingerprint": 0}', "layout 99"),
    ],
)
def test_what_is_no_run_folder_is_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_run(tmp_path)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, config):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="not empty"):
        open_run(tmp_path, config, lambda: 2)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
