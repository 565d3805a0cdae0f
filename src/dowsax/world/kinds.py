"""The kinds of fields that people survey: physics, units, and default priors."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dowsax.world.base import Distribution, Field, Sensor
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform
from dowsax.world.fields import among_buildings, dipole, gaussian_plume, inverse_square, log_distance
from dowsax.world.fields.among_buildings import AmongBuildings
from dowsax.world.fields.beam import Beam
from dowsax.world.fields.dipole import Dipole
from dowsax.world.fields.gaussian_plume import GaussianPlume
from dowsax.world.fields.inverse_square import InverseSquare
from dowsax.world.fields.log_distance import LogDistance
from dowsax.world.fields.path_mean import PathMean
from dowsax.world.sensors import Counting, Gaussian, StudentT, UncertainCounting
from dowsax.world.sensors.correlated import MAX_CORRELATION
from dowsax.world.source import Parameter
from dowsax.world.units import per_gram, spread_unit

KnownOrDistribution = Distribution | float | int
"""A distribution, or the number itself if it is known."""

WIND = (
    (Parameter("ux", "m/s", "wind velocity, east (where the air goes)"), Normal(0.0, 3.0)),
    (Parameter("uy", "m/s", "wind velocity, north (where the air goes)"), Normal(0.0, 3.0)),
)
LAG = (Parameter("lag", "s", "time constant of the sensor"), LogUniform(1.0, 60.0))


@dataclass(frozen=True)
class Kind:
    """One kind of field in one unit, with the default distributions of its unknowns."""

    name: str
    unit: str
    """Of the reading."""
    field: Callable[..., Field]
    """Builds the field from its options."""
    parameters: tuple[Parameter, ...]
    distributions: tuple[Distribution, ...]
    """Of the parameters, in their order."""
    known: Mapping[str, float]
    """Values of the parameters that are known by default."""
    background: Distribution
    noise: Mapping[str, KnownOrDistribution]
    """Noise parameters of the sensor by name."""
    own: tuple[str, ...]
    """The parameters that several sources do not share."""
    options: tuple[str, ...]
    """Arguments of `field`: numbers that are always known."""
    unknown_noise: Mapping[str, Distribution] = dataclasses.field(default_factory=dict)
    """Distributions of those that are known by default."""
    uncalibrated: Mapping[str, Mapping[str, Distribution]] = dataclasses.field(default_factory=dict)
    """By the type of a reading without calibration: the unknown numbers of its sensor."""
    variation: float = 0.0
    """Relative error of the background of counts."""
    shielded: float = 0.0
    """Share of the counts behind something dense."""
    obstacle_attenuation: Distribution | None = None
    """Of obstacles whose attenuation is unknown, [1/m] or [dB/m]; `None` where nothing shields."""
    usual_background: bool = True
    windy: bool = False
    """Whether the field needs the wind."""
    among_obstacles: bool = False
    """Whether the field is solved beforehand, for one wind among the obstacles."""
    levels: bool = False
    """Whether readings are levels in decibel."""
    per_second: bool = False
    """Whether readings add up over the dwell time: the background is then per second."""

    @property
    def background_unit(self) -> str:
        return f"{self.unit}/s" if self.per_second else self.unit

    @property
    def noise_unit(self) -> str:
        return spread_unit(self.unit)

    def sensor(
        self,
        numbers: Mapping[str, float],
        robust: float | None = None,
        dead_time: float = 0.0,
        variation: float | None = None,
        shielded: float | None = None,
    ) -> Sensor:
        """Build the sensor; `robust` is the degrees of freedom of Student's t.

        `variation` and `shielded` are those of the kind where they are not given.
        """
        if self.per_second:
            if robust is not None:
                raise ValueError(f"`robust` does not apply to counts of {self.name}: leave it out.")
            ratio, counting = numbers["noise_ratio"], Counting(dead_time)
            variation = self.variation if variation is None else float(variation)
            shielded = self.shielded if shielded is None else float(shielded)
            if not (ratio or variation or shielded):
                return counting
            return UncertainCounting(counting, ratio, variation, shielded)
        given = {"dead_time": dead_time or None, "variation": variation, "shielded": shielded}
        for name, number in given.items():
            if number is not None:
                raise ValueError(f"`{name}` is for counts, not for {self.name}: leave it out.")
        ratio, floor = numbers.get("noise_ratio", 0.0), numbers["noise_floor"]
        return Gaussian(ratio, floor) if robust is None else StudentT(ratio, floor, robust)


def gas_plume(unit: str = "ppm", gas: str | float | None = None) -> Kind:
    """Return the kind of a gas released into the wind.

    The release rate is in g/s if the unit (with the gas) can be converted to g/m³.

    Of sensors without calibration:

    - They respond from 0.1 to 100 mg/m³ on (of methane 0.15 to 150 ppm), as metal-oxide sensors and
      photoionisation detectors do.
    - The concentration fluctuates by as much as its mean, within a factor of 2. That is a guess of the order
      alone: the fluctuation intensity varies with the place in a plume and from one plume to the next
      (measured by Yee and Biltoft 2004, doi 10.1023/B:BOUN.0000016496.83909.ee).
    - A gust lasts 5 s, within a factor of 3: plumes near the ground have integral scales of some seconds.
    - False alarms come once in three hours to once in 100 s.
    """
    gain = per_gram(unit, gas)
    # Roughly, for the default distributions, if it is not known.
    grams = 1e3 if gain is None else gain
    parameters, distributions = GaussianPlume.PARAMETERS, gaussian_plume.default_distributions()
    if gain is None:
        parameters = (replace(parameters[0], unit=f"{unit}·m³/s"), *parameters[1:])
        distributions = gaussian_plume.default_distributions((1e-3 * grams, 1e3 * grams))
    response = {"threshold": LogUniform(1e-4 * grams, 0.1 * grams), "fluctuation": LogNormal(1.0, 2.0)}
    hits = {"correlation_time": LogNormal(5.0, 3.0), "false_alarms": LogUniform(1e-4, 1e-2)}
    return Kind(
        name="gas-plume",
        unit=unit,
        field=lambda **options: PathMean(GaussianPlume(1.0 if gain is None else gain, **options)),
        parameters=parameters,
        distributions=distributions,
        known=gaussian_plume.BRIGGS,
        background=Uniform(0.0, 5e-3 * grams),
        noise={"noise_ratio": LogUniform(0.05, 1.0), "noise_floor": LogUniform(3e-6 * grams, 1e-3 * grams)},
        uncalibrated={"binary": response | hits, "rank": response},
        own=("q", "height"),
        options=("altitude", "size"),
        windy=True,
    )


def gas_buildings(unit: str = "ppm", gas: str | float | None = None) -> Kind:
    """Return the kind of a gas that a steady, known wind carries among buildings, see `AmongBuildings`.

    Rates are those of a layer of the given depth in which the gas is mixed. Its noise is that of a gas plume:
    the share of it stands for what a steady wind leaves out.
    """
    plume, gain = gas_plume(unit, gas), per_gram(unit, gas)
    rate, spread = AmongBuildings.PARAMETERS
    distributions = among_buildings.default_distributions()
    if gain is None:
        rate = plume.parameters[0]
        distributions = among_buildings.default_distributions((1.0, 1e6))
    build = partial(AmongBuildings.of, gain=1.0 if gain is None else gain)
    return Kind(
        name="gas-buildings",
        unit=unit,
        field=build,
        parameters=(rate, spread),
        distributions=distributions,
        known={},
        background=plume.background,
        noise=plume.noise,
        own=("q",),
        options=("depth",),
        among_obstacles=True,
    )


def radiation(unit: str = "counts") -> Kind:
    """Return the kind of counts of a detector over its dwell time.

    Counts of 10⁴ are exact to a hundredth, and the inverse-square law is not, so that it has errors of its
    own, another one at each reading (`UncertainCounting`):

    - What the source adds is off by 15 % within a factor of two: angular response and efficiency of detectors
      are known to some 10 %, and scatter from the ground and buildup in air add as much.
    - A tenth of the readings has something dense in the way: a vehicle, a wall, the person who holds the
      detector. Without room for it a single such reading, off by a factor of three, outweighs all others.
    - An obstacle of unknown attenuation takes 15/m within a factor of 3: of 662 keV concrete takes 18, brick
      13, wood and water 5 to 9, steel 58.
    - The background varies by 5 % from place to place, as moisture, radon and the ground itself do over one
      kind of ground. Between grass, asphalt and brick it varies by tens of percent: then give more.
    """
    return Kind(
        name="radiation",
        unit=unit,
        field=InverseSquare,
        parameters=InverseSquare.PARAMETERS,
        distributions=inverse_square.default_distributions(),
        known={},
        background=LogUniform(0.1, 1e4),
        noise={"noise_ratio": LogNormal(0.15, 2.0)},
        variation=0.05,
        shielded=0.1,
        obstacle_attenuation=LogNormal(15.0, 3.0),
        own=("q", "height"),
        options=("altitude", "standoff"),
        per_second=True,
    )


def level(unit: str = "dB") -> Kind:
    """Return the kind of a level that falls with the logarithm of the distance.

    Readings scatter by 4 dB within a factor of 1.8: shadowing has 3 to 4 dB in sight and 6 to 10 dB out of
    sight of a radio source (3GPP TR 38.901), levels of sound outdoors and of shaking 3 to 6 dB. Nearby
    readings share any part of it, over 10 m within a factor of 3: 6 to 13 m in buildings and streets, 50 m
    above roofs. An obstacle of unknown attenuation takes 10 dB/m within a factor of 4: a building as a whole
    takes a few, its walls by themselves tens (ITU-R P.2040). The antenna is directional where the options
    have a `beam`, see `Beam`.
    """

    def build(beam: float | None = None, front_to_back: float = 20.0, **options: float) -> LogDistance:
        return LogDistance(**options, beam=None if beam is None else Beam(beam, front_to_back))

    parameters = LogDistance.PARAMETERS
    return Kind(
        name="level",
        unit=unit,
        field=build,
        parameters=(replace(parameters[0], unit=unit), *parameters[1:]),
        distributions=log_distance.default_distributions(),
        known={"attenuation": 0.0},
        background=Uniform(-120.0, 120.0),
        noise={
            "noise_floor": LogNormal(4.0, 1.8),
            "correlation": Uniform(0.0, MAX_CORRELATION),
            "correlation_length": LogNormal(10.0, 3.0),
        },
        own=("level", "height", "gain_east", "gain_north"),
        options=("altitude", "standoff", "beam", "front_to_back"),
        obstacle_attenuation=LogNormal(10.0, 4.0),
        usual_background=False,
        levels=True,
    )


def magnetic_dipole(unit: str = "nT") -> Kind:
    """Return the kind of the anomaly of the earth's field over a dipole."""
    return Kind(
        name="magnetic-dipole",
        unit=unit,
        field=Dipole,
        parameters=Dipole.PARAMETERS,
        distributions=dipole.default_distributions(),
        known={},
        background=Normal(0.0, 100.0),
        noise={"noise_floor": LogUniform(0.1, 100.0), "correlation": 0.0, "correlation_length": 10.0},
        unknown_noise={
            "correlation": Uniform(0.0, MAX_CORRELATION),
            "correlation_length": LogNormal(10.0, 3.0),
        },
        own=("mx", "my", "mz", "depth"),
        options=("altitude", "standoff", "inclination", "declination"),
    )


KINDS: dict[str, Callable[..., Kind]] = {
    "gas-plume": gas_plume,
    "gas-buildings": gas_buildings,
    "radiation": radiation,
    "level": level,
    "magnetic-dipole": magnetic_dipole,
}
"""The kinds beyond the benchmark by name; each takes the unit of the reading, the gas plume also the gas."""


@functools.cache
def kind_of(name: str, unit: str | None = None, gas: str | float | None = None) -> Kind:
    """Return the kind by name; default unit: the kind's own."""
    given: dict[str, Any] = {} if unit is None else {"unit": unit}
    if gas is not None:
        if not name.startswith("gas-"):
            raise ValueError(f"`gas` is for gases, not for the kind {name}: leave it out.")
        given["gas"] = gas
    return KINDS[name](**given)
