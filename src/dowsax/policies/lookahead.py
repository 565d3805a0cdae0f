"""One lookahead loop for every planner: simulate readings, reweight particles, average the utility.

A planner is a utility of a `Prediction`. The simulated sources and their noise are the same for every
candidate, which removes most of the Monte Carlo error from their differences.
"""

from collections.abc import Callable
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.belief import recall
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.weights import normalise
from dowsax.policies.base import Action, choose_best
from dowsax.types import Key, Position, Station
from dowsax.world import (
    FOUR_MOVES,
    POSITION_COLUMNS,
    Budget,
    Candidates,
    Mixed,
    Model,
    Motion,
    take_position,
)
from dowsax.world.trails import move_station

_BATCH_SIZE = 8
"""Candidates that are evaluated at once, to bound the memory."""


class Prediction(eqx.Module):
    """Simulated readings on the way to one candidate position."""

    position: Position
    """The candidate."""
    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    """Before the simulated readings, normalised."""
    log_likelihoods: Float[Array, "readings n"]
    """Of every simulated reading, or sequence of readings, under every particle."""
    position_columns: tuple[int, ...] = eqx.field(default=POSITION_COLUMNS, static=True)
    """Of Θ."""

    @property
    def positions(self) -> Float[Array, "n axes"]:
        """[m], of the source, for each particle."""
        return take_position(self.particles, self.position_columns)

    @property
    def log_predictive(self) -> Float[Array, " readings"]:
        r"""$\log \sum_i w_i\, p(z_j \mid \Theta_i)$."""
        return jax.nn.logsumexp(self.log_weights[None, :] + self.log_likelihoods, axis=1)

    @property
    def log_posteriors(self) -> Float[Array, "readings n"]:
        r"""$\log w^+_i(z_j)$."""
        return self.log_weights[None, :] + self.log_likelihoods - self.log_predictive[:, None]


Utility = Callable[[Prediction], Float[Array, ""]]


class Lookahead(eqx.Module):
    """Go where the expected utility over simulated readings is highest.

    With `depth` n, every sequence of n moves is evaluated by all its readings together, and the first move of
    the best sequence is made.
    """

    model: Model
    utility: Utility = eqx.field(static=True)
    motion: Motion = FOUR_MOVES
    """Of the moves after the first."""
    num_readings: int = eqx.field(default=32, static=True)
    """Simulated readings for each candidate."""
    depth: int = eqx.field(default=1, static=True)

    def __check_init__(self) -> None:
        if self.num_readings < 1:
            raise ValueError(f"`num_readings` must be at least 1; got {self.num_readings}.")
        if not 1 <= self.depth <= 4:
            raise ValueError(f"`depth` must be a number of moves from 1 to 4; got {self.depth}.")

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        del budget
        utility_key, tie_key = jax.random.split(key)
        utilities = self.expected_utilities(utility_key, belief, station, candidates)
        return choose_best(tie_key, utilities, candidates.mask)

    def expected_utilities(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates
    ) -> Float[Array, " actions"]:
        """Return the expected utility of each candidate: that of the best sequence that starts with it."""
        draw_key, noise_key = jax.random.split(key)
        log_weights = normalise(belief.log_weights)
        drawn = systematic(draw_key, log_weights, self.num_readings)
        sources = belief.particles[drawn]
        noise_keys = jax.random.split(noise_key, (self.depth, self.num_readings))

        def evaluate(moves: Array) -> Float[Array, ""]:
            position, target = candidates.places[moves[0]], candidates.target(moves[0])
            total = jnp.zeros((self.num_readings, log_weights.shape[0]))
            fits = jnp.ones((), bool)
            for level in range(self.depth):
                if level > 0:
                    fits &= self.motion.free(position)[moves[level]]
                    position = target = self.motion(position, moves[level])
                there = recall(self.model, belief.history, move_station(station, target))
                total = total + simulate_log_likelihoods(
                    noise_keys[level], self.model, belief.particles, sources, there
                )
            utility = self.utility(
                Prediction(position, belief.particles, log_weights, total, belief.position_columns)
            )
            return jnp.where(fits, utility, -jnp.inf)

        num_actions = candidates.places.shape[0]
        sequences = np.array(list(product(range(num_actions), repeat=self.depth)))
        # Single moves a few at once; longer sequences one after another, to bound the memory.
        batch_size = min(_BATCH_SIZE, num_actions) if self.depth == 1 else None
        values = jax.lax.map(evaluate, jnp.array(sequences), batch_size=batch_size)
        return jnp.max(values.reshape(num_actions, -1), axis=1)


def simulate_log_likelihoods(
    keys,
    model: Model,
    particles: Float[Array, "n d"],
    sources: Float[Array, "readings d"],
    station: Station,
    *,
    approximate: bool = False,
) -> Float[Array, "readings n"]:
    r"""$\log p(z_j \mid \Theta_i)$ of one reading $z_j$ simulated from each source, at one station.

    Densities are in the sensor's own unit where it has readings of both kinds (`Mixed`). Readings are drawn
    from the distribution of the sensor, or, with `approximate`, from a cheap approximation of it.
    """
    draw = model.sketch_reading if approximate else model.sample_reading
    readings = jax.vmap(draw, in_axes=(0, 0, None))(keys, sources, station)
    terms = jax.vmap(lambda reading: reading_log_likelihood(model, particles.T, station, reading))(readings)
    if isinstance(model.sensor, Mixed):
        terms = terms + jax.vmap(model.sensor.log_unit)(readings)[:, None]
    return terms
