r"""Posteriors of several sources by brute force: tempering from the prior, many particles, very many moves.

The pinned model is written here once more, without dowsax's fields, sensors, priors or filters. All readings
of a survey are taken at once, with a power that rises from 0 to 1; so their order does not matter.
Θ = (x, y, q of each source, ux, uy, α, λ), one column a particle.
"""

from functools import partial
from itertools import permutations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, logsumexp, ndtr

STAND_OFF_M = 0.1
PLACES_M, STRENGTHS = (5.0, 20.0), (10.0, 3000.0)
MAX_SPEED, DIFFUSIVITIES, MAX_DECAY_LENGTH = 6.0, (1.0, 5.0), 8.0
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_MAX_STAGES = 200
_MIN_LOG_LIKELIHOOD = -1e6


class Settings(NamedTuple):
    """How much work a run is."""

    particles: int = 16384
    moves: int = 60
    """At each stage."""
    last_moves: int = 300
    """At the posterior itself."""


class Reference(NamedTuple):
    """One run: the sources sorted by x."""

    mean: jax.Array
    std: jax.Array
    quantiles: jax.Array
    log_evidence: jax.Array
    stages: jax.Array


def log_intensity(thetas, position, sources: int):
    """Log of the summed field of all sources, (n,)."""
    wind_x, wind_y, diffusivity, decay_length = thetas[3 * sources :]
    logs = []
    for at in range(sources):
        east, north, strength = thetas[3 * at : 3 * at + 3]
        offset_x, offset_y = position[0] - east, position[1] - north
        distance = jnp.sqrt(offset_x**2 + offset_y**2 + STAND_OFF_M**2)
        drift = (offset_x * wind_x + offset_y * wind_y) / (2 * diffusivity)
        logs.append(
            jnp.log(strength / (4 * jnp.pi * diffusivity * distance)) - distance / decay_length + drift
        )
    return logsumexp(jnp.stack(logs), axis=0)


def _normal(value, mean, scale):
    return -0.5 * ((value - mean) / scale) ** 2 - jnp.log(scale) - 0.5 * jnp.log(2 * jnp.pi)


def _gas(reading, c):
    scale = 0.20 * c + 0.001
    nothing = jnp.log(0.1 + 0.9 * ndtr((0.005 - c) / scale))
    return jnp.where(reading == 0, nothing, jnp.log(0.9) + _normal(reading, c, scale))


def _concentration(reading, c):
    return _normal(jnp.log(reading), jnp.log(c + 0.001), 0.25) - jnp.log(reading)


def _energy(reading, c):
    return reading * jnp.log(c + 1.0) - (c + 1.0) - gammaln(reading + 1)


SENSORS = {
    "temperature": lambda reading, c: _normal(reading, c, 0.10 * c + 0.01),
    "concentration": _concentration,
    "magnetic": lambda reading, c: _normal(reading, c, 0.05 * c + 0.001),
    "electric": lambda reading, c: _normal(reading, c, 0.10 * c + 0.10),
    "gas": _gas,
    "energy": _energy,
    "noise": lambda reading, c: _normal(reading, 10 * jnp.log10(c + 0.001), 1.0),
}
"""log p(z | c)"""


def log_likelihood(field: str, thetas, positions, readings):
    """Of all readings, (n,)."""
    sources = (thetas.shape[0] - 4) // 3

    def term(position, reading):
        return SENSORS[field](reading, jnp.exp(log_intensity(thetas, position, sources)))

    total = jnp.sum(jax.vmap(term)(positions, readings), axis=0)
    return jnp.maximum(jnp.where(jnp.isnan(total), -jnp.inf, total), _MIN_LOG_LIKELIHOOD)


def log_prior(thetas):
    """Up to a constant, (n,): −∞ outside the support."""
    sources = (thetas.shape[0] - 4) // 3
    wind_x, wind_y, diffusivity, decay_length = thetas[3 * sources :]
    speed = jnp.sqrt(wind_x**2 + wind_y**2)
    inside = (speed < MAX_SPEED) & (decay_length > 0) & (decay_length < MAX_DECAY_LENGTH)
    inside &= (diffusivity > DIFFUSIVITIES[0]) & (diffusivity < DIFFUSIVITIES[1])
    inside &= decay_length * speed <= 2 * diffusivity
    for at in range(sources):
        for row, (low, high) in enumerate((PLACES_M, PLACES_M, STRENGTHS)):
            inside &= (thetas[3 * at + row] > low) & (thetas[3 * at + row] < high)
    return jnp.where(inside, -jnp.log(jnp.maximum(speed, 1e-12)), -jnp.inf)


