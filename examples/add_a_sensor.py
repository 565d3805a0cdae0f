"""A sensor of your own: additive noise with heavy tails, so that an outlier does not mislead."""

import equinox as eqx
import jax
import numpy as np
from jax.scipy.stats import t as student

import dowsax
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, Plume, PlumePrior, approach


class StudentNoise(eqx.Module):
    """Student's t around the intensity; `sample` and `log_prob` must be one and the same law."""

    scale: float = 0.05
    degrees: float = 3.0

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return intensity + self.scale * jax.random.t(key, self.degrees)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return student.logpdf(reading, self.degrees, intensity, self.scale)


def main() -> None:
    model = Model(prior=PlumePrior(), field=Plume(), sensor=StudentNoise())
    truth_key, path_key, noise_key = jax.random.split(jax.random.key(1), 3)
    truth = model.prior.sample(truth_key)
    positions = approach(path_key, truth[:2], 40)
    readings = model.simulate(noise_key, truth, Station(positions))
    print(f"true position: {truth[0]:.2f}, {truth[1]:.2f}")
    print(dowsax.locate(np.asarray(positions), np.asarray(readings), model=model, seed=0))


if __name__ == "__main__":
    main()
