"""Walks of simulated surveys: a random one, and one towards a target."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Key, Position
from dowsax.world.motion import AREA_SIDE_M, START_SIDE_M, UNIT_MOVES_M

_KEEP_HEADING_PROBABILITY = 0.6
_AIM_PROBABILITY = 0.8
_NEAR_M = 0.5

Path = Float[Array, "length 2"]
Heading = Int[Array, ""]


def wander(key: Key, length: int) -> Path:
    """Return a persistent random walk of unit moves: a new direction is drawn with probability 0.4."""

    def choose(key: Key, position: Position, heading: Heading) -> tuple[Position, Heading]:
        del position
        heading = _next_heading(key, heading)
        return jnp.array(UNIT_MOVES_M)[heading], heading

    return _walk(key, length, choose)


def approach(key: Key, target: Position, length: int, start: Position | None = None) -> Path:
    """Return a walk to the target: with probability 0.8 a unit move towards it, otherwise one of `wander`.

    The axis of a move is drawn in proportion to the remaining offset. Within 0.5 m of the target on both axes
    the move is random. Default start: uniform in the corner where searches start.
    """

    def choose(key: Key, position: Position, heading: Heading) -> tuple[Position, Heading]:
        aim_key, axis_key, random_key, wander_key = jax.random.split(key, 4)
        offset = target - position
        size = jnp.abs(offset)
        # Multiplied out, so that standing on the target does not divide by zero.
        east = jax.random.uniform(axis_key) * jnp.sum(size) < size[0]
        direct = jnp.where(jnp.stack([east, ~east]), jnp.sign(offset), 0.0)
        anywhere = jnp.array(UNIT_MOVES_M)[jax.random.randint(random_key, (), 0, len(UNIT_MOVES_M))]
        aimed = jnp.where(jnp.max(size) < _NEAR_M, anywhere, direct)
        turned = _next_heading(wander_key, heading)
        aims = jax.random.uniform(aim_key) < _AIM_PROBABILITY
        return jnp.where(aims, aimed, jnp.array(UNIT_MOVES_M)[turned]), jnp.where(aims, heading, turned)

    return _walk(key, length, choose, start)


def _next_heading(key: Key, heading: Heading) -> Heading:
    turn_key, heading_key = jax.random.split(key)
    other = jax.random.randint(heading_key, (), 0, len(UNIT_MOVES_M))
    return jnp.where(jax.random.uniform(turn_key) < _KEEP_HEADING_PROBABILITY, heading, other)


def _walk(key: Key, length: int, choose, start: Position | None = None) -> Path:
    """Return the positions of a walk by `choose(key, position, heading)`, clipped at the border."""
    start_key, heading_key, moves_key = jax.random.split(key, 3)
    if start is None:
        start = jax.random.uniform(start_key, (2,), maxval=START_SIDE_M)
    heading = jax.random.randint(heading_key, (), 0, len(UNIT_MOVES_M))

    def advance(carry, key):
        position, heading = carry
        move, heading = choose(key, position, heading)
        return (jnp.clip(position + move, 0.0, AREA_SIDE_M), heading), position

    _, path = jax.lax.scan(advance, (start, heading), jax.random.split(moves_key, length))
    return path
