"""One search as a Gymnasium environment: a key, a state and conversions. Every rule is in `environment`."""

import operator
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from dowsax.envs.environment import Measures
from dowsax.envs.picture import draw, scene
from dowsax.envs.problem import SearchState
from dowsax.envs.task import Task, assemble, reset_search, step_search
from dowsax.inference import Belief
from dowsax.types import Key, Station
from dowsax.world import Budget, Candidates

RENDER_MODES = ("rgb_array",)
METADATA: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 8}


class SearchEnv(gymnasium.Env[np.ndarray, np.int64]):
    """Find the source: go to one of the candidates, with a reading after every move.

    In the benchmark they are 1 m to the east, west, north or south (0 to 3).

    Observations are numbers in [−1, 1]: `belief` is position, reading, and mean and standard deviation of
    the belief about the source; `raw` is position and reading. `terminated` is true when the stop rule is
    met, `truncated` when the readings run out or no particle is left. `info` holds `Measures`; its `error`
    needs the true source, which only a simulation knows.
    """

    metadata = METADATA

    def __init__(self, render_mode: str | None = None, **choices: Any) -> None:
        """Take the keywords of `task.assemble`: names of the benchmark, or a `problem` of your own."""
        require_render_mode(render_mode)
        self.render_mode = render_mode
        self.task = assemble(**choices)
        self.observation_space, self.action_space = spaces_of(self.task)
        self._key: Key | None = None
        self._state: SearchState | None = None
        self._status = "searching"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a new search. With a seed, everything until the next seed is reproducible bit for bit."""
        super().reset(seed=seed, options=options)
        self._key, self._state, seen = reset_search(self.task, random_bits(self.np_random))
        self._status = "searching"
        observation, measures = jax.device_get(seen)
        return np.array(observation), info_of(measures)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Make one move and take one reading."""
        if self._state is None or self._key is None or self._status != "searching":
            raise gymnasium.error.ResetNeeded("No search is under way: call `reset` before `step`.")
        number = as_action(action, self.task)
        self._state, outcome = step_search(self.task, self._key, self._state, jnp.asarray(number, jnp.int32))
        observation, measures, reward, terminated, truncated = jax.device_get(outcome)
        info = info_of(measures)
        if terminated or truncated:
            self._status = ending(bool(terminated), info["spread"])
        return np.array(observation), float(reward), bool(terminated), bool(truncated), info

    @property
    def belief(self) -> Belief:
        """The current belief, which planners and trained policies act on."""
        return self._require_state().belief

    @property
    def station(self) -> Station:
        """The station of the newest reading."""
        return self._require_state().station

    @property
    def policy_inputs(self) -> tuple[Belief, Station, Candidates, Budget]:
        """What a policy needs besides a key: `policy(key, *inputs)` is the next action."""
        state, search = self._require_state(), self.task.problem
        return state.belief, state.station, search.candidates(state), search.budget_left(state)

    def action_masks(self) -> np.ndarray:
        """Return which candidates can be reached now, for learners that mask actions."""
        return np.asarray(self.task.problem.candidates(self._require_state()).mask)

    def _require_state(self) -> SearchState:
        if self._state is None:
            raise gymnasium.error.ResetNeeded("There is no search yet: call `reset` first.")
        return self._state

    def render(self) -> np.ndarray | None:
        """The field, the path, the particles, their mean and the source, as (height, width, 3) bytes."""
        if self.render_mode is None:
            gymnasium.logger.warn('Nothing is drawn without a render mode: make it with "rgb_array".')
            return None
        return draw(scene(self.task.problem, self._require_state(), self._status))


def spaces_of(task: Task) -> tuple[spaces.Box, spaces.Discrete]:
    """Return the observation space and the action space of one search."""
    observation_space = spaces.Box(-1.0, 1.0, (task.num_features,), np.float32)
    return observation_space, spaces.Discrete(task.problem.actions.num_actions)


def random_bits(generator: np.random.Generator) -> jax.Array:
    """Draw the seed of one search: 64 bits of Gymnasium's generator."""
    return jnp.asarray(generator.integers(2**32, size=2, dtype=np.uint32))


def info_of(measures: Measures) -> dict[str, Any]:
    """Return the measures by name."""
    info: dict[str, Any] = {name: float(number) for name, number in measures._asdict().items()}
    info["readings"] = int(info["readings"])
    return info


def as_action(action: Any, task: Task) -> int:
    """Return the action as a number, or raise a ValueError in one line."""
    last = task.problem.actions.num_actions - 1
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number <= last:
        raise ValueError(f"An action must be a whole number from 0 to {last}; got {action!r}.")
    return number


def ending(terminated: bool, spread: float) -> str:
    """Say in words why a search is over."""
    if terminated:
        return "stopped"
    return "out of readings" if np.isfinite(spread) else "no particle left"


def require_render_mode(render_mode: str | None) -> None:
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"Unknown render mode {render_mode!r}; known are {', '.join(RENDER_MODES)}.")