def draw_prior(key, number: int, sources: int):
    """Draw sources (3·sources + 4, number) by rejection."""
    keys = jax.random.split(key, 3)
    many = 8 * number
    uniform = jax.random.uniform(keys[0], (4, many))
    speed, angle = MAX_SPEED * uniform[0], 2 * jnp.pi * uniform[1]
    diffusivity = DIFFUSIVITIES[0] + (DIFFUSIVITIES[1] - DIFFUSIVITIES[0]) * uniform[2]
    decay_length = MAX_DECAY_LENGTH * uniform[3]
    allowed = decay_length * speed <= 2 * diffusivity
    # A share of 0.375 is allowed: of eight times as many, there are enough.
    first = jnp.argsort(~allowed)[:number]
    shared = jnp.stack([speed * jnp.cos(angle), speed * jnp.sin(angle), diffusivity, decay_length])[:, first]
    low = jnp.tile(jnp.array([PLACES_M[0], PLACES_M[0], STRENGTHS[0]]), sources)[:, None]
    high = jnp.tile(jnp.array([PLACES_M[1], PLACES_M[1], STRENGTHS[1]]), sources)[:, None]
    own = low + (high - low) * jax.random.uniform(keys[1], (3 * sources, number))
    return jnp.concatenate([own, shared])


def _match(thetas, log_weights, sources: int):
    """Order the sources of each particle to be nearest to the mean ones: differences mean something then."""
    if sources == 1:
        return thetas
    blocks = thetas[: 3 * sources].reshape(sources, 3, -1)
    ways = jnp.stack([blocks[np.array(order)] for order in permutations(range(sources))])
    centre = blocks[:, :2, jnp.argmax(log_weights)]
    for _ in range(4):
        costs = jnp.sum((ways[:, :, :2] - centre[None, :, :, None]) ** 2, axis=(1, 2))
        chosen = jnp.take_along_axis(ways, jnp.argmin(costs, axis=0)[None, None, None], axis=0)[0]
        centre = jnp.mean(chosen[:, :2], axis=2)
    return jnp.concatenate([chosen.reshape(3 * sources, -1), thetas[3 * sources :]])


def _propose(key, thetas, frozen, sources: int):
    """A step along the difference of two particles, of all rows or of one source; or a source drawn again.

    All are symmetric: the frozen particles do not change during the moves, and a source that is drawn again
    is uniform, as its prior is.
    """
    rows, number = thetas.shape
    keys = jax.random.split(key, 9)
    first = jax.random.randint(keys[0], (), 1, number)
    second = 1 + (first - 1 + jax.random.randint(keys[1], (), 1, number - 1)) % (number - 1)
    difference = jnp.roll(frozen, first, axis=1) - jnp.roll(frozen, second, axis=1)
    masks = np.zeros((sources + 2, rows), np.float32)
    masks[0], masks[1, 3 * sources :] = 1, 1
    for at in range(sources):
        masks[2 + at, 3 * at : 3 * at + 3] = 1
    mask = jnp.asarray(masks)[jax.random.randint(keys[2], (), 0, len(masks))]
    scale = 2.38 / jnp.sqrt(2 * jnp.sum(mask)) * jnp.exp(jax.random.uniform(keys[3], minval=-3.0, maxval=0.3))
    scale = jnp.where(jax.random.uniform(keys[4]) < 0.15, 1.0, scale)
    stepped = thetas + scale * mask[:, None] * difference
    # A little noise, so that any place can be reached.
    stepped = stepped + 1e-3 * scale * mask[:, None] * jnp.std(frozen, axis=1, keepdims=True) * (
        jax.random.normal(keys[5], thetas.shape)
    )
    fresh = draw_prior(keys[6], number, sources)
    which = 3 * jax.random.randint(keys[7], (), 0, sources)
    is_own = (jnp.arange(rows) >= which) & (jnp.arange(rows) < which + 3)
    redrawn = jnp.where(is_own[:, None], fresh, thetas)
    return jnp.where(jax.random.uniform(keys[8]) < 0.1, redrawn, stepped)


