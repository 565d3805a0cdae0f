"""Evaluations: what is read is what was written, and a folder of something else is refused."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from made_results import SHARD_SIZE, assert_same, invent, invented_episodes, shards_of

from dowsax.evaluate.stops import LADDER
from dowsax.experiments import evaluation
from dowsax.experiments.evaluation import fingerprint_of, grid, name_of, open_evaluation, read_evaluation
from dowsax.experiments.run import Run, stop_rule


def change(runs, **changes):
    return [replace(run, **changes) for run in runs]


def test_every_policy_meets_every_field():
    runs = grid(("greedy", "random"), ("gas", "energy"), scenario="ood")
    assert runs == tuple(
        Run(policy, field, "ood") for field in ("gas", "energy") for policy in ("greedy", "random")
    )


@pytest.mark.parametrize(
    ("policies", "fields", "message"),
    [((), ("gas",), "at least one policy"), (("greedy",), ("gas", "gas"), "field is given twice")],
)
def test_a_grid_is_validated(policies, fields, message):
    with pytest.raises(ValueError, match=message):
        grid(policies, fields)


def test_the_fingerprint_is_that_of_the_runs(runs):
    """Neither their order nor a rule that the episodes decide about changes it."""
    assert fingerprint_of(runs[::-1]) == fingerprint_of(runs)
    assert fingerprint_of(change(runs, rule=LADDER[0])) == fingerprint_of(runs)
    others = [runs[:1], change(runs, seed=1), change(runs, rule=stop_rule("entropy"))]
    assert len({fingerprint_of(runs), *map(fingerprint_of, others)}) == 4


def test_a_folder_is_named_after_its_runs(runs):
    assert name_of(runs).startswith("2-policies-temperature-id-")
    assert name_of(grid(("greedy",), ("gas", "energy"))).startswith("greedy-2-fields-id-")


def test_survives_json(runs, tmp_path):
    changed = change(runs, rule=stop_rule("entropy", 2.0), to_the_end=True)
    assert read_evaluation(open_evaluation(tmp_path, changed, 2).folder).runs == tuple(changed)


def test_what_is_read_is_what_was_written(invented_evaluation):
    assert_same(
        read_evaluation(invented_evaluation.folder).episodes(), invented_episodes(invented_evaluation)
    )


def test_the_table_of_episodes_loses_nothing(invented_evaluation):
    assert invented_evaluation.write_table()
    table = pq.read_table(invented_evaluation.table)
    episodes = [one for each in invented_episodes(invented_evaluation).values() for one in each]
    for place, name in enumerate([name for name in table.column_names if name.startswith("theta_")]):
        assert table[name].to_pylist() == [float(one.theta[place]) for one in episodes]
    for place, name in enumerate(("final_x", "final_y")):
        assert table[name].to_pylist() == [float(one.final_theta[place]) for one in episodes]
    assert table["seconds"].to_pylist() == [one.seconds for one in episodes]
    for name in episodes[0].rows._fields:
        points = name in ("position", "mean")
        for axis, column in enumerate((f"{name}_x", f"{name}_y") if points else (name,)):
            for one, written in zip(episodes, table[column].to_pylist(), strict=True):
                recorded = getattr(one.rows, name)
                np.testing.assert_array_equal(recorded[:, axis] if points else recorded, np.float32(written))


def test_the_table_has_a_row_an_episode_and_the_stop_of_every_rule(invented_evaluation):
    invented_evaluation.write_table()
    rows = pq.read_table(invented_evaluation.table).to_pylist()
    episodes = [one for each in invented_episodes(invented_evaluation).values() for one in each]
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


def test_no_table_is_needed(invented_evaluation, monkeypatch):
    monkeypatch.setattr(evaluation, "has_extra", lambda extra: False)
    assert not invented_evaluation.write_table()
    assert not invented_evaluation.table.exists()
    assert_same(
        read_evaluation(invented_evaluation.folder).episodes(), invented_episodes(invented_evaluation)
    )


def test_a_damaged_table_is_written_again(invented_evaluation):
    invented_evaluation.write_table()
    whole = invented_evaluation.table.read_bytes()
    invented_evaluation.table.write_bytes(whole[:100])
    invented_evaluation.write_table()
    assert pq.read_metadata(invented_evaluation.table).num_rows == 12


def test_of_an_incomplete_run_episodes_stand_in_place_of_their_numbers(runs, tmp_path):
    """Beyond a gap nothing is given out, so that the same place is the same episode in every evaluation."""
    begun = open_evaluation(tmp_path, runs, SHARD_SIZE)
    first, gap, last = shards_of(begun)[:3]
    whole = invented_episodes(begun)
    for shard in (first, last):
        invent(begun.store, shard)
    assert begun.missing() == [gap, *shards_of(begun)[3:]]
    assert_same(begun.episodes(), {runs[0]: whole[runs[0]][:2], runs[1]: []})


def test_a_damaged_shard_is_named_and_missing(runs, tmp_path):
    begun = open_evaluation(tmp_path, runs, SHARD_SIZE)
    shard = shards_of(begun)[4]
    path = begun.store.shard_path(shard)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"nonsense")
    warnings = []
    assert begun.missing(warnings.append) == shards_of(begun)
    assert len(warnings) == 1
    assert path.name in warnings[0]


def test_run_json_says_what_where_and_with_what(invented_evaluation):
    record = json.loads((invented_evaluation.folder / "run.json").read_text())
    assert record["schema"] == 2
    assert set(record["versions"]) == {"dowsax", "jax", "numpy", "python"}
    assert {"commit", "device", "created", "fingerprint"} <= set(record)
    expected = {"episodes": 6, "seed": 0, "particles": 64, "shard_size": 2, "scenario": "id"}
    assert expected.items() <= record["configuration"].items()
    assert record["configuration"]["ladder"] == [str(rule) for rule in LADDER]


def test_a_begun_evaluation_keeps_its_shard_size(invented_evaluation, runs):
    again = open_evaluation(invented_evaluation.folder, runs, 500)
    assert again == invented_evaluation
    assert again.missing() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 7}, "seed is 0 there and 7 here"),
        ({"episodes": 8, "seed": 1}, "episodes is 6 there and 8 here; seed is 0 there and 1 here"),
        ({"rule": stop_rule("entropy")}, "stop is credible-0.95 there and entropy-1 here"),
    ],
)
def test_a_folder_of_other_episodes_is_refused(invented_evaluation, runs, changes, said):
    with pytest.raises(ValueError, match="another configuration") as caught:
        open_evaluation(invented_evaluation.folder, change(runs, **changes), 2)
    assert said in str(caught.value)
    assert "--out" in str(caught.value)


def test_a_folder_of_other_policies_is_refused(invented_evaluation, runs):
    with pytest.raises(ValueError, match="policies is greedy, random there and greedy here"):
        open_evaluation(invented_evaluation.folder, runs[:1], 2)


def test_another_rule_of_the_ladder_is_accepted(invented_evaluation, runs):
    again = open_evaluation(invented_evaluation.folder, change(runs, rule=stop_rule("contraction")), 2)
    assert again.missing() == []
    assert read_evaluation(invented_evaluation.folder).rule == stop_rule("contraction")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no run folder"),
        ("{", "damaged"),
        ("{}", "damaged"),
        ('{"schema": 99, "configuration": 0, "fingerprint": 0}', "layout 99"),
        ('{"schema": 1, "configuration": {}, "fingerprint": ""}', "layout 1, .*: give another folder"),
    ],
)
def test_what_is_no_run_folder_is_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_evaluation(tmp_path)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, runs):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="not empty"):
        open_evaluation(tmp_path, runs, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_shard_size_that_cannot_be_leaves_no_folder(tmp_path, runs):
    with pytest.raises(ValueError, match="at least 1 episode; got 0"):
        open_evaluation(tmp_path / "new", runs, 0)
    assert not (tmp_path / "new").exists()
