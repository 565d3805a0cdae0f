"""What a candidate is worth to each planner, higher is better; see `lookahead`."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.grid import BENCHMARK_GRID, cell_index
from dowsax.policies.lookahead import Outlook
from dowsax.types import Scalar

_LEAST = 1e-6
# A graphics card would otherwise round the factors of a product to ten bits.
_EXACT = jax.lax.Precision.HIGHEST


def information_gain(outlook: Outlook) -> Scalar:
    r"""Infotaxis (Vergassola 2007): $\mathbb E_z[\mathrm{KL}(w^+(z) \,\|\, w)]$ [nats], never negative.

    The mutual information of Θ and the next reading.
    """
    log_posteriors = outlook.log_posteriors
    # Where the posterior weight is zero the term is zero, though its logarithms are infinite.
    log_ratio = outlook.log_likelihoods - outlook.log_predictive[:, None]
    terms = jnp.where(log_posteriors > -jnp.inf, jnp.exp(log_posteriors) * log_ratio, 0.0)
    return jnp.maximum(jnp.mean(jnp.sum(terms, axis=1)), 0.0)


def predictive_entropy(outlook: Outlook) -> Scalar:
    r"""Entrotaxis (Hutchinson 2018): $-\mathbb E_z[\log \sum_i w_i\, p(z; p', \Theta_i)]$ [nats].

    The entropy of the reading itself, in the sensor's own measure (mixed for gas, counts for energy). A mixed
    sensor says which unit counts for its densities (`Mixed`): in one much larger than its faint readings, the
    edge of a plume would look less uncertain than clean air, and this planner would keep away from it.
    """
    return -jnp.mean(outlook.log_predictive)


def negative_distance_and_spread(outlook: Outlook) -> Scalar:
    r"""DCEE (Chen 2021): $-\mathbb E_z[\|\mu^+ - p'\|^2 + \mathrm{tr}\,\Sigma^+]$ [m²], of the position.

    The bracket is $\mathbb E_{w^+}\|(x, y) - p'\|^2$, and its mean over readings is the same under $w$: but
    for the sampling error of the imagined readings this planner is `Greedy`.
    """
    posteriors = jnp.exp(outlook.log_posteriors)
    squares = jnp.sum((outlook.particles[:, :2] - outlook.position[None, :]) ** 2, axis=1)
    return -jnp.mean(jnp.matmul(posteriors, squares, precision=_EXACT))


def negative_time_to_find(outlook: Outlook) -> Scalar:
    r"""Space-aware Infotaxis (Loisy and Eloy 2022): $-\mathbb E_z[\log_2(D^+ + 2^{H^+ - 1} - \tfrac12)]$.

    $D^+$ is the mean Manhattan distance [m] from the candidate to the source, $H^+$ the entropy [bits] of its
    position in cells of 1 m.
    """
    posteriors = jnp.exp(outlook.log_posteriors)
    distances = jnp.sum(jnp.abs(outlook.particles[:, :2] - outlook.position[None, :]), axis=1)
    expected = jnp.matmul(posteriors, distances, precision=_EXACT)
    entropy = _bits(_cell_masses(outlook, posteriors))
    return -jnp.mean(jnp.log2(jnp.maximum(expected + 2.0 ** (entropy - 1) - 0.5, _LEAST)))


def _cell_masses(outlook: Outlook, posteriors: Float[Array, "readings n"]) -> Float[Array, "readings cells"]:
    """The mass in each cell. A product and no scatter: the same sum in the same order on every device."""
    members = jax.nn.one_hot(cell_index(BENCHMARK_GRID, outlook.particles[:, :2]), BENCHMARK_GRID.num_cells)
    return jnp.matmul(posteriors, members, precision=_EXACT)


def _bits(masses: Float[Array, "readings cells"]) -> Float[Array, " readings"]:
    return -jnp.sum(jax.scipy.special.xlogy(masses, masses), axis=1) / jnp.log(2.0)