def _move(key, thetas, values, power, moves: int, evaluate, sources: int):
    frozen = thetas

    def one(carry, key):
        thetas, values, prior = carry
        propose_key, accept_key = jax.random.split(key)
        proposed = _propose(propose_key, thetas, frozen, sources)
        new_prior = log_prior(proposed)
        new_values = evaluate(proposed)
        ratio = power * (new_values - values) + new_prior - prior
        accepted = jnp.log(jax.random.uniform(accept_key, ratio.shape)) < ratio
        thetas = jnp.where(accepted[None], proposed, thetas)
        return (thetas, jnp.where(accepted, new_values, values), jnp.where(accepted, new_prior, prior)), None

    (thetas, values, _), _ = jax.lax.scan(
        one, (thetas, values, log_prior(thetas)), jax.random.split(key, moves)
    )
    return thetas, values


def _next_power(values, power):
    """The power at which half of the particles count, by bisection; at most 1."""

    def share(step):
        weights = step * values
        return jnp.exp(2 * logsumexp(weights) - logsumexp(2 * weights)) / values.size

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        enough = share(middle) >= 0.5
        return jnp.where(enough, middle, low), jnp.where(enough, high, middle)

    low, _ = jax.lax.fori_loop(0, 40, halve, (jnp.zeros(()), 1 - power))
    return jnp.where(share(1 - power) >= 0.5, 1.0, jnp.minimum(power + jnp.maximum(low, 1e-9), 1.0))


@partial(jax.jit, static_argnames=("field", "sources", "settings"))
def sample(key, field: str, positions, readings, sources: int, settings: Settings) -> Reference:
    """Run the sampler for one survey: positions (k, 2) and readings (k,)."""
    evaluate = partial(log_likelihood, field, positions=positions, readings=readings)
    start_key, loop_key, last_key = jax.random.split(key, 3)
    thetas = draw_prior(start_key, settings.particles, sources)

    def stage(carry):
        key, thetas, values, power, log_evidence, stages = carry
        key, resample_key, move_key = jax.random.split(key, 3)
        following = _next_power(values, power)
        weights = (following - power) * values
        total = logsumexp(weights)
        shares = jnp.cumsum(jnp.exp(weights - total))
        places = (jnp.arange(values.size) + jax.random.uniform(resample_key)) / values.size
        chosen = jnp.minimum(jnp.searchsorted(shares, places * shares[-1]), values.size - 1)
        # In random order: copies of one particle would be differences of nothing.
        chosen = jax.random.permutation(jax.random.fold_in(resample_key, 1), chosen)
        thetas, values = _match(thetas[:, chosen], values[chosen], sources), values[chosen]
        thetas, values = _move(move_key, thetas, values, following, settings.moves, evaluate, sources)
        log_evidence = log_evidence + total - jnp.log(values.size)
        return key, thetas, values, following, log_evidence, stages + 1

    def unfinished(carry):
        return (carry[3] < 1) & (carry[5] < _MAX_STAGES)

    start = (loop_key, thetas, evaluate(thetas), jnp.zeros(()), jnp.zeros(()), jnp.zeros((), jnp.int32))
    _, thetas, values, power, log_evidence, stages = jax.lax.while_loop(unfinished, stage, start)
    for key in jax.random.split(last_key, 3):
        thetas = _match(thetas, values, sources)
        thetas, values = _move(key, thetas, values, power, settings.last_moves // 3, evaluate, sources)
    thetas = sort_by_x(thetas, sources)
    return Reference(
        jnp.mean(thetas, axis=1),
        jnp.std(thetas, axis=1),
        jnp.quantile(thetas, jnp.array(_LEVELS), axis=1),
        log_evidence,
        stages,
    )


def sort_by_x(thetas, sources: int):
    """Sort the sources of each particle by x."""
    blocks = thetas[: 3 * sources].reshape(sources, 3, -1)
    order = jnp.argsort(blocks[:, 0], axis=0)
    blocks = jnp.take_along_axis(blocks, order[:, None], axis=0)
    return jnp.concatenate([blocks.reshape(3 * sources, -1), thetas[3 * sources :]])
