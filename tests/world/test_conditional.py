"""Some columns given the others: redrawing leaves the prior as it is; the density is that of the draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.world import ExtendedPrior, Parameter, PlumePrior, ProductPrior, UniformBox
from dowsax.world.conditional import log_prob_given, sample_given
from dowsax.world.distributions import LogUniform, Normal

PLUME = PlumePrior(max_speed=4.0, max_decay_length=6.0)
NAMED = (Parameter("b", "", "background"), Parameter("n", "", "noise"))
EXTENDED = ExtendedPrior(PLUME, (Normal(0.0, 2.0), LogUniform(0.1, 1.0)), NAMED)
PRODUCT = ProductPrior(UniformBox((0, 0), (4, 2)), (Normal(0.0, 2.0), LogUniform(0.1, 1.0)), NAMED)
CASES = {
    "place": (PLUME, (0, 1)),
    "place and wind": (PLUME, (0, 1, 3, 4)),
    "all": (PLUME, tuple(range(7))),
    "wind and a nuisance": (EXTENDED, (3, 4, 8)),
    "a nuisance": (EXTENDED, (7,)),
    "independent": (PRODUCT, (0, 1, 3)),
}
NUM_DRAWS = 20_000


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", CASES)
def test_redrawing_leaves_the_prior_as_it_is(name, key):
    """Gibbs' law: exact draws with some columns drawn again are exact draws, also of what depends on both."""
    prior, columns = CASES[name]
    draw_key, again_key = jax.random.split(key)
    thetas = jax.jit(jax.vmap(prior.sample))(jax.random.split(draw_key, 2 * NUM_DRAWS))
    before, other = thetas[:NUM_DRAWS], np.asarray(thetas[NUM_DRAWS:])
    redraw = jax.jit(jax.vmap(lambda key, theta: sample_given(key, prior, theta, columns)))
    after = np.asarray(redraw(jax.random.split(again_key, NUM_DRAWS), before))
    kept = [column for column in range(after.shape[1]) if column not in columns]
    assert (after[:, kept] == np.asarray(before)[:, kept]).all()
    assert (after[:, list(columns)] != np.asarray(before)[:, list(columns)]).mean() > 0.99
    assert np.isfinite(jax.jit(jax.vmap(prior.log_prob))(jnp.asarray(after))).all()
    for column in range(after.shape[1]):
        assert stats.ks_2samp(after[:, column], other[:, column]).pvalue > 1e-4
    if prior is not PRODUCT:
        ratios = [np.hypot(rows[:, 3], rows[:, 4]) * rows[:, 6] / rows[:, 5] for rows in (after, other)]
        assert stats.ks_2samp(*ratios).pvalue > 1e-4


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", CASES)
def test_density_is_that_of_the_draws(name, key):
    """p(J | K) differs from p(J, K) by a factor that does not depend on J; −∞ outside the support."""
    prior, columns = CASES[name]
    at, (draw_key, again_key) = jnp.array(columns), jax.random.split(key)
    theta = prior.sample(draw_key)
    redraw = jax.jit(jax.vmap(lambda key: sample_given(key, prior, theta, columns)))
    thetas = redraw(jax.random.split(again_key, 50))
    given = jax.jit(jax.vmap(lambda theta: log_prob_given(prior, theta, columns)))(thetas)
    joint = jax.jit(jax.vmap(prior.log_prob))(thetas)
    np.testing.assert_allclose(given - given[0], joint - joint[0], atol=1e-4)
    far = theta.at[at].set(1e6)
    if name != "a nuisance":
        assert np.isneginf(log_prob_given(prior, far, columns))


def test_density_of_the_wind_integrates_to_one():
    """Given diffusivity and decay length, over the whole plane: the normaliser depends on both."""
    # In polar coordinates, so that the density's pole in calm air does no harm.
    speed, angle = np.meshgrid(
        (np.arange(400) + 0.5) / 400 * PLUME.max_speed, (np.arange(8) + 0.5) / 8 * 2 * np.pi
    )
    for diffusivity, length in ((1.2, 5.0), (4.0, 1.0), (1.0, 0.6)):
        theta = jnp.array([9.0, 9.0, 100.0, 0.0, 0.0, diffusivity, length])
        winds = jnp.asarray(np.stack([speed * np.cos(angle), speed * np.sin(angle)], axis=-1).reshape(-1, 2))
        density = jax.vmap(lambda wind, at=theta: PLUME.log_prob_given(at.at[3:5].set(wind), (3, 4)))(winds)
        area = PLUME.max_speed / 400 * 2 * np.pi / 8
        total = np.sum(np.exp(np.asarray(density, float)) * speed.ravel()) * area
        assert abs(total - 1) < 0.01


@pytest.mark.parametrize("columns", [(0,), (3,), (3, 4, 5), (5, 6)])
def test_columns_that_cannot_be_parted_are_refused(columns):
    with pytest.raises(ValueError, match="together"):
        PLUME.log_prob_given(PLUME.sample(jax.random.key(0)), columns)
