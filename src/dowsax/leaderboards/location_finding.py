r"""Location finding: the public task of sequential experimental design (Foster et al. 2021).

Sources lie in the plane, and a reading at $x$ is the logarithm of their total signal with noise,
$y \sim \mathcal N\big(\log(b + \sum_k (m + |x - \theta_k|^2)^{-1}),\, 0.5^2\big)$ with $b = 0.1$ and
$m = 10^{-4}$. After 30 readings the score is how much they tell about the sources, by the bounds of `score`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief
from dowsax.inference.config import FilterConfig
from dowsax.inference.presets import Preset
from dowsax.inference.proposals import DifferentialEvolution
from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import Model
from dowsax.world.coordinates import Identity
from dowsax.world.priors.several import SeveralSourcesPrior
from dowsax.world.sensors import Gaussian
from dowsax.world.several_columns import SourceColumns
from dowsax.world.source import Parameter

NUM_READINGS = 30
NOISE = 0.5
_BASE_SIGNAL, _MAX_SIGNAL = 0.1, 1e-4
_PRESET = Preset(
    FilterConfig(num_particles=1024, horizon=NUM_READINGS, ess_ratio=0.5, num_moves=12, max_moves=12),
    proposals=(DifferentialEvolution(),),
)
_NUM_DRAWS, _NUM_CANDIDATES, _NUM_VALUES = 256, 64, 48
"""Particles, places and readings for which the information of the next reading is computed."""
_TAIL_NOISES = 3.0
_CHUNK = 10_000


@dataclass(frozen=True)
class Setting:
    """One form of the task."""

    name: str
    num_sources: int = 2
    box: tuple[float, float] | None = None
    """Where readings may be, in both coordinates; `None`: anywhere."""
    is_uniform: bool = False
    """Sources are uniform in the box; otherwise standard normal in each coordinate."""
    max_move: float | None = None
    """The largest change of a coordinate between two readings."""


SETTINGS = (
    Setting("anywhere"),
    Setting("in [−4, 4]²", box=(-4.0, 4.0)),
    *(Setting(f"moves of {move:g}", 1, (0.0, 1.0), True, move) for move in (0.05, 0.1, 0.2)),
)
"""Both forms of Foster et al., and a moving sensor in the unit box by Guo et al. (2026), with one source."""


class SourcePrior(eqx.Module):
    """One source: standard normal in each coordinate, or uniform in a box."""

    box: tuple[float, float] | None = eqx.field(static=True)
    """`None`: normal."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return Parameter("x", "", "first coordinate"), Parameter("y", "", "second coordinate")

    @property
    def coordinates(self) -> Identity:
        return Identity()

    def sample(self, key: Key) -> Theta:
        if self.box is None:
            return jax.random.normal(key, (2,))
        return jax.random.uniform(key, (2,), minval=self.box[0], maxval=self.box[1])

    def log_prob(self, theta: Theta) -> Scalar:
        if self.box is None:
            return -0.5 * (theta[0] ** 2 + theta[1] ** 2) - math.log(2 * math.pi)
        low, high = self.box
        inside = jnp.all((theta >= low) & (theta <= high))
        return jnp.where(inside, -2 * math.log(high - low), -jnp.inf)

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        del theta, columns
        return self.sample(key)

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        del columns
        return self.log_prob(theta)


class LogSignal(eqx.Module):
    """The logarithm of the signal of all sources together."""

    columns: SourceColumns

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        total = jnp.full((), _BASE_SIGNAL)
        for x, y in self.columns.blocks:
            east, north = station.position[0] - theta[x], station.position[1] - theta[y]
            total = total + 1.0 / (_MAX_SIGNAL + east * east + north * north)
        return jnp.log(total)


def build(setting: Setting) -> Model:
    """Return the model of a form of the task."""
    columns = SourceColumns(2, (0, 1), setting.num_sources)
    single = SourcePrior(setting.box if setting.is_uniform else None)
    prior = single if setting.num_sources == 1 else SeveralSourcesPrior(single, columns)
    return Model(prior, LogSignal(columns), Gaussian(0.0, NOISE))


class Rollout(NamedTuple):
    """30 readings, and the belief after them."""

    theta: Theta
    """The sources."""
    places: Float[Array, "30 2"]
    values: Float[Array, " 30"]
    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]


def roll_out(key: Key, setting: Setting, is_random: bool = False) -> Rollout:
    """Draw sources and read at the places that tell most about them, or at random ones."""
    model = build(setting)
    filter_ = _PRESET.build(model, template=Station(jnp.zeros(2)))
    theta_key, init_key, start_key, loop_key = jax.random.split(key, 4)
    theta = model.prior.sample(theta_key)

    def read(carry: tuple[Belief, Position], number: Array) -> tuple[tuple[Belief, Position], tuple]:
        belief, here = carry
        keys = jax.random.split(jax.random.fold_in(loop_key, number), 3)
        choose = random_place if is_random else informative_place
        place = choose(keys[0], setting, model, belief, here)
        if setting.max_move is not None:
            # The sensor starts anywhere.
            place = jnp.where(number == 0, here, place)
        value = model.sample_reading(keys[1], theta, Station(place))
        belief, _ = filter_.step(keys[2], belief, Station(place), value)
        return (belief, place), (place, value)

    start = SourcePrior(setting.box).sample(start_key)
    (belief, _), (places, values) = jax.lax.scan(
        read, (filter_.init(init_key), start), jnp.arange(NUM_READINGS)
    )
    return Rollout(theta, places, values, belief.particles, belief.log_weights)


