"""One of several sensors, by its number: searches in different fields share one compiled program."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from dowsax.types import Key, Scalar, Station
from dowsax.world.base import Sensor, Sketched


class Switched(eqx.Module):
    """The sensor with this number. In a batch all kinds are evaluated and one is selected.

    Sensors of one kind differ in their numbers only: a kind is evaluated once.
    """

    kinds: tuple[Sensor, ...]
    """One for each kind, with a row of numbers for every sensor of it."""
    kind: Int[Array, " sensors"]
    """Of each sensor, and its row there."""
    row: Int[Array, " sensors"]
    number: Int[Array, ""]

    @staticmethod
    def build(sensors: Sequence[Sensor]) -> "Switched":
        """Return a switch between these sensors, set to the first."""
        arrays = [jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), sensor) for sensor in sensors]
        structures = [jax.tree.structure(sensor) for sensor in arrays]
        different = list(dict.fromkeys(structures))
        members = [[at for at, own in enumerate(structures) if own == kind] for kind in different]
        kinds = [jax.tree.map(lambda *rows: jnp.stack(rows), *(arrays[at] for at in row)) for row in members]
        kind = [different.index(own) for own in structures]
        row = [members[kind[at]].index(at) for at in range(len(sensors))]
        indices = (jnp.array(numbers, jnp.int32) for numbers in (kind, row, 0))
        return Switched(tuple(kinds), *indices)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self._switch(lambda sensor: sensor.sample, key, intensity, station)

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self._switch(cheap_sampler, key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self._switch(lambda sensor: sensor.log_prob, reading, intensity, station)

    def _switch(self, distribution: Callable, *given) -> Scalar:
        row = self.row[self.number]
        sensors = [jax.tree.map(lambda numbers: numbers[row], kind) for kind in self.kinds]
        # Functions instead of bound methods, which would be hashed with the numbers they hold.
        distributions = [lambda *given, sensor=sensor: distribution(sensor)(*given) for sensor in sensors]
        return jax.lax.switch(self.kind[self.number], distributions, *given)


def cheap_sampler(sensor: Sensor) -> Callable[[Key, Scalar, Station], Scalar]:
    """Return the approximate sampler of a sensor, or its exact one if it has no other."""
    return sensor.sketch if isinstance(sensor, Sketched) else sensor.sample
