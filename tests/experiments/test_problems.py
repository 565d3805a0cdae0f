"""Problems of a user's own: what is loaded, what is refused, and that runs are those of the Python API."""

from pathlib import Path

import jax
import numpy as np
import own_problem
import pytest

from dowsax.envs import SearchProblem
from dowsax.evaluate import run_episodes, summarise
from dowsax.evaluate.stops import LADDER, TraceRule, trace_rule
from dowsax.experiments.episode_table import write_episodes
from dowsax.experiments.problems import digest_of, open_problem
from dowsax.experiments.records import unpack
from dowsax.experiments.run import Run, episode_keys, problem_settings, require_known
from dowsax.inference import PRESETS, Contraction, Credible
from dowsax.policies import policy_named
from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.encoders import observation_shapes
from dowsax.site import read_site
from dowsax.site.reference import new_site

FILE = Path(own_problem.__file__)
LEAK = f"{FILE}:leak"


def run_of(policy, reference=LEAK, **sizes):
    return Run(policy, **problem_settings(reference), **sizes)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "tank.toml"
    path.write_text(new_site("radiation"))
    return path


def test_a_run_has_the_episodes_of_the_python_api():
    """The same sources, rows and summary, with the rule and the radius of the problem."""
    run = run_of("random", episodes=5, seed=3)
    found = unpack(run.compute(0, 5, lambda ended: None, None))
    problem = own_problem.leak()
    policy = policy_named("random")(problem.model, problem.actions)
    keys = episode_keys(3, "own_problem-leak", np.arange(5))
    rules = (*LADDER, TraceRule("credible", 0.9))
    expected = run_episodes(problem, policy, keys, rules)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        for column, other_column in zip(one.rows, other.rows, strict=True):
            np.testing.assert_array_equal(column, other_column)
        assert (one.max_readings, one.radius) == (other.max_readings, 5.0)
    assert run.rule == TraceRule("credible", 0.9)
    counted = [
        summarise(episodes, run.rule)._replace(seconds_per_episode=None) for episodes in (found, expected)
    ]
    assert counted[0] == counted[1]


def test_a_search_ends_with_its_budget():
    """No path is longer than the budget, and a search that cannot go on has run out."""
    episodes = unpack(run_of("oracle", episodes=6).compute(0, 6, lambda ended: None, None))
    assert all(episode.rows.path_length[-1] <= own_problem.WAY_M + 1e-2 for episode in episodes)
    spent = [episode for episode in episodes if len(episode.rows.spread) == episode.max_readings]
    assert any(episode.max_readings < 8 for episode in spent)
    last = [TraceRule("fixed", float(episode.max_readings)) for episode in spent]
    assert all(rule.first_stop(episode) is None for rule, episode in zip(last, spent, strict=True))


@pytest.mark.parametrize("name", ["location-gain", "infotaxis", "entrotaxis", "dcee", "greedy", "oracle"])
def test_policies_that_choose_among_any_candidates_are_made(name):
    problem, policy = open_problem(LEAK).build(name)
    assert isinstance(problem, SearchProblem)
    assert policy is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pfrl", "needs moves of fixed lengths"),
        ("infotaxis-2", "needs moves of fixed lengths"),
        ("surge-cast", "needs the parameters of the benchmark"),
        ("space-aware", "choose location-gain"),
        ("guess", "Unknown policy 'guess'"),
    ],
)
def test_other_policies_are_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=message) as caught:
        require_known([run_of(name)])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nowhere.py:leak", "Cannot read nowhere.py: No such file"),
        (f"{FILE}:nothing", "has no 'nothing'"),
        (f"{FILE}:number", "got int"),
        (f"{FILE}:BOOTSTRAP", "got Preset"),
        (f"{FILE}:broken", r"own_problem.py, line 49: KeyError: 'leaks'"),
        (f"{FILE}:two words", "as in problems.py:leak"),
        (str(FILE), "as in problems.py:leak"),
        ("nowhere.toml", "Cannot read nowhere.toml"),
    ],
)
def test_bad_references_are_refused_in_one_line(reference, message):
    with pytest.raises(ValueError, match=message) as caught:
        open_problem(reference).build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first = 1\nsecond = first / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("first = (\n", "line 1: SyntaxError"),
        ("import numpy\nimport nonesuch\n", "line 2: ModuleNotFoundError"),
        ("import sys\nsys.exit(1)\n", "line 2: SystemExit"),
    ],
)
def test_an_exception_in_the_file_names_its_line(tmp_path, text, message):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(ValueError, match=message):
        open_problem(f"{tmp_path / 'mine.py'}:problem").build()


