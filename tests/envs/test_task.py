"""Problems by name or by object; what is unknown is refused in one line that says what there is."""

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest
from walks import BOOTSTRAP, NEVER

from dowsax.envs import REWARDS, SCENARIOS, Scenario, SearchProblem, from_prior
from dowsax.envs.task import STOPS, assemble, choose
from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS, Credible
from dowsax.inference.stopping import StopRule
from dowsax.types import Station
from dowsax.world import MODALITIES, Fence, NearAndFar, UniformBox, benchmark_model, compose


def test_names_stand_for_what_they_name():
    task = assemble(
        "gas", "shift", "paper", "contraction", "right-stop", "raw", particles=99, max_readings=40
    )
    assert task.problem.model == benchmark_model("gas")
    assert task.problem.scenario is SCENARIOS["shift"]
    assert task.problem.preset == PRESETS["paper"].with_particles(99)
    assert task.problem.max_readings == 40
    assert task.problem.stop is STOPS["contraction"]
    assert task.reward is REWARDS["right-stop"]
    assert task.num_features == 3
    assert assemble().num_features == 17


def test_objects_are_taken_as_they_are():
    model, scenario = benchmark_model("energy"), Scenario(from_prior)
    task = assemble(model, scenario, BOOTSTRAP, NEVER, REWARDS["entropy"])
    assert task.problem.model is model
    assert task.problem.scenario is scenario
    assert task.problem.preset is BOOTSTRAP
    assert task.problem.stop is NEVER


@pytest.mark.parametrize(
    ("setting", "known"),
    [
        ("field", MODALITIES),
        ("scenario", SCENARIOS),
        ("preset", PRESETS),
        ("stop", STOPS),
        ("reward", REWARDS),
        ("observation", {"belief": 0, "raw": 0}),
    ],
)
def test_an_unknown_name_is_answered_by_the_known_ones(setting, known):
    with pytest.raises(ValueError, match=r"Unknown .* 'bogus'; known are ") as caught:
        assemble(**{setting: "bogus"})
    assert all(name in str(caught.value) for name in known)
    assert "\n" not in str(caught.value)


def test_what_is_neither_name_nor_object_is_refused():
    with pytest.raises(ValueError, match=r"Not a stop rule: 3; known by name are credible, .*fixed\."):
        choose("stop rule", 3, STOPS, StopRule)
    assert choose("stop rule", "credible", STOPS, StopRule) == Credible()


@pytest.mark.parametrize(
    ("settings", "line"),
    [({"max_readings": 1}, "`max_readings` must be at least 2"), ({"particles": 3}, "at least 16")],
)
def test_numbers_out_of_range_are_refused(settings, line):
    with pytest.raises(ValueError, match=line):
        assemble(**settings)


def test_a_problem_of_ones_own():
    """A field that needs wind and height, far from the square, with candidates near and far."""
    model = compose("gas-plume", UniformBox((900.0, 900.0), (1000.0, 1000.0)), wind="measured")
    first = Station(jnp.array([910.0, 910.0]), wind=jnp.array([2.0, 1.0]), altitude=jnp.float32(1.5))
    actions = NearAndFar(Fence.of(Bounds()), (900.0, 900.0), (1000.0, 1000.0), lengths=(5.0, 20.0))
    problem = SearchProblem(
        model,
        PRESETS["training"].with_particles(64),
        SCENARIOS["id"],
        actions,
        max_readings=4,
        start=lambda key: first,
        stop=Credible(5.0, 0.9),
    )
    env = gymnasium.make("dowsax/Search-v0", problem=problem)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert observation.shape == (3 + 2 * len(model.prior.parameters),)
    assert env.action_space.n == 2 * 8 + 16
    here = np.asarray(env.unwrapped.station.position)
    assert here.tolist() == [910.0, 910.0]
    observation, _, _, _, info = env.step(8)
    assert observation in env.observation_space
    moved = np.asarray(env.unwrapped.station.position) - here
    # The first place of the second ring, which is turned by half an angle.
    expected = 20.0 * np.array([np.cos(np.pi / 8), np.sin(np.pi / 8)])
    assert moved == pytest.approx(expected, abs=1e-3)
    assert info["path_length"] == pytest.approx(20.0, abs=1e-3)
    assert "error" in info
    assert env.unwrapped.task.num_features == 3 + 2 * len(model.prior.parameters)
    with pytest.raises(ValueError, match="`field` is part of the problem"):
        assemble("gas", problem=problem)
    with pytest.raises(ValueError, match="Not a search problem"):
        assemble(problem="gas")
