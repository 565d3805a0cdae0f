"""A gas plume in the wind near the ground, also in calm air."""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import i0e

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionProfile, Distribution
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform
from dowsax.world.fields.angles import angle_of, versine
from dowsax.world.fields.nothing import Nothing
from dowsax.world.fields.stability import lateral_slope, vertical_slope
from dowsax.world.ranges import as_number
from dowsax.world.source import Parameter

# Less meandering counts as this much.
_MIN_MEANDER_M_S = 1e-2
_MIN_SPREAD_FACTOR = 1e-3
# e^−40 of the axis is negligible, and still above zero.
MIN_EXPONENT = -40.0
_CALM_SQUARED = 1e-12
MIN_SHARPNESS = 1e-6
# From A to F the reach falls 33-fold.
_LOG_REACH_PER_CLASS = 0.7
_MIN_REACH_M = 1e-3
_REFERENCE_DISTANCE_M = 100.0
# Of ln(r / 100 m), and of the logarithm of the growth: spreads stay finite at the source and far away.
_MAX_LOG_RATIO = 5.0


class GaussianPlume(eqx.Module):
    r"""The Gaussian plume with ground reflection, its lateral spread written as one of directions.

    $$c = g\,\frac{q}{U_e}\,\frac{p(\theta)}{r}\,
      \frac{e^{-(z-h)^2/2\sigma_z^2} + e^{-(z+h)^2/2\sigma_z^2}}{\sqrt{2\pi}\,\sigma_z},\qquad
      p(\theta) = \frac{e^{\kappa\cos\theta}}{2\pi I_0(\kappa)},\qquad
      \frac1\kappa = \Big(\frac{\sigma_y}{r}\Big)^2 + \Big(\frac{\sigma_v}{U}\Big)^2 .$$

    $r$ is the distance and θ the angle between the wind and the way from the source. Gas leaves on straight
    lines whose direction is spread by turbulence ($\sigma_y/r$, Briggs) and by the wind's own meandering
    ($\sigma_v/U$); so $U_e c$ is a flux along $r$, and through every cylinder around the source it is $q$.
    Where the spread of directions is small, $p(\theta)/r$ is the normal density of $y = r\theta$ and this is
    the textbook plume. In calm air $\kappa = 0$ and all directions are alike.
    $U_e^2 = U^2 + 2\sigma_v^2/\pi$ is $1/\mathbb E[1/|v|]$ of a wind $v \sim \mathcal N(0, \sigma_v^2 I)$
    when $U = 0$, and $U$ when it blows.

    How fast the spreads grow may be unknown too: $\sigma_y$ is multiplied by $1/(1 + \sqrt{r/\ell})$ with
    $\ell = \text{reach} \cdot e^{-0.7\,\text{stability}}$ (Taylor's law as fitted by Draxler 1976: a plume is
    a cone while its eddies last, and then widens as the square root of the distance) and by
    $\rho^{\,\text{widen} + \text{curve} \ln\rho}$, and $\sigma_z$ by
    $\rho^{\,\text{rise} + \text{bend} \ln\rho}$, with $\rho = r/100$ m.

    The source has a size $s$: $s^2$ is added to $r^2$, $\sigma_y^2$ and $\sigma_z^2$. With it the field is
    finite and smooth everywhere, and never zero.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("q", "g/s", "release rate"),
        Parameter("height", "m", "height of the release above ground"),
        Parameter("stability", "", "Pasquill class, 0 = A (very unstable) to 5 = F (stable)"),
        Parameter("lateral", "", "factor on the lateral spread"),
        Parameter("vertical", "", "factor on the vertical spread"),
        Parameter("meander", "m/s", "spread of the mean wind while a reading is averaged"),
        Parameter("turn", "°", "how far the wind is turned from the measured one, counter-clockwise"),
        Parameter("speed", "", "wind speed over the measured one"),
        Parameter("reach", "m", "distance over which eddies last in very unstable air"),
        Parameter("widen", "", "power of the distance on the lateral spread"),
        Parameter("curve", "", "growth of the lateral power with the logarithm of the distance"),
        Parameter("rise", "", "power of the distance on the vertical spread"),
        Parameter("bend", "", "growth of the vertical power with the logarithm of the distance"),
    )

    gain: Number = eqx.field(default=1.0, converter=as_number)
    """$g$: readings per g/m³."""
    altitude: Number = eqx.field(default=1.5, converter=as_number)
    """[m], of the sensor if the station has no altitude."""
    size: Number = eqx.field(default=0.2, converter=as_number)
    """$s$ [m], above zero."""
    on_axis: bool = eqx.field(default=False, static=True)
    """Evaluate on the axis: θ = 0 at every station."""
    sway: Number = eqx.field(default=0.0, converter=as_number)
    """[rad], of the wind's direction from reading to reading: the plume is as much wider, as on average."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        plume = self.shape(theta, station)
        return plume.on_axis if self.on_axis else plume.value

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        """Return the plume as a function of the wind direction; the rest is computed once."""
        del spread
        plume = self.shape(theta, station)
        angle = plume.angle

        def value(turn: Scalar) -> Scalar:
            exponent = -plume.sharpness * versine(angle - turn) - plume.vertical
            return plume.axis * jnp.exp(jnp.maximum(exponent, MIN_EXPONENT))

        return DirectionProfile(angle, plume.width, value)

    def velocity(self, theta: Theta, station: Station) -> tuple[Scalar, Scalar]:
        """Return the wind [m/s] that carries the plume, east and north: the measured one, corrected by Θ."""
        if station.wind is None:
            raise ValueError("A gas plume needs the wind: measure it with each reading, give or infer it.")
        turn, factor = theta[8], jnp.maximum(theta[9], 0.0)
        angle = turn * (math.pi / 180)
        cosine, sine = factor * jnp.cos(angle), factor * jnp.sin(angle)
        wind_x = cosine * station.wind[0] - sine * station.wind[1]
        return wind_x, sine * station.wind[0] + cosine * station.wind[1]

    def shape(self, theta: Theta, station: Station) -> "Shape":
        """Return the plume at the distance of the station, and the station's offset from its axis."""
        east, north = station.position[0] - theta[0], station.position[1] - theta[1]
        return self.shape_at(theta, station.altitude, self.velocity(theta, station), (east, north))

    def shape_at(
        self,
        theta: Theta,
        altitude: Scalar | None,
        wind: tuple[Scalar, Scalar],
        offset: tuple[Scalar, Scalar],
    ) -> "Shape":
        """Return the plume at an offset [m] from the source, in a wind [m/s]: east and north."""
        (wind_x, wind_y), (east, north) = wind, offset
        strength, height, stability, lateral, vertical, meander = theta[2:8]
        reach, widen, curve, rise, bend = theta[10:15]
        strength = jnp.maximum(strength, 0.0)
        lateral, vertical = (
            jnp.maximum(lateral, _MIN_SPREAD_FACTOR),
            jnp.maximum(vertical, _MIN_SPREAD_FACTOR),
        )
        meander = jnp.maximum(meander, _MIN_MEANDER_M_S)
        squared_speed = wind_x * wind_x + wind_y * wind_y

        squared = east * east + north * north + self.size**2
        inverse_distance = jax.lax.rsqrt(squared)
        distance = squared * inverse_distance
        share = (self.size * inverse_distance) ** 2
        log_ratio = jnp.clip(
            0.5 * jnp.log(squared) - math.log(_REFERENCE_DISTANCE_M), -_MAX_LOG_RATIO, _MAX_LOG_RATIO
        )
        lasting = jnp.sqrt(distance * _inverse_reach(reach, stability))
        lateral_slopes = lateral * lateral_slope(stability, distance, _log_growth(widen, curve, log_ratio))
        lateral_squared = (lateral_slopes / (1.0 + lasting)) ** 2 + share + self.sway**2
        # κ, zero in calm air.
        sharpness = squared_speed / (squared_speed * lateral_squared + meander * meander)
        # 1 − cos θ is half the squared difference of the unit vectors: no cancellation on the axis.
        inverse_speed = jax.lax.rsqrt(squared_speed + _CALM_SQUARED)
        away_x = east * inverse_distance - wind_x * inverse_speed
        away_y = north * inverse_distance - wind_y * inverse_speed

        vertical_slopes = vertical * vertical_slope(stability, distance, _log_growth(rise, bend, log_ratio))
        vertical_squared = vertical_slopes * vertical_slopes + share
        precision = 1.0 / (vertical_squared * squared)
        above = jnp.abs(jnp.float32(self.altitude) if altitude is None else altitude)
        release = jnp.abs(height)
        reflected = 1.0 + jnp.exp(-2.0 * precision * above * release)
        rate = strength * (self.gain * (2 * math.pi) ** -1.5)
        across = inverse_distance * jax.lax.rsqrt(squared_speed + (2 / math.pi) * meander * meander)
        return Shape(
            axis=rate * across * jnp.sqrt(precision) * reflected / i0e(sharpness),
            sharpness=sharpness,
            vertical=0.5 * precision * (above - release) ** 2,
            away=0.5 * (away_x * away_x + away_y * away_y),
            across=wind_x * north - wind_y * east,
        )

    def without_source(self) -> Nothing:
        return Nothing()


