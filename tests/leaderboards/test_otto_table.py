"""The table of the olfactory search, and its command."""

import json

import jax
import pytest

from dowsax.cli import run
from dowsax.leaderboards.otto_table import chosen, measure, table


def test_all_are_chosen_unless_named():
    cases, policies = chosen(None, None)
    assert len(cases) == 4
    assert policies == ["infotaxis", "space-aware", "planner", "network"]
    assert chosen(["windy-low"], ["network"])[0] == cases[3:]


def test_a_row_does_not_depend_on_the_others():
    cases, _ = chosen(["isotropic-19x19"], None)
    both = list(measure(cases, ["infotaxis", "space-aware"], 3, 7))
    alone = list(measure(cases, ["space-aware"], 3, 7))
    assert both[1].steps == alone[0].steps
    assert both[0].steps != both[1].steps
    assert "isotropic 19x19 | space-aware infotaxis | 3 " in table(alone)
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize(("option", "known"), [("--case", "windy-low"), ("--policy", "space-aware")])
def test_unknown_names_are_errors(option, known, capsys):
    assert run(["leaderboard", "otto", option, "none"]) != 0
    assert known in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_case_and_policy(capsys):
    assert run(["leaderboard", "otto", "--rollouts", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 16
    assert all(row["steps"] > 1 for row in rows)
