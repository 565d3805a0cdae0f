"""The utility of each planner, higher is better; see `lookahead`."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.grid import BENCHMARK_GRID, cell_index
from dowsax.policies.lookahead import Prediction
from dowsax.types import Scalar

_MIN_TIME = 1e-6
# A GPU would otherwise round the factors of a product to ten bits.
_PRECISION = jax.lax.Precision.HIGHEST


def information_gain(prediction: Prediction) -> Scalar:
    r"""Infotaxis (Vergassola 2007): $\mathbb E_z[\mathrm{KL}(w^+(z) \,\|\, w)]$ [nats], never negative.

    The mutual information of Θ and the next reading.
    """
    log_posteriors = prediction.log_posteriors
    # Where the posterior weight is zero the term is zero, though its logarithms are infinite.
    log_ratio = prediction.log_likelihoods - prediction.log_predictive[:, None]
    terms = jnp.where(log_posteriors > -jnp.inf, jnp.exp(log_posteriors) * log_ratio, 0.0)
    return jnp.maximum(jnp.mean(jnp.sum(terms, axis=1)), 0.0)


def predictive_entropy(prediction: Prediction) -> Scalar:
    r"""Entrotaxis (Hutchinson 2018): $-\mathbb E_z[\log \sum_i w_i\, p(z; p', \Theta_i)]$ [nats].

    The entropy of the reading itself, in the sensor's own measure (mixed for gas, counts for energy). A mixed
    sensor defines the unit of its densities (`Mixed`): in one much larger than its faint readings, the edge
    of a plume would look less uncertain than clean air, and this planner would avoid it.
    """
    return -jnp.mean(prediction.log_predictive)


def negative_distance_and_spread(prediction: Prediction) -> Scalar:
    r"""DCEE (Chen 2021): $-\mathbb E_z[\|\mu^+ - p'\|^2 + \mathrm{tr}\,\Sigma^+]$ [m²], of the position.

    The bracket is $\mathbb E_{w^+}\|(x, y) - p'\|^2$, and its mean over readings is the same under $w$: but
    for the sampling error of the simulated readings this planner is `Greedy`.
    """
    posteriors = jnp.exp(prediction.log_posteriors)
    squares = jnp.sum((prediction.positions - prediction.position[None, :]) ** 2, axis=1)
    return -jnp.mean(jnp.matmul(posteriors, squares, precision=_PRECISION))


def negative_time_to_find(prediction: Prediction) -> Scalar:
    r"""Space-aware Infotaxis (Loisy and Eloy 2022): $-\mathbb E_z[\log_2(D^+ + 2^{H^+ - 1} - \tfrac12)]$.

    $D^+$ is the mean Manhattan distance [m] from the candidate to the source, $H^+$ the entropy [bits] of its
    position in cells of 1 m.
    """
    posteriors = jnp.exp(prediction.log_posteriors)
    distances = jnp.sum(jnp.abs(prediction.positions - prediction.position[None, :]), axis=1)
    expected = jnp.matmul(posteriors, distances, precision=_PRECISION)
    entropy = _entropy_bits(_cell_masses(prediction, posteriors))
    return -jnp.mean(jnp.log2(jnp.maximum(expected + 2.0 ** (entropy - 1) - 0.5, _MIN_TIME)))


def _cell_masses(
    prediction: Prediction, posteriors: Float[Array, "readings n"]
) -> Float[Array, "readings cells"]:
    """The mass in each cell. A product and no scatter: the same sum in the same order on every device."""
    members = jax.nn.one_hot(cell_index(BENCHMARK_GRID, prediction.positions), BENCHMARK_GRID.num_cells)
    return jnp.matmul(posteriors, members, precision=_PRECISION)


def _entropy_bits(masses: Float[Array, "readings cells"]) -> Float[Array, " readings"]:
    return -jnp.sum(jax.scipy.special.xlogy(masses, masses), axis=1) / jnp.log(2.0)