class Shape(NamedTuple):
    """A plume at one distance."""

    axis: Scalar
    """At the height of the release, straight downwind."""
    sharpness: Scalar
    """κ"""
    vertical: Scalar
    """Subtracted from the exponent for the height of the sensor."""
    away: Scalar
    """1 − cos θ"""
    across: Scalar
    """Positive if the station is to the left of the axis, looking along the wind."""

    @property
    def value(self) -> Scalar:
        """At the station."""
        return self.axis * jnp.exp(jnp.maximum(-self.sharpness * self.away - self.vertical, MIN_EXPONENT))

    @property
    def on_axis(self) -> Scalar:
        """At the distance and the altitude of the station, straight downwind."""
        return self.axis * jnp.exp(jnp.maximum(-self.vertical, MIN_EXPONENT))

    @property
    def angle(self) -> Scalar:
        """[rad], from the axis to the station, counter-clockwise."""
        return jnp.where(self.across < 0, -1.0, 1.0) * angle_of(self.away)

    @property
    def width(self) -> Scalar:
        """[rad], of the plume."""
        return jax.lax.rsqrt(jnp.maximum(self.sharpness, MIN_SHARPNESS))


def _inverse_reach(reach: Scalar, stability: Scalar) -> Scalar:
    """Return one over the reach [1/m] at this stability: gusts last minutes in sunshine, seconds at night."""
    return jnp.exp(_LOG_REACH_PER_CLASS * jnp.clip(stability, 0.0, 5.0)) / jnp.maximum(reach, _MIN_REACH_M)


