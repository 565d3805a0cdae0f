"""A search problem with reward and observation, and the compiled functions behind Gymnasium."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Int, UInt32

from dowsax.envs.environment import Environment, Measures, auto_reset, build
from dowsax.envs.observations import OBSERVATIONS, Observe
from dowsax.envs.problem import MAX_READINGS, SearchProblem, SearchState
from dowsax.envs.rewards import REWARDS, Reward
from dowsax.envs.scenarios import SCENARIOS, Scenario
from dowsax.inference import PRESETS, Contraction, Credible, EntropyBelow, FixedSteps, MaxWeight, Preset
from dowsax.inference.stopping import StopRule
from dowsax.types import Key, Scalar
from dowsax.world import MODALITIES, Model, benchmark_model

STOPS: dict[str, StopRule] = {
    "credible": Credible(),
    "contraction": Contraction(),
    "entropy": EntropyBelow(),
    "max-weight": MaxWeight(),
    "fixed": FixedSteps(),
}
Bits = UInt32[Array, "2"]


class Task(eqx.Module):
    """A search problem with a reward and an observation. Equal tasks share compiled programs."""

    problem: SearchProblem
    reward: Reward
    observe: Observe

    @property
    def num_features(self) -> int:
        """The number of features of an observation."""
        state = jax.eval_shape(self.problem.prepare, jax.random.key(0))
        return jax.eval_shape(self.observe, state).shape[0]

    def environment(self) -> Environment:
        """Build the pure environment."""
        return build(self.problem, reward=self.reward, observe=self.observe)


def assemble(
    field: str | Model | None = None,
    scenario: str | Scenario | None = None,
    preset: str | Preset | None = None,
    stop: str | StopRule | None = None,
    reward: str | Reward = "indicator",
    observation: str = "belief",
    particles: int | None = None,
    max_readings: int | None = None,
    *,
    problem: Any = None,
) -> Task:
    """Assemble a task from names or objects; `particles` replaces the preset's number of particles.

    `problem` is a search problem of your own, in place of field, scenario, preset, stop rule and sizes.
    """
    of_problem = {
        "field": field,
        "scenario": scenario,
        "preset": preset,
        "stop": stop,
        "particles": particles,
        "max_readings": max_readings,
    }
    given = [name for name, choice in of_problem.items() if choice is not None]
    if problem is None:
        problem = _benchmark_problem(**{name: of_problem[name] for name in given})
    elif given:
        raise ValueError(f"`{given[0]}` is part of the problem: give either a problem or `{given[0]}`.")
    elif not isinstance(problem, SearchProblem):
        raise ValueError(f"Not a search problem: {problem!r}; build one with `dowsax.envs.SearchProblem`.")
    if problem.max_readings < 2:
        most = problem.max_readings
        raise ValueError(f"`max_readings` must be at least 2, with the one at the start; got {most}.")
    _require_station(problem)
    return Task(
        problem,
        choose("reward", reward, REWARDS, Reward),
        choose("observation", observation, OBSERVATIONS, str)(problem),
    )


def _require_station(problem: SearchProblem) -> None:
    """Raise a ValueError if the field cannot be evaluated at the first station."""

    def read(key: Key) -> Scalar:
        station = problem.first_station(key)
        return problem.model.intensity(problem.model.prior.sample(key), station)

    try:
        jax.eval_shape(read, jax.random.key(0))
    except (AttributeError, TypeError) as failure:
        raise ValueError(
            "The field cannot be evaluated at the first station: give the problem a `start` that returns a "
            f"Station with everything that the field needs, such as wind or altitude ({failure})."
        ) from failure


def _benchmark_problem(
    field: str | Model = "temperature",
    scenario: str | Scenario = "id",
    preset: str | Preset = "default",
    stop: str | StopRule = "credible",
    particles: int | None = None,
    max_readings: int = MAX_READINGS,
) -> SearchProblem:
    """Return a search in the benchmark's square."""
    chosen = choose("preset", preset, PRESETS, Preset)
    if particles is not None:
        chosen = chosen.with_particles(particles)
    if isinstance(field, str):
        choose("field", field, MODALITIES, str)
    return SearchProblem(
        benchmark_model(field) if isinstance(field, str) else field,
        chosen,
        choose("scenario", scenario, SCENARIOS, Scenario),
        max_readings=max_readings,
        stop=choose("stop rule", stop, STOPS, StopRule),
    )


def choose(kind: str, choice: Any, known: dict[str, Any], of: type) -> Any:
    """Return the object of a name, or the object itself; raise a ValueError in one line otherwise."""
    if isinstance(choice, str):
        if choice not in known:
            raise ValueError(f"Unknown {kind} {choice!r}; known are {', '.join(known)}.")
        return known[choice]
    if not isinstance(choice, of):
        raise ValueError(f"Not a {kind}: {choice!r}; known by name are {', '.join(known)}.")
    return choice


@eqx.filter_jit
def reset_search(task: Task, bits: Bits) -> tuple[Key, SearchState, tuple[Array, Measures]]:
    """Start a search from 64 random bits; return the key of its steps, its state, and what is seen of it."""
    reset_key, step_key = jax.random.split(_key(bits))
    environment = task.environment()
    state, observation = environment.reset(reset_key)
    return step_key, state, (observation, environment.measure(state))


@eqx.filter_jit
def step_search(task: Task, step_key: Key, state: SearchState, action: Int[Array, ""]):
    """Make one move. Its randomness depends only on the key of the search and the number of readings."""
    key = jax.random.fold_in(step_key, state.belief.history.size)
    state, step = task.environment().step(key, state, action)
    return state, (step.observation, step.measures, step.reward, step.terminated, step.truncated)


@eqx.filter_jit
def reset_searches(
    task: Task, bits: Bits, num_searches: int
) -> tuple[Key, SearchState, tuple[Array, Measures]]:
    """Start many searches; return the key of their steps, their states, and what is seen of them."""
    reset_key, step_key = jax.random.split(_key(bits))
    environment = task.environment()
    states, observations = jax.vmap(environment.reset)(jax.random.split(reset_key, num_searches))
    return step_key, states, (observations, jax.vmap(environment.measure)(states))


@eqx.filter_jit
def masks_of(task: Task, states: SearchState) -> Bool[Array, "batch actions"]:
    """Return which candidates each search can reach."""
    return jax.vmap(lambda state: task.problem.candidates(state).mask)(states)


@eqx.filter_jit
def step_searches(
    task: Task,
    step_key: Key,
    states: SearchState,
    actions: Int[Array, " batch"],
    number: Int[Array, ""],
):
    """Make the `number`-th move of each search, and reset the searches that end."""
    keys = jax.random.split(jax.random.fold_in(step_key, number), actions.shape[0])
    states, done = auto_reset(task.environment())(keys, states, actions)
    step, final = done.step, (done.final_observation, done.final_measures)
    seen = step.observation, step.measures, step.reward, step.terminated, step.truncated
    return states, (*seen, *final)


def _key(bits: Bits) -> Key:
    return jax.random.fold_in(jax.random.key(bits[0]), bits[1])
