"""The benchmark prior over the plume's parameters."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Location
from dowsax.world.priors.locations import UniformBox
from dowsax.world.priors.plume_coordinates import PlumeCoordinates
from dowsax.world.ranges import Pair, number, pair, require_positive, require_range
from dowsax.world.source import PARAMETERS, Parameter, Source, pack, unpack

# Squared wind speed below which the density, infinite in calm air but integrable, stops growing.
_CALM_SQUARED = 1e-30
_WIND_COLUMNS, _SPREAD_COLUMNS = (3, 4), (5, 6)
"""Columns of Θ: the wind's two, and diffusivity and decay length."""


class PlumePrior(eqx.Module):
    r"""Uniform strength, wind speed $s$, direction, diffusivity and decay length, if $\lambda s \le 2\alpha$.

    The condition is what $1/\lambda^2 = s^2/4\alpha^2 + k/\alpha$ implies for any decay rate $k \ge 0$;
    without it the field would grow with distance. In the Cartesian wind of Θ the density is $\propto 1/s$.
    """

    location: Location = UniformBox((5.0, 5.0), (20.0, 20.0))
    strength: Pair = eqx.field(default=(10.0, 3000.0), converter=pair, static=True)
    diffusivity: Pair = eqx.field(default=(1.0, 5.0), converter=pair, static=True)
    """[m²/s]"""
    max_speed: float = eqx.field(default=6.0, converter=number, static=True)
    """[m/s]"""
    max_decay_length: float = eqx.field(default=8.0, converter=number, static=True)
    """[m]"""

    def __check_init__(self) -> None:
        for name in ("strength", "diffusivity"):
            bounds = getattr(self, name)
            require_range(name, bounds)
            require_positive(f"{name}[0]", bounds[0])
        require_positive("max_speed", self.max_speed)
        require_positive("max_decay_length", self.max_decay_length)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return PARAMETERS

    @property
    def coordinates(self) -> PlumeCoordinates:
        return PlumeCoordinates(self.strength, self.diffusivity, self.max_speed, self.max_decay_length)

    @property
    def acceptance(self) -> float:
        r"""$P(\lambda s \le 2\alpha)$ under the unconditioned distribution; 0.3752 for the defaults."""
        unit = 2 / (self.max_speed * self.max_decay_length)
        low, high = (unit * bound for bound in self.diffusivity)
        return (_integral(high) - _integral(low)) / (high - low)

    def sample(self, key: Key) -> Theta:
        location_key, strength_key, direction_key, triple_key = jax.random.split(key, 4)
        x, y = self.location.sample(location_key)
        low, high = self.strength
        strength = jax.random.uniform(strength_key, minval=low, maxval=high)
        angle = jax.random.uniform(direction_key, maxval=2 * math.pi)
        cosine, sine = jnp.cos(angle), jnp.sin(angle)

        def draw(key: Key) -> Theta:
            low, high = self.diffusivity
            lows, highs = jnp.array([0.0, low, 0.0]), jnp.array([self.max_speed, high, self.max_decay_length])
            speed, diffusivity, length = jax.random.uniform(key, (3,), minval=lows, maxval=highs)
            return pack(Source(x, y, strength, speed * cosine, speed * sine, diffusivity, length))

        def again(carry: tuple[Key, Theta]) -> tuple[Key, Theta]:
            next_key, draw_key = jax.random.split(carry[0])
            return next_key, draw(draw_key)

        # Rejection on Θ as it will be returned, so that rounding never puts a draw outside the support.
        _, theta = jax.lax.while_loop(
            lambda carry: ~self._fits(carry[1]), again, again((triple_key, jnp.zeros(7)))
        )
        return theta

    def log_prob(self, theta: Theta) -> Scalar:
        source = unpack(theta)
        volume = (self.strength[1] - self.strength[0]) * (self.diffusivity[1] - self.diffusivity[0])
        volume *= 2 * math.pi * self.max_speed * self.max_decay_length * self.acceptance
        squared_speed = source.wind_x * source.wind_x + source.wind_y * source.wind_y
        log_speed = 0.5 * jnp.log(jnp.maximum(squared_speed, _CALM_SQUARED))
        inside = (
            self._fits(theta) & (source.strength >= self.strength[0]) & (source.strength <= self.strength[1])
        )
        log_location = self.location.log_prob(theta[:2])
        return jnp.where(inside, log_location - log_speed - math.log(volume), -jnp.inf)

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        """Redraw these columns of Θ given the others; see `_groups` for which columns go together."""
        prior_key, speed_key, direction_key = jax.random.split(key, 3)
        fresh = self.sample(prior_key)
        if self._groups(columns) == _WIND_COLUMNS:
            speed = jax.random.uniform(speed_key) * self._max_speed(theta)
            angle = jax.random.uniform(direction_key, maxval=2 * math.pi)
            wind = jnp.stack([speed * jnp.cos(angle), speed * jnp.sin(angle)])
            fresh = fresh.at[jnp.array(_WIND_COLUMNS)].set(wind)
        at = jnp.array(columns)
        return theta.at[at].set(fresh[at])

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        """Return the log density of these columns of Θ given the others."""
        source, groups = unpack(theta), self._groups(columns)
        low, high = self.strength
        log_prob = self.location.log_prob(theta[:2]) if 0 in columns else jnp.zeros(())
        if 2 in columns:
            log_prob = log_prob - math.log(high - low)
        squared_speed = source.wind_x * source.wind_x + source.wind_y * source.wind_y
        log_speed = 0.5 * jnp.log(jnp.maximum(squared_speed, _CALM_SQUARED))
        if groups == _WIND_COLUMNS:
            log_prob = log_prob - log_speed - jnp.log(2 * math.pi * self._max_speed(theta))
        elif groups:
            volume = (self.diffusivity[1] - self.diffusivity[0]) * self.max_speed * self.max_decay_length
            log_prob = log_prob - log_speed - math.log(2 * math.pi * volume * self.acceptance)
        inside = self._fits(theta) & (source.strength >= low) & (source.strength <= high)
        return jnp.where(inside, log_prob, -jnp.inf)

    def _max_speed(self, theta: Theta) -> Scalar:
        r"""$\min(s_{\max}, 2\alpha/\lambda)$ [m/s]: given α and λ the wind speed is uniform below it."""
        source = unpack(theta)
        # A hair less, so that rounding never puts a draw outside the support.
        return jnp.minimum(self.max_speed, (2 - 1e-6) * source.diffusivity / source.decay_length)

    @staticmethod
    def _groups(columns: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of the columns that depend on each other: wind, diffusivity and decay length."""
        chosen = tuple(sorted(set(columns) & {*_WIND_COLUMNS, *_SPREAD_COLUMNS}))
        if (0 in columns) != (1 in columns) or chosen not in (
            (),
            _WIND_COLUMNS,
            (*_WIND_COLUMNS, *_SPREAD_COLUMNS),
        ):
            raise ValueError(
                "The columns that jump must be x and y together, and of wind, diffusivity and decay length "
                f"none, both of the wind, or all four; got {columns}."
            )
        return chosen

    def _fits(self, theta: Theta) -> Bool[Array, ""]:
        """Whether wind, diffusivity and decay length are in their support together. False for NaN."""
        source = unpack(theta)
        squared_speed = source.wind_x * source.wind_x + source.wind_y * source.wind_y
        length, diffusivity = source.decay_length, source.diffusivity
        return (
            (squared_speed <= self.max_speed**2)
            & (diffusivity >= self.diffusivity[0])
            & (diffusivity <= self.diffusivity[1])
            & (length > 0)
            & (length <= self.max_decay_length)
            & (length * length * squared_speed <= 4 * diffusivity * diffusivity)
        )


def _integral(bound: float) -> float:
    r"""$\int_0^b P(\lambda s \le 2\alpha \mid \alpha)\,dr$ with $r = 2\alpha/s_{\max}\lambda_{\max}$.

    The integrand is $r(1 - \log r)$ for $r \le 1$ and 1 beyond.
    """
    if bound > 1:
        return bound - 0.25
    return 0.75 * bound**2 - 0.5 * bound**2 * math.log(bound)
