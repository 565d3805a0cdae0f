"""The numpy model of the benchmarks is an oracle: it is held against brute force, not against dowsax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.peers import model, model_jax, plain

INTENSITIES = (0.002, 0.4, 30.0)


def log_prob(field, readings, intensity):
    """The sensor's law at many readings and one intensity."""
    return np.array([model.SENSORS[field](float(z), np.array([intensity]))[0] for z in readings])


@pytest.mark.parametrize("intensity", INTENSITIES)
@pytest.mark.parametrize("field", model.FIELDS)
def test_every_sensor_is_normalised(field, intensity):
    """The total probability is one: Riemann sums of smooth laws, plus the point mass of gas at 0."""
    scale = {"temperature": 0.1 * intensity + 0.01, "magnetic": 0.05 * intensity + 0.001}
    scale |= {"electric": 0.1 * intensity + 0.1, "noise": 1.0, "gas": 0.2 * intensity + 0.001}
    if field == "energy":
        total = np.exp(log_prob(field, np.arange(400), intensity)).sum()
    elif field == "concentration":
        log_grid = np.log(intensity + 0.001) + np.linspace(-3, 3, 2001)
        grid = np.exp(log_grid)
        total = np.trapezoid(np.exp(log_prob(field, grid, intensity)) * grid, log_grid)
    else:
        centre = 10 * np.log10(intensity + 0.001) if field == "noise" else intensity
        grid = centre + scale[field] * np.linspace(-10, 10, 4001)
        if field == "gas":
            grid = np.linspace(model.GAS_THRESHOLD + 1e-9, max(grid[-1], 0.02), 4001)
        total = np.trapezoid(np.exp(log_prob(field, grid, intensity)), grid)
        total += np.exp(log_prob(field, [0.0], intensity)[0]) if field == "gas" else 0.0
    assert total == pytest.approx(1.0, abs=1e-4)


def test_gas_reads_nothing_between_zero_and_the_threshold():
    """The sensor reports 0 or something above its threshold."""
    assert np.isneginf(log_prob("gas", [0.003, -0.1], 0.4)).all()


def test_the_field_solves_its_equation():
    r"""With k = α/λ² − |u|²/4α, α∇²φ − u·∇φ − kφ = 0 away from the source, by central differences in 3-D."""
    theta = np.array([10.0, 12.0, 500.0, 0.8, -0.5, 2.0, 3.0])
    wind, diffusivity, decay_length = theta[3:5], theta[5], theta[6]
    rate = diffusivity / decay_length**2 - wind @ wind / (4 * diffusivity)
    step, centre = 1e-3, np.array([14.0, 9.0])

    def phi(offset):
        """The field at a height: the stand-off is the height at which readings are taken."""
        plane = centre + offset[:2]
        delta = plane - theta[:2]
        distance = np.sqrt(delta @ delta + (model.STAND_OFF + offset[2]) ** 2)
        drift = delta @ wind / (2 * diffusivity)
        return theta[2] / (4 * np.pi * diffusivity * distance) * np.exp(-distance / decay_length + drift)

    assert np.log(phi(np.zeros(3))) == pytest.approx(model.log_field(theta[None], centre)[0], abs=1e-12)
    axes = step * np.eye(3)
    laplacian = sum(phi(axis) - 2 * phi(np.zeros(3)) + phi(-axis) for axis in axes) / step**2
    gradient = np.array([phi(axis) - phi(-axis) for axis in axes[:2]]) / (2 * step)
    terms = diffusivity * laplacian, wind @ gradient, rate * phi(np.zeros(3))
    assert abs(terms[0] - terms[1] - terms[2]) < 1e-5 * np.abs(terms).max()


def test_prior_is_normalised():
    """Draws without the joint condition, of known density g: E[p/g] = 1 within five standard errors."""
    generator = np.random.default_rng(5)
    count = 100_000
    low = np.array([5, 5, 10, 0, 0, 1, 0], float)
    high = np.array([20, 20, 3000, 6, 2 * np.pi, 5, 8], float)
    particles = generator.uniform(low, high, (count, 7))
    speed, direction = particles[:, 3].copy(), particles[:, 4].copy()
    particles[:, 3], particles[:, 4] = speed * np.cos(direction), speed * np.sin(direction)
    density = 1 / (np.prod(high - low) * speed)
    ratio = np.exp(model.log_prior(particles)) / density
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / count**0.5


def test_prior_draws_lie_in_the_support():
    """Every draw meets the joint condition; a decay length just beyond it has density zero."""
    particles = model.sample_prior(np.random.default_rng(6), 2000)
    speed = np.hypot(particles[:, 3], particles[:, 4])
    assert particles.shape == (2000, 7)
    assert (particles[:, 6] * speed <= 2 * particles[:, 5]).all()
    assert np.isfinite(model.log_prior(particles)).all()
    outside = particles.copy()
    outside[:, 6] = 2.001 * particles[:, 5] / speed
    assert np.isneginf(model.log_prior(outside)).all()


def test_jacobian_of_the_coordinates():
    """log p(coordinates) − log p(Θ) is the log determinant of a numerical Jacobian."""
    particles = model.sample_prior(np.random.default_rng(7), 1)
    coordinates, step = model.to_coordinates(particles), 1e-6
    moved = [model.from_coordinates(coordinates + step * axis)[0] for axis in np.eye(7)]
    jacobian = (np.array(moved) - particles[0]) / step
    difference = model.log_prior_coordinates(coordinates) - model.log_prior(particles)
    assert difference[0] == pytest.approx(np.log(np.linalg.det(jacobian)), abs=1e-4)


@pytest.mark.parametrize("field", model.FIELDS)
def test_the_two_writings_agree(field):
    """The JAX model in float32 is the numpy model in float64, to float32's precision of the terms."""
    generator = np.random.default_rng(8)
    particles = model.sample_prior(generator, 64)
    positions = generator.uniform(0, 25, (6, 2))
    readings = np.array([0.0, 1.0, 2.0, 0.0, 5.0, 1.0]) + (0.5 if field == "concentration" else 0.0)
    exact = model.log_likelihood(field, particles, positions, readings)
    theta = jnp.asarray(model.to_coordinates(particles), jnp.float32)
    survey = jnp.asarray(positions, jnp.float32), jnp.asarray(readings, jnp.float32)
    traced = jax.jit(jax.vmap(lambda one: model_jax.log_likelihood(field, one, *survey)))(theta)
    np.testing.assert_allclose(np.asarray(traced), exact, rtol=2e-4, atol=2e-3)
    prior = np.asarray(jax.jit(jax.vmap(model_jax.log_prior))(theta))
    expected = model.log_prior_coordinates(model.to_coordinates(particles))
    np.testing.assert_allclose(prior - prior[0], expected - expected[0], atol=1e-4)


def test_plain_filter_matches_importance_sampling():
    """Two vague readings: the filter's mean of x is that of brute-force importance sampling, within 5 s.e."""
    positions, readings = np.array([[3.0, 3.0], [4.0, 3.0]]), np.array([1.0, 2.0])
    result = plain.run("energy", positions, readings, 1, num_particles=20_000)
    draws = model.sample_prior(np.random.default_rng(9), 20_000)
    log_weights = model.log_likelihood("energy", draws, positions, readings)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    expected = weights @ draws[:, 0]
    # Both estimates err, each by the spread over the root of its effective size.
    error = np.sqrt(2 * np.sum(weights**2 * (draws[:, 0] - expected) ** 2))
    assert abs(result.weights @ result.samples[:, 0] - expected) < 5 * error
