"""Scenarios: where the source is, where the particles start, and whether the source moves.

The prior of the filter is the model's in every scenario; the true source or the initial particles differ.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from dowsax.types import Key, Theta
from dowsax.world import LOCATIONS, Jump, PlumePrior, Prior, Transition, position_columns, put_position

Sources = Callable[[Prior, Key], Theta]


@dataclass(frozen=True)
class Scenario:
    """The true source, the initial particles, and what changes during the search."""

    sources: Sources
    """`(prior, key) -> theta`: the true source."""
    initial: Prior | None = None
    """The distribution of the initial particles. Default: the model's prior."""
    jump_after: int | None = None
    """The reading, counted from 1, after which the position of the source is drawn again."""
    transition: Jump | Transition | None = None
    """How the source may jump or drift according to the filter, if the preset follows jumps."""
    moves: Jump | Transition | None = None
    """How the source does jump or drift, at every reading after the first."""
    meaning: str = ""

    def __post_init__(self) -> None:
        if self.jump_after is not None and self.jump_after < 1:
            raise ValueError(f"`jump_after` must be a number of readings >= 1; got {self.jump_after}.")


def from_prior(prior: Prior, key: Key) -> Theta:
    """Draw the source from the prior of the model."""
    return prior.sample(key)


def inside(*boxes: tuple[tuple[float, ...], tuple[float, ...]]) -> Sources:
    """Draw sources in boxes ((x, y) low, (x, y) high) [m], equally likely; the rest of Θ from the prior."""

    def sample(prior: Prior, key: Key) -> Theta:
        rest_key, place_key, box_key = jax.random.split(key, 3)
        lows, highs = (jnp.array([box[end] for box in boxes]) for end in (0, 1))
        which = jax.random.randint(box_key, (), 0, len(boxes))
        place = jax.random.uniform(place_key, lows.shape[1:], minval=lows[which], maxval=highs[which])
        return put_position(prior.sample(rest_key), place, position_columns(prior))

    return sample


OOD_TRAINING = ((10.0, 10.0), (15.0, 15.0))
OOD_WEST = ((5.0, 15.0), (10.0, 20.0))
OOD_EAST = ((15.0, 15.0), (20.0, 20.0))
SHIFT_AFTER = 15

_SHAPES = {
    f"prior-{name.replace('_', '-')}": Scenario(
        from_prior, initial=PlumePrior(location=location()), meaning=f"particles start in the shape {name}"
    )
    for name, location in LOCATIONS.items()
}

SCENARIOS: dict[str, Scenario] = {
    "id": Scenario(from_prior, meaning="sources from the prior"),
    "ood": Scenario(inside(OOD_WEST, OOD_EAST), meaning="sources in either of the two outer regions"),
    "ood-west": Scenario(inside(OOD_WEST), meaning="sources in (5, 10) x (15, 20)"),
    "ood-east": Scenario(inside(OOD_EAST), meaning="sources in (15, 20) x (15, 20)"),
    "ood-training": Scenario(inside(OOD_TRAINING), meaning="sources in (10, 15) x (10, 15)"),
    "shift": Scenario(
        from_prior, jump_after=SHIFT_AFTER, transition=Jump(), meaning="the source moves after reading 15"
    ),
    **_SHAPES,
}
