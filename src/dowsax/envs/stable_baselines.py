"""Many searches as a vector environment of Stable-Baselines3, whose interface is older than Gymnasium's.

`VecEnv` is an abstract base class: `SearchVecEnv` has its whole interface and is registered with it, so that
learners accept it, and nothing of Stable-Baselines3 is imported before one is made.
"""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from dowsax.envs.gym_vector import SearchVectorEnv

Indices = int | Iterable[int] | None
_SEED_BITS = 32


class SearchVecEnv:
    """A batch of searches for Stable-Baselines3: `PPO("MlpPolicy", SearchVecEnv(64, problem=problem))`.

    A search that ends is reset in the same step. Its last observation is then `terminal_observation` of its
    info, where `TimeLimit.truncated` tells a budget that ran out from a stop.
    """

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **choices: Any) -> None:
        """Take the keywords of `task.assemble`: names of the benchmark, or a `problem` of your own."""
        register()
        self.vector = SearchVectorEnv(num_envs, render_mode, **choices)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space
        self.metadata = {"render_modes": [] if render_mode is None else [render_mode]}
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self._seed: int | None = None
        self._actions: np.ndarray | None = None

    def reset(self) -> np.ndarray:
        """Reset every search, with the seed of `seed` if one was given since the last reset."""
        observations, infos = self.vector.reset(seed=self._seed)
        self._seed, self._actions = None, None
        self.reset_infos = [_info_at(infos, place) for place in range(self.num_envs)]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Make one move in each search; return observations, rewards, endings and infos."""
        if self._actions is None:
            raise ValueError("No actions are pending: call `step_async` before `step_wait`.")
        observations, rewards, terminated, truncated, batch = self.vector.step(self._actions)
        self._actions = None
        ended = terminated | truncated
        infos = [_info_at(batch, place) for place in range(self.num_envs)]
        for place in np.flatnonzero(ended).tolist():
            self.reset_infos[place] = infos[place]
            infos[place] = _info_at(batch["final_info"], place)
            infos[place]["terminal_observation"] = batch["final_obs"][place]
        for place, info in enumerate(infos):
            info["TimeLimit.truncated"] = bool(truncated[place])
        return observations, rewards.astype(np.float32), ended, infos

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Make one move in each search."""
        self.step_async(actions)
        return self.step_wait()

    def seed(self, seed: int | None = None) -> Sequence[int]:
        """Set the seed of the next `reset`, at random by default. One seed decides about all searches."""
        self._seed = int(np.random.default_rng().integers(2**_SEED_BITS)) if seed is None else seed
        return [self._seed] * self.num_envs

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Refuse options, as searches have none."""
        if options:
            raise ValueError(f"A search has no options of `reset`; got {options!r}.")

    def close(self) -> None:
        """Close the searches."""
        self.vector.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether searches have an attribute."""
        return hasattr(self.vector, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute once for each search: all have the same."""
        return [getattr(self.vector, attr_name) for _ in self._places(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of all searches; it cannot be set of some alone."""
        if len(self._places(indices)) < self.num_envs:
            raise ValueError("Searches share their attributes: set one of all, without `indices`.")
        setattr(self.vector, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the batch, such as `action_masks`; return what it says of each search."""
        results = getattr(self.vector, method_name)(*method_args, **method_kwargs)
        return [None if results is None else results[place] for place in self._places(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Whether each search is wrapped: none is."""
        del wrapper_class
        return [False for _ in self._places(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return one picture of each search."""
        return self.vector.render() or [None] * self.num_envs

    def render(self, mode: str | None = None) -> np.ndarray | None:
        """Draw all searches side by side, as (height, width, 3) bytes."""
        del mode
        pictures = self.vector.render()
        return None if pictures is None else np.concatenate(pictures, axis=1)

    @property
    def unwrapped(self) -> "SearchVecEnv":
        return self

    def getattr_depth_check(self, name: str, already_found: bool) -> str | None:
        """Return the name of this class if it has an attribute that a wrapper around it has, too."""
        is_hidden = already_found and hasattr(self, name)
        return f"{type(self).__module__}.{type(self).__name__}" if is_hidden else None

    def _places(self, indices: Indices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


def register() -> None:
    """Make Stable-Baselines3, where it is installed, take `SearchVecEnv` for one of its own."""
    if find_spec("stable_baselines3") is not None:
        from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]

        VecEnv.register(SearchVecEnv)


def _info_at(infos: dict[str, Any], place: int) -> dict[str, Any]:
    """Return the measures of one search."""
    names = [name for name in infos if f"_{name}" in infos and not name.startswith("final_")]
    return {name: infos[name][place].item() for name in names}
