"""Surveys of right and wrong worlds: what `benchmarks.wrong_worlds` asks the check of the fit about."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.standard_sites import standard_site
from dowsax.mission.plan import Plan
from dowsax.site import parse_site
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Field, Model, UniformBox, compose
from dowsax.world.distributions import LogUniform
from dowsax.world.fields.nothing import remove_source

ROWS, COLUMNS = 5, 8
"""Of a survey: a walk to and fro over the area, one reading in each of its cells."""
SECONDS = 20.0
"""[s], between two readings."""
WAVES = 2.0
"""Of the sine, from west to east."""
HEIGHT_M, DWELL_S, WIND_M_S = 1.5, 10.0, 3.0


@dataclass(frozen=True)
class Case:
    """A model, and the area [m] that is surveyed."""

    model: Model
    low: tuple[float, float]
    high: tuple[float, float]
    is_windy: bool = False
    is_level: bool = False
    is_counted: bool = False


def site_case(kind: str, size: tuple[float, float] | None = None, sources: int = 1, **facts: bool) -> Case:
    """The standard site of this kind, or a smaller one of this size [m]."""
    plan = Plan.of(replace(parse_site(standard_site(kind), f"{kind}.toml"), sources=(sources,)))
    low, high = plan.reach.area
    model = plan.model
    if size is not None:
        high = size
        model = eqx.tree_at(lambda at: at.prior.location, model, UniformBox(low, high))
    return Case(model, low, high, **facts)


def field_case(name: str, **noise) -> Case:
    """A benchmark field whose noise is inferred."""
    return Case(compose(name, UniformBox(), noise=noise), (0.0, 0.0), (25.0, 25.0))


CASES: dict[str, Callable[[], Case]] = {
    "gas-plume": lambda: site_case("gas-plume", is_windy=True),
    "radiation": lambda: site_case("radiation", is_counted=True),
    "level": lambda: site_case("level", is_level=True),
    # Its field ends after some 15 m: in the whole standard site most surveys would miss it.
    "magnetic-dipole": lambda: site_case("magnetic-dipole", (60.0, 45.0)),
    "temperature": lambda: field_case(
        "temperature", noise_ratio=LogUniform(0.02, 0.5), noise_floor=LogUniform(0.001, 0.1)
    ),
    "concentration": lambda: field_case("concentration", spread=LogUniform(0.05, 1.0)),
}


class Survey(eqx.Module):
    """What is given to `locate`."""

    stations: Station
    readings: np.ndarray


class Pair(eqx.Module):
    """The field of two sources: that of Θ, and another one."""

    field: Field
    other: Theta
    is_level: bool = eqx.field(static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        one, two = self.field(theta, station), self.field(self.other, station)
        if self.is_level:
            return 10 * jnp.logaddexp(one * math.log(10) / 10, two * math.log(10) / 10) / math.log(10)
        return one + two - remove_source(self.field)(self.other, station)


def walk(generator: np.random.Generator, case: Case) -> Station:
    """Return stations on a walk to and fro, one at random in each cell of the area."""
    cells = [(row, column) for row in range(ROWS) for column in range(COLUMNS)[:: -1 if row % 2 else 1]]
    shares = (np.array(cells)[:, ::-1] + generator.uniform(size=(len(cells), 2))) / (COLUMNS, ROWS)
    low, high = np.array(case.low), np.array(case.high)
    number = len(cells)
    angle = generator.uniform(0, 2 * math.pi)
    wind = WIND_M_S * np.array([math.cos(angle), math.sin(angle)], np.float32)
    return Station(
        jnp.asarray(low + shares * (high - low), jnp.float32),
        wind=jnp.tile(wind, (number, 1)) if case.is_windy else None,
        dwell=jnp.full(number, DWELL_S),
        time=SECONDS * jnp.arange(number, dtype=jnp.float32),
        altitude=jnp.full(number, HEIGHT_M),
    )


@eqx.filter_jit
def _simulate(model: Model, key: Key, stations: Station):
    theta_key, noise_key = jax.random.split(key)
    theta = model.prior.sample(theta_key)
    return model.simulate(noise_key, theta, stations)


def right(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """A source from the prior, and readings from the model."""
    stations = walk(generator, case)
    return Survey(stations, np.asarray(_simulate(case.model, key, stations), np.float64))


def two_sources(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """A second source from the prior, of which the model does not know."""
    other_key, key = jax.random.split(key)
    model, stations = case.model, walk(generator, case)
    other = model.prior.sample(other_key)
    pair = Model(model.prior, Pair(model.field, other, case.is_level), model.sensor)
    return Survey(stations, np.asarray(_simulate(pair, key, stations), np.float64))


def wrong_sign(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """Readings mirrored in the middle of their range."""
    survey = right(case, generator, key)
    return Survey(survey.stations, survey.readings.max() + survey.readings.min() - survey.readings)


def reversed_wind(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """The wind given as where it comes from, for where it goes."""
    survey = right(case, generator, key)
    assert survey.stations.wind is not None
    return Survey(replace(survey.stations, wind=-survey.stations.wind), survey.readings)


def sine(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """Waves from west to east, with the mean and the spread of a right survey, and a tenth of noise."""
    survey = right(case, generator, key)
    width = case.high[0] - case.low[0]
    east = np.asarray(survey.stations.position)[:, 0]
    phase = 2 * math.pi * (WAVES * east / width + generator.uniform())
    noise = 0.1 * generator.standard_normal(len(phase))
    waves = survey.readings.mean() + survey.readings.std() * (np.sin(phase) + noise)
    return Survey(survey.stations, as_readings(case, waves, survey.readings))


def pure_noise(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """The readings of a right survey, each at the place of another one."""
    survey = right(case, generator, key)
    return Survey(survey.stations, generator.permutation(survey.readings))


def dead_sensor(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """From the middle of the survey on, the sensor repeats its last reading."""
    survey = right(case, generator, key)
    middle = len(survey.readings) // 2
    numbers = np.minimum(np.arange(len(survey.readings)), middle)
    return Survey(survey.stations, survey.readings[numbers])


def drift(case: Case, generator: np.random.Generator, key: Key) -> Survey:
    """A background that grows with time, by twice the standard deviation of the readings."""
    survey = right(case, generator, key)
    ramp = np.linspace(0.0, 2 * survey.readings.std(), len(survey.readings))
    return Survey(survey.stations, as_readings(case, survey.readings + ramp, survey.readings))


def as_readings(case: Case, values: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Return values that the sensor can give: whole counts, and nothing below what it has read."""
    values = values if case.is_level else np.maximum(values, examples.min())
    return np.round(values) if case.is_counted else values


WORLDS = {
    "right": right,
    "two sources": two_sources,
    "wrong sign": wrong_sign,
    "reversed wind": reversed_wind,
    "sine": sine,
    "pure noise": pure_noise,
    "dead sensor": dead_sensor,
    "drift": drift,
}
