"""Many searches as one Gymnasium vector environment: all of them move in one compiled call."""

from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dowsax.envs.environment import Measures
from dowsax.envs.gym import METADATA, random_bits, require_render_mode, spaces_of
from dowsax.envs.picture import draw, scene
from dowsax.envs.problem import SearchState
from dowsax.envs.task import assemble, masks_of, reset_searches, step_searches
from dowsax.types import Key


class SearchVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """A batch of `SearchEnv`. A search that ends is reset in the same step (`SAME_STEP`).

    The observation is then that of the new search; the last one of the old search and its measures are
    `final_obs` and `final_info` of the info, where `_final_obs` and `_final_info` are true.
    """

    metadata = METADATA | {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **choices: Any) -> None:
        """Take the keywords of `task.assemble`: names of the benchmark, or a `problem` of your own."""
        if num_envs < 1:
            raise ValueError(f"`num_envs` must be at least 1; got {num_envs}.")
        require_render_mode(render_mode)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.task = assemble(**choices)
        self.single_observation_space, self.single_action_space = spaces_of(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._key: Key | None = None
        self._states: SearchState | None = None
        self._moves = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset every search. With a seed, everything until the next seed is reproducible."""
        if options and "reset_mask" in options:
            raise ValueError("`reset_mask` is not supported: a search that ends is reset by itself.")
        super().reset(seed=seed, options=options)
        bits = random_bits(self.np_random)
        self._key, self._states, seen = reset_searches(self.task, bits, self.num_envs)
        self._moves = 0
        observations, measures = jax.device_get(seen)
        return np.array(observations), _infos(measures, np.ones(self.num_envs, bool))

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Make one move and take one reading in each search."""
        if self._states is None or self._key is None:
            raise gymnasium.error.ResetNeeded("No search is under way: call `reset` before `step`.")
        moves, number = jnp.asarray(self._as_actions(actions)), jnp.asarray(self._moves, jnp.int32)
        self._states, outcome = step_searches(self.task, self._key, self._states, moves, number)
        self._moves += 1
        observations, measures, rewards, terminated, truncated, last, final = jax.device_get(outcome)
        infos = _infos(measures, np.ones(self.num_envs, bool))
        terminated, truncated = np.array(terminated), np.array(truncated)
        ended = terminated | truncated
        if ended.any():
            final_observations = np.full(self.num_envs, None, dtype=object)
            for place in np.flatnonzero(ended):
                final_observations[place] = last[place].copy()
            infos |= {
                "final_obs": final_observations,
                "_final_obs": ended,
                "final_info": _infos(final, ended),
                "_final_info": ended.copy(),
            }
        return np.array(observations), np.array(rewards, np.float64), terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """Return which candidates each search can reach now, for learners that mask actions."""
        if self._states is None:
            raise gymnasium.error.ResetNeeded("There is no search yet: call `reset` first.")
        return np.asarray(masks_of(self.task, self._states))

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Draw one picture of each search."""
        if self.render_mode is None:
            gymnasium.logger.warn('Nothing is drawn without a render mode: make it with "rgb_array".')
            return None
        if self._states is None:
            raise gymnasium.error.ResetNeeded("There is nothing to draw yet: call `reset` before `render`.")
        states = jax.device_get(self._states)
        members = [jax.tree.map(lambda leaf, at=place: leaf[at], states) for place in range(self.num_envs)]
        return tuple(draw(scene(self.task.problem, state, "searching")) for state in members)

    def _as_actions(self, actions: Any) -> np.ndarray:
        """Return one action for each search, or raise a ValueError in one line."""
        numbers, last = np.asarray(actions), self.task.problem.actions.num_actions - 1
        wanted = numbers.shape == (self.num_envs,) and np.issubdtype(numbers.dtype, np.integer)
        if not wanted or numbers.min() < 0 or numbers.max() > last:
            raise ValueError(
                f"Actions must be {self.num_envs} whole numbers from 0 to {last}; got {actions!r}."
            )
        return numbers.astype(np.int32)


def _infos(measures: Measures, present: np.ndarray) -> dict[str, Any]:
    """Return the measures by name, each with a mask; 0 where not present."""
    infos: dict[str, Any] = {}
    for name, column in measures._asdict().items():
        values = np.where(present, column, 0.0)
        infos[name] = values.astype(np.int64 if name == "readings" else np.float64)
        infos[f"_{name}"] = present.copy()
    return infos