def _log_growth(power: Scalar, bend: Scalar, log_ratio: Scalar) -> Scalar:
    """Return the log growth of a spread beyond Briggs' law."""
    return jnp.clip((power + bend * log_ratio) * log_ratio, -_MAX_LOG_RATIO, _MAX_LOG_RATIO)


BRIGGS = {"reach": 1e18, "widen": 0.0, "curve": 0.0, "rise": 0.0, "bend": 0.0}
"""Values with which the spreads grow as in Briggs' formulas."""


def default_distributions(
    strength: tuple[float, float] = (1e-3, 1e3), height: float = 3.0
) -> tuple[Distribution, ...]:
    """Return the defaults: any stability, factors of 1.5 on Briggs' spreads, a wind known to 10° and 20 %.

    Strength [g/s] over these decades, a release up to this height [m]. If the growth is unknown, the reach is
    within a factor of 3 of 2.5 km in class A, which is 75 m in F. A plume from near the ground rises into a
    wind that is faster and spreads it less: by a power of about −0.1 of the distance where the wind grows as
    the logarithm of the height.
    """
    return (
        LogUniform(*strength),
        Uniform(0.0, height),
        Uniform(0.0, 5.0),
        LogNormal(1.0, 1.5),
        LogNormal(1.0, 1.5),
        LogNormal(0.2, 2.0),
        Normal(0.0, 10.0),
        LogNormal(1.0, 1.2),
        LogNormal(2500.0, 3.0),
        Normal(-0.1, 0.15),
        Normal(0.0, 0.06),
        Normal(0.0, 0.3),
        Normal(0.0, 0.06),
    )