def test_a_file_may_import_its_neighbour_and_is_read_again(tmp_path):
    (tmp_path / "neighbour_of_mine.py").write_text(FILE.read_text())
    file = tmp_path / "mine.py"
    file.write_text("from neighbour_of_mine import leak\nproblem = leak()\n")
    source = open_problem(f"{file}:problem")
    assert source.build()[0].max_readings == 8
    file.write_text("from neighbour_of_mine import leak\nproblem = None\n")
    assert digest_of(open_problem(f"{file}:problem")) != digest_of(source)
    with pytest.raises(ValueError, match="got NoneType"):
        open_problem(f"{file}:problem").build()


def test_a_site_is_a_problem_with_its_stop_rule(site):
    """Candidates are places for the planner of sites and its oracle, and steps for the others."""
    settings = problem_settings(str(site))
    place = read_site(site)
    problem, _ = open_problem(str(site)).build()
    assert settings["rule"] == TraceRule("credible", place.search.probability)
    assert float(problem.success_radius) == float(place.found_radius)
    counts = {name: open_problem(str(site)).build(name)[0].actions.num_actions for name in ("oracle", "dcee")}
    assert counts["dcee"] == place.step.directions < counts["oracle"] == problem.actions.num_actions


def test_every_rule_of_a_problem_is_one_of_records():
    assert trace_rule(Contraction(0.7)) == TraceRule("contraction", 0.7)
    assert trace_rule(Credible(radius=9.0, probability=0.8)) == TraceRule("credible", 0.8)
    with pytest.raises(ValueError, match="cannot be applied to records: choose one of contraction"):
        trace_rule(lambda belief: PRESETS)


def test_the_table_of_a_search_in_space_has_three_axes(tmp_path):
    """Of the sensor, of the mean and of the source at the end, in the columns that the prior names."""
    pq = pytest.importorskip("pyarrow.parquet")
    run = run_of("random", f"{FILE}:in_space", episodes=2)
    episodes = unpack(run.compute(0, 2, lambda ended: None, None))
    write_episodes(tmp_path / "table.parquet", {run: episodes}, own_problem.in_space().model, run.rules)
    found = pq.read_table(tmp_path / "table.parquet")
    for place, axis in enumerate("xyz"):
        ends = [episode.final_theta[1 + place] for episode in episodes]
        np.testing.assert_array_equal(found[f"final_{axis}"].to_numpy(), ends)
        for name in ("position", "mean"):
            rows = [getattr(episode.rows, name)[:, place] for episode in episodes]
            np.testing.assert_array_equal(
                np.concatenate(found[f"{name}_{axis}"].to_pylist()), np.concatenate(rows)
            )


def test_the_network_of_a_search_in_space_has_its_observations():
    """The shapes that are known beforehand are those of an observation."""
    problem = own_problem.in_space()
    encoder = CandidateEncoder.build(problem.model, problem.actions)
    state, _ = problem.reset(jax.random.key(0))
    left = state.belief, state.station, problem.candidates(state), problem.budget_left(state)
    observation = encoder(jax.random.key(1), *left)
    shapes = observation_shapes(encoder, problem.model, problem.actions)
    assert jax.tree.map(np.shape, observation) == jax.tree.map(lambda leaf: leaf.shape, shapes)