def random_place(key: Key, setting: Setting, model: Model, belief: Belief, here: Position) -> Position:
    """Return a place drawn as sources are, or uniform within the box or the next move."""
    del model, belief
    if setting.max_move is not None:
        place = here + jax.random.uniform(key, (2,), minval=-setting.max_move, maxval=setting.max_move)
        return _allowed(place, setting, here)
    return SourcePrior(setting.box).sample(key)


def informative_place(key: Key, setting: Setting, model: Model, belief: Belief, here: Position) -> Position:
    """Return the place whose reading tells most about the sources, of places where sources may be."""
    draw_key, other_key, mix_key, source_key = jax.random.split(key, 4)
    thetas = belief.particles[jax.random.categorical(draw_key, belief.log_weights, shape=(_NUM_DRAWS,))]
    each = thetas.reshape(_NUM_DRAWS, setting.num_sources, 2)
    first, second = jnp.arange(_NUM_CANDIDATES), jnp.arange(_NUM_CANDIDATES) + _NUM_CANDIDATES
    which = jax.random.randint(source_key, (_NUM_CANDIDATES,), 0, setting.num_sources)
    one, other = each[first, which], each[second, which]
    # Half of them are where a source may be; the others are on a line through two such places.
    reach = jnp.where(first % 2 == 0, 0.0, 2.0 * jax.random.uniform(mix_key, (_NUM_CANDIDATES,)))
    places = one + reach[:, None] * (other - one)
    if setting.max_move is not None:
        near = jax.random.uniform(other_key, places.shape, minval=-setting.max_move, maxval=setting.max_move)
        places = jnp.where((first % 4 < 2)[:, None], places, here[None, :] + near)
    places = jax.vmap(lambda place: _allowed(place, setting, here))(places)

    def information(place: Position) -> Scalar:
        expected = jax.vmap(lambda theta: model.intensity(theta, Station(place)))(thetas)
        return mixture_entropy(expected)

    return places[jnp.argmax(jax.vmap(information)(places))]


def _allowed(place: Position, setting: Setting, here: Position) -> Position:
    """Return the nearest place that the setting allows."""
    if setting.max_move is not None:
        place = jnp.clip(place, here - setting.max_move, here + setting.max_move)
    return place if setting.box is None else jnp.clip(place, *setting.box)


def mixture_entropy(means: Float[Array, " n"]) -> Scalar:
    """Return the entropy [nats] of a reading whose mean is one of these, by a sum over a grid."""
    low, high = jnp.min(means) - _TAIL_NOISES * NOISE, jnp.max(means) + _TAIL_NOISES * NOISE
    values = low + (high - low) * jnp.linspace(0.0, 1.0, _NUM_VALUES)
    offsets = (values[:, None] - means[None, :]) / NOISE
    density = jnp.mean(jnp.exp(-0.5 * offsets * offsets), axis=1) / (NOISE * math.sqrt(2 * math.pi))
    terms = jnp.where(density > 0, density * jnp.log(jnp.maximum(density, 1e-30)), 0.0)
    return -jnp.sum(terms) * (high - low) / (_NUM_VALUES - 1)


class Score(NamedTuple):
    """Bounds of the information [nats] that readings give about the sources."""

    lower: Scalar
    upper: Scalar


def score(key: Key, setting: Setting, rollout: Rollout, num_contrasts: int) -> Score:
    r"""Return the bounds of Foster et al. (2021), from L contrasts $\theta_1 … \theta_L$ of the prior.

    With $p_l = p(y_{1:T} \mid \theta_l, x_{1:T})$ and the true sources $\theta_0$ these are
    $\log p_0 - \log \frac{1}{L+1} \sum_{l=0}^L p_l$, at most $\log(L + 1)$, and
    $\log p_0 - \log \frac1L \sum_{l=1}^L p_l$. Their means over rollouts are below and above the expected
    information.
    """
    model = build(setting)
    size = min(_CHUNK, num_contrasts)
    if num_contrasts % size:
        raise ValueError(f"The number of contrasts must be a multiple of {size}; got {num_contrasts}.")

    def log_likelihood(theta: Theta) -> Scalar:
        means = jax.vmap(lambda place: model.intensity(theta, Station(place)))(rollout.places)
        return -0.5 * jnp.sum(((rollout.values - means) / NOISE) ** 2)

    def add(total: Scalar, number: Array) -> tuple[Scalar, None]:
        keys = jax.random.split(jax.random.fold_in(key, number), size)
        contrasts = jax.vmap(model.prior.sample)(keys)
        return jnp.logaddexp(total, jax.nn.logsumexp(jax.vmap(log_likelihood)(contrasts))), None

    others, _ = jax.lax.scan(add, jnp.full((), -jnp.inf), jnp.arange(num_contrasts // size))
    true = log_likelihood(rollout.theta)
    return Score(
        true - jnp.logaddexp(others, true) + math.log(num_contrasts + 1),
        true - others + math.log(num_contrasts),
    )
