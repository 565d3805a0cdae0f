"""One lookahead loop for every planner: imagine readings, weigh particles by them, ask what it is worth.

A planner is a utility of an `Outlook`. The imagined sources and the imagined noise are the same for every
candidate, so that candidates differ by what they are and not by luck.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.weights import normalise
from dowsax.policies.base import Action, best
from dowsax.types import Key, Position, Station
from dowsax.world import FOUR_MOVES, Mixed, Model, Motion


class Outlook(NamedTuple):
    """What may be read on the way to one candidate position."""

    position: Position
    """The candidate."""
    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    """Before the imagined readings, normalised."""
    log_likelihoods: Float[Array, "readings n"]
    """Of every imagined reading, or row of readings, under every particle."""

    @property
    def log_predictive(self) -> Float[Array, " readings"]:
        r"""$\log \sum_i w_i\, p(z_j \mid \Theta_i)$."""
        return jax.nn.logsumexp(self.log_weights[None, :] + self.log_likelihoods, axis=1)

    @property
    def log_posteriors(self) -> Float[Array, "readings n"]:
        r"""$\log w^+_i(z_j)$."""
        return self.log_weights[None, :] + self.log_likelihoods - self.log_predictive[:, None]


Utility = Callable[[Outlook], Float[Array, ""]]


class Lookahead(eqx.Module):
    """Go where the utility, averaged over imagined readings, is greatest.

    With `depth` n every row of n moves is judged by all its readings together, and the first move of the best
    row is made.
    """

    model: Model
    utility: Utility = eqx.field(static=True)
    motion: Motion = FOUR_MOVES
    num_readings: int = eqx.field(default=32, static=True)
    """Imagined readings for each candidate."""
    depth: int = eqx.field(default=1, static=True)

    def __check_init__(self) -> None:
        if self.num_readings < 1:
            raise ValueError(f"`num_readings` is at least 1; got {self.num_readings}.")
        if not 1 <= self.depth <= 4:
            raise ValueError(f"`depth` is a number of moves, from 1 to 4; got {self.depth}.")

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        worth_key, tie_key = jax.random.split(key)
        worth = self.worth(worth_key, belief, station)
        return best(tie_key, worth, self.motion.free(station.position))

    def worth(self, key: Key, belief: Belief, station: Station) -> Float[Array, " actions"]:
        """The expected utility of each first move: that of the best row which begins with it."""
        draw_key, noise_key = jax.random.split(key)
        log_weights = normalise(belief.log_weights)
        drawn = systematic(draw_key, log_weights, self.num_readings)
        sources = belief.particles[drawn]
        noise_keys = jax.random.split(noise_key, (self.depth, self.num_readings))

        def judge(moves: Array) -> Float[Array, ""]:
            position = station.position
            total = jnp.zeros((self.num_readings, log_weights.shape[0]))
            fits = jnp.ones((), bool)
            for level in range(self.depth):
                fits &= self.motion.free(position)[moves[level]] | (level == 0)
                position = self.motion(position, moves[level])
                total = total + imagine(
                    noise_keys[level], self.model, belief.particles, sources, Station(position)
                )
            worth = self.utility(Outlook(position, belief.particles, log_weights, total))
            return jnp.where(fits, worth, -jnp.inf)

        rows = np.array(list(product(range(self.motion.num_actions), repeat=self.depth)))
        # All candidates of one move at once; longer rows one after another, to bound the memory.
        values = (jax.vmap(judge) if self.depth == 1 else lambda at: jax.lax.map(judge, at))(jnp.array(rows))
        return jnp.max(values.reshape(self.motion.num_actions, -1), axis=1)


def imagine(
    keys,
    model: Model,
    particles: Float[Array, "n d"],
    sources: Float[Array, "readings d"],
    station: Station,
    *,
    sketched: bool = False,
) -> Float[Array, "readings n"]:
    r"""$\log p(z_j \mid \Theta_i)$ of one reading $z_j$ from each imagined source, at one station.

    Densities are in the sensor's own unit where it has readings of both kinds (`Mixed`). Readings are drawn
    from the law, or, `sketched`, cheaply and nearly so.
    """
    draw = model.sketch_reading if sketched else model.sample_reading
    readings = jax.vmap(draw, in_axes=(0, 0, None))(keys, sources, station)
    terms = jax.vmap(lambda reading: reading_log_likelihood(model, particles.T, station, reading))(readings)
    if isinstance(model.sensor, Mixed):
        terms = terms + jax.vmap(model.sensor.log_unit)(readings)[:, None]
    return terms
