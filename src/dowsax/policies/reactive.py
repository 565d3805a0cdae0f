"""Policies that react: against the wind while the readings are high, a search pattern when they are not.

Their only memory is the history in the belief, of which they use nothing else but the wind.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dowsax.inference import Belief
from dowsax.inference.belief import History
from dowsax.inference.summaries import mean
from dowsax.policies.base import Action, choose_best
from dowsax.types import Key, Position, Scalar, Station
from dowsax.world import FOUR_MOVES, Budget, Candidates, Motion, Sensor
from dowsax.world.source import unpack

_NUM_DRAWS = 8192
_MIN_LENGTH = 1e-9
# Below any score of a move that leads forward.
_BACKWARD_SCORE = -1e3


class Trail(NamedTuple):
    """The memory of a reactive policy."""

    high: Bool[Array, ""]
    """Whether the newest reading is high."""
    lost: Float[Array, ""]
    """Readings since the last high one."""
    anchor: Position
    """[m], where that was; the first station when no reading was high."""


class SurgeCast(eqx.Module):
    """Surge against the wind; when lost, cast across it, about the last high reading, ever more widely."""

    clean: Scalar
    """The highest reading without a source; see `clean_air`."""
    motion: Motion = FOUR_MOVES
    share: float = 0.95
    """Of the earlier readings that lie below a high one; see `recall`."""
    width: float = 4.0
    """[m], each leg of the cast ends this much further out than the one before."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        del budget
        trail, upwind = recall(belief.history, self.clean, self.share), against_wind(belief, station)
        across = growing_wave(trail.lost * stride(self.motion), self.width)
        return pursue(
            key, self.motion, station.position, candidates.mask, upwind, trail, (jnp.zeros(()), across)
        )


class Zigzag(eqx.Module):
    """Surge against the wind; when lost, still against it, but in a zigzag about the last high reading."""

    clean: Scalar
    """The highest reading without a source; see `clean_air`."""
    motion: Motion = FOUR_MOVES
    share: float = 0.95
    """Of the earlier readings that lie below a high one; see `recall`."""
    width: float = 8.0
    """[m], from side to side."""
    climb: float = 0.5
    """[m] against the wind for each metre walked: the cosine of the angle between the path and the wind."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        del budget
        trail, upwind = recall(belief.history, self.clean, self.share), against_wind(belief, station)
        walked = trail.lost * stride(self.motion)
        across = even_wave(walked * jnp.sqrt(1.0 - self.climb**2), self.width)
        return pursue(
            key, self.motion, station.position, candidates.mask, upwind, trail, (self.climb * walked, across)
        )


def clean_air(sensor: Sensor) -> Scalar:
    """Return the level that one reading in a thousand exceeds without a source; the same in every run."""
    station = Station(jnp.zeros(2))
    draw = jax.vmap(lambda key: sensor.sample(key, jnp.zeros(()), station))
    return jnp.quantile(draw(jax.random.split(jax.random.key(0), _NUM_DRAWS)), 0.999)


def recall(history: History, clean: Scalar, share: float | Scalar) -> Trail:
    """Find the last high reading.

    A reading is high when it is above `clean` and at least `share` of the earlier ones lie below it. The
    first condition rejects noise, the second notices when a plume fades. Both work for levels in decibel,
    counts over a background, and readings that are mostly zero.
    """
    numbers = jnp.arange(history.readings.shape[0])
    earlier = numbers[None, :] < numbers[:, None]
    below = earlier & (history.readings[None, :] < history.readings[:, None])
    enough = jnp.sum(below, axis=1) >= share * numbers
    high = enough & (history.readings > clean) & (numbers < history.size)
    last = jnp.max(numbers, where=high, initial=0)
    lost = jnp.maximum(history.size - 1 - last, 0)
    return Trail(jnp.any(high) & (lost == 0), lost.astype(jnp.float32), history.stations.position[last])


def against_wind(belief: Belief, station: Station) -> Position:
    """Return the unit vector against the measured wind, or else the mean wind of the belief; zero if calm."""
    source = unpack(mean(belief))
    wind = jnp.stack([source.wind_x, source.wind_y]) if station.wind is None else station.wind
    return -wind / jnp.maximum(jnp.linalg.norm(wind), _MIN_LENGTH)


def stride(motion: Motion) -> Scalar:
    """Return the length [m] of the longest move."""
    return jnp.max(jnp.linalg.norm(jnp.array(motion.moves), axis=1))


def growing_wave(walked: Scalar, width: float | Scalar) -> Scalar:
    r"""Return where [m] a cast is after a walk: legs to $w, -2w, 3w, …$; $j$ of them are $j^2 w$ long."""
    leg = jnp.maximum(jnp.ceil(jnp.sqrt(walked / width)), 1.0)
    sign = 1.0 - 2.0 * jnp.mod(leg - 1.0, 2.0)
    return sign * (leg * width - (leg**2 * width - walked))


def even_wave(walked: Scalar, width: float | Scalar) -> Scalar:
    r"""Return where [m] a zigzag is after a walk: legs between $w/2$ and $-w/2$, from 0 at the start."""
    phase = jnp.mod(walked + 0.5 * width, 2.0 * width)
    return 0.5 * width - jnp.abs(phase - width)


def pursue(
    key: Key,
    motion: Motion,
    position: Position,
    free: Bool[Array, " actions"],
    upwind: Position,
    trail: Trail,
    pattern: tuple[Scalar, Scalar],
) -> Action:
    """Go upwind while the newest reading is high, else along a pattern (along, across) [m] about the anchor.

    The first leg goes to the side with more room; a pattern that leaves the area is reflected at its border.
    """
    low, high = jnp.array(motion.low), jnp.array(motion.high)
    crosswind = jnp.stack([-upwind[1], upwind[0]])
    room = jnp.dot(0.5 * (low + high) - trail.anchor, crosswind)
    along, across = pattern
    wanted = trail.anchor + along * upwind + jnp.where(room < 0, -across, across) * crosswind
    target = low + (high - low) - jnp.abs(jnp.mod(wanted - low, 2 * (high - low)) - (high - low))
    return heading(key, motion, free, jnp.where(trail.high, upwind, target - position))


def heading(key: Key, motion: Motion, free: Bool[Array, " actions"], direction: Position) -> Action:
    """Draw a move with probability proportional to its component along the direction.

    Where no such move fits, take the one that leads least far back.
    """
    draw_key, tie_key = jax.random.split(key)
    forward = jnp.sum(jnp.array(motion.moves) * direction[None, :], axis=1)
    drawn = jnp.log(jnp.maximum(forward, _MIN_LENGTH)) + jax.random.gumbel(draw_key, forward.shape)
    scores = jnp.where(forward > 0, drawn, _BACKWARD_SCORE + forward)
    return choose_best(tie_key, scores, free)
