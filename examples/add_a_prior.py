"""A prior of your own: a source near a known leak, with three parameters instead of seven."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

import dowsax
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Gaussian, Identity, Model, Parameter, wander


class NearTheLeak(eqx.Module):
    """x, y ~ N(leak, 3²) and the log of the strength ~ N(3, 1). The location comes first."""

    coordinates: Identity = Identity()
    parameters: tuple[Parameter, ...] = eqx.field(static=True, default=(
        Parameter("x", "m", "east"), Parameter("y", "m", "north"), Parameter("log_q", "", "log strength"),
    ))  # fmt: skip

    def sample(self, key: Key) -> Theta:
        return jnp.array([9.0, 8.0, 3.0]) + jnp.array([3.0, 3.0, 1.0]) * jax.random.normal(key, (3,))

    def log_prob(self, theta: Theta) -> Scalar:
        return jnp.sum(norm.logpdf(theta, jnp.array([9.0, 8.0, 3.0]), jnp.array([3.0, 3.0, 1.0])))


def bump(theta: Theta, station: Station) -> Scalar:
    """A field is any function of Θ and a station."""
    return jnp.exp(theta[2] - jnp.sum((station.position - theta[:2]) ** 2) / 20)


if __name__ == "__main__":
    model = Model(prior=NearTheLeak(), field=bump, sensor=Gaussian(0.1, 0.1))
    positions, truth = wander(jax.random.key(0), 30), model.prior.sample(jax.random.key(1))
    readings = model.simulate(jax.random.key(2), truth, Station(positions))
    print(f"true position: {truth[0]:.2f}, {truth[1]:.2f}")
    print(dowsax.locate(np.asarray(positions), np.asarray(readings), model=model, seed=0))
