"""A field of your own: radiation that falls with the square of the distance, counted by a detector."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import dowsax
from dowsax.types import Scalar, Station, Theta
from dowsax.world import Model, PlumePrior, Poisson, unpack, wander


class InverseSquare(eqx.Module):
    """q / 4π d² from a height of 1 m. Only position and strength matter; the rest of Θ stays as believed."""

    height: float = 1.0

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        source = unpack(theta)
        offset = station.position - jnp.stack([source.x, source.y])
        return source.strength / (4 * jnp.pi * (jnp.sum(offset**2) + self.height**2))


def main() -> None:
    model = Model(prior=PlumePrior(), field=InverseSquare(), sensor=Poisson(background=1.0))
    truth_key, path_key, noise_key = jax.random.split(jax.random.key(3), 3)
    truth = model.prior.sample(truth_key)
    positions = wander(path_key, 40)
    readings = model.simulate(noise_key, truth, Station(positions))
    print(f"true position: {truth[0]:.2f}, {truth[1]:.2f}")
    print(dowsax.locate(np.asarray(positions), np.asarray(readings), model=model, seed=0))


if __name__ == "__main__":
    main()
