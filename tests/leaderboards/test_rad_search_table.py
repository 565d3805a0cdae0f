"""The table of RAD-Search: its statistics, and the command in a folder of generated worlds."""

import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dowsax.cli import run
from dowsax.leaderboards.rad_search import World, draw_world, least_readings
from dowsax.leaderboards.rad_search_table import (
    File,
    Outcome,
    measure,
    median,
    median_interval,
    search,
    summarise,
    table,
)


def write(path, worlds):
    corners = [0, 1, 0, 3, 2, 3, 2, 1]
    entries = [
        {
            "source": world.source.tolist(),
            "start": world.start.tolist(),
            "intensity": world.intensity,
            "background": world.background,
            "walls": [wall[corners].reshape(4, 2).tolist() for wall in world.walls],
        }
        for world in worlds
    ]
    path.write_text(json.dumps(entries))


@pytest.fixture
def worlds():
    random = np.random.default_rng(8)
    return [draw_world(random, 1, "high") for _ in range(2)]


def test_the_median_may_be_infinite():
    assert median(np.array([1.0, math.inf, 3.0])) == 3.0
    assert median(np.array([1.0, math.inf, math.inf, 3.0])) == math.inf
    assert median(np.array([1.0, 2.0])) == 1.5


def test_the_interval_of_the_median_holds_it_as_often_as_it_says():
    """Of 100 values: between the 40th and the 61st, by the binomial distribution."""
    low, high = median_interval(np.arange(100.0))
    below = binom.cdf(low, 100, 0.5)
    assert below <= 0.025
    assert low + high == 99


def test_unsolved_searches_count_as_infinite_and_wrong_stops_as_wrong(worlds):
    outcomes = [
        Outcome(True, 1.5, True, 1.0),
        Outcome(True, 2.5, False, 1.0),
        Outcome(False, math.inf, None, 1.0),
    ]
    row = summarise(File(7, "high", worlds), False, outcomes)
    assert row.solved == pytest.approx(2 / 3)
    assert row.ratio == 2.5
    assert row.stopped == pytest.approx(2 / 3)
    assert row.right == 0.5
    assert row.to_json()["ratio_interval"] == [1.5, None]
    assert row.to_json()["published_ratio"] == 4.0
    assert "0.667" in table([row])


def test_a_source_in_plain_sight_is_found_soon_and_the_same_each_time():
    world = World(np.array([1800.0, 1000.0]), np.array([700.0, 1000.0]), 9e6, 10.0, np.zeros((0, 4)))
    outcome = search(world, (1, 2), True)
    assert outcome.is_solved
    assert 1 <= outcome.ratio <= 6
    again = search(world, (1, 2), True)
    assert again[:3] == outcome[:3]
    assert outcome.ratio * least_readings(world) == pytest.approx(
        round(outcome.ratio * least_readings(world))
    )


@pytest.mark.slow
def test_the_command_runs_the_files_that_are_there(tmp_path, worlds, capsys):
    write(tmp_path / "walls1_high.json", worlds)
    assert run(["leaderboard", "rad-search", "--worlds", str(tmp_path), "--first", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["walls"], row["is_known"], row["worlds"]) for row in found["rows"]] == [
        (1, False, 1),
        (1, True, 1),
    ]
    assert len(found["skipped"]) == 23


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_the_number_of_processes(worlds):
    files, before = [File(1, "high", worlds)], dict(os.environ)
    one, two = (
        [replace(row, milliseconds=0.0) for row in measure(files, 2, 3, jobs=jobs)] for jobs in (1, 2)
    )
    assert one == two
    assert dict(os.environ) == before


def test_without_worlds_it_says_what_is_missing(tmp_path, capsys):
    assert run(["leaderboard", "rad-search", "--worlds", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "Skipped" in output
    assert "--worlds" in output


@pytest.mark.parametrize("arguments", [["--runs", "0"], ["--first", "0"], ["--jobs", "0"]])
def test_numbers_that_are_too_small_are_refused(arguments, capsys):
    assert run(["leaderboard", "rad-search", *arguments]) == 2
    assert "at least 1" in capsys.readouterr().err


def test_a_bad_file_is_one_line(tmp_path, capsys):
    (tmp_path / "walls0_low.json").write_text("{}")
    assert run(["leaderboard", "rad-search", "--worlds", str(tmp_path)]) == 2
    assert "at least one world" in capsys.readouterr().err
