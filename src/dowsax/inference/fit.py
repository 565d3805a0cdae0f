r"""Whether the model explains the readings: a test of their one-step-ahead ranks.

Under the right model the normal scores $s_k = \Phi^{-1}(u_k)$ of the ranks are independent and standard
normal, also where the noise is unknown (`ranks`). A wrong model leaves a pattern in them that no noise
level absorbs: scores that are too large, or that are alike for readings next to each other. Each pattern is a
quadratic form $s^\top A s$ with a kernel $A$:

- $A = I$: the scores are too large;
- $A_{ij}$ falls with the number of readings between i and j, over one reading or over a quarter of all: the
  errors last, or drift;
- $A_{ij}$ falls with the distance between i and j, over one and a half steps from place to place.

Its distribution is that of $\sum_i \lambda_i \chi^2_1$, with the eigenvalues of $A$, of which three moments
are matched (Pearson 1959). The smallest of the p-values counts, times their number (Bonferroni).

Where κ neighbouring readings count as one, their errors may be one error: forms are divided by κ, and there
are n / κ scores.
"""

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.special import gammaincc, ndtri
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.belief import Belief
from dowsax.types import Scalar
from dowsax.world import Model
from dowsax.world.sensors.redundant import Redundant

MAX_CHECKED_READINGS = 64
"""Readings, at most, that are tested, evenly spread: a long mission stays fast, and a small error small."""
_SHORT_LAG, _LONG_LAG_SHARE = 1.0, 0.25
"""[readings], and as a share of all: the ranges of the kernels in time."""
_RANGE_STEPS = 1.5
"""Range of the kernel in space, in typical distances between neighbouring places."""
_MIN_DISTANCE_M = 1e-3
"""[m], less is one place."""
_MIN_RANK = 1e-6


class CheckedScores(eqx.Module):
    """Normal scores of at most `MAX_CHECKED_READINGS` readings, and where and when these were taken."""

    scores: Float[Array, " m"]
    places: Float[Array, "m axes"]
    """[m]; of paths, their middles."""
    counts: Bool[Array, " m"]
    """Whether there is such a reading."""
    searchers: Int[Array, " m"] | None = None
    """Number of the searcher, where there are several."""

    @property
    def lags(self) -> Float[Array, "m m"]:
        """How many readings of one searcher it is from one to another; infinite between searchers."""
        numbers = jnp.arange(self.counts.shape[0], dtype=jnp.float32)
        if self.searchers is None:
            return jnp.abs(numbers[:, None] - numbers[None, :])
        is_same = self.searchers[:, None] == self.searchers[None, :]
        is_before = numbers[None, :] < numbers[:, None]
        own = jnp.sum(is_same & is_before, axis=1).astype(jnp.float32)
        return jnp.where(is_same, jnp.abs(own[:, None] - own[None, :]), jnp.inf)


def model_fit(model: Model, belief: Belief) -> Scalar:
    """Return the probability, at most, with which a right model would give readings that fit so badly.

    1 where the belief keeps no ranks.
    """
    if belief.ranks is None:
        return jnp.ones(())
    redundancy = model.sensor.count if isinstance(model.sensor, Redundant) else jnp.ones(())
    scores = checked_scores(belief)
    number = jnp.sum(scores.counts).astype(jnp.float32)
    # Those between two tested readings are left out, and with them those that err as one with either.
    step = belief.history.size / jnp.maximum(number, 1.0)
    redundancy = jnp.maximum(redundancy / jnp.maximum(step, 1.0), 1.0)
    size = jnp.sum(scores.scores**2)
    squares = [(size / redundancy, number / redundancy)]
    squares += [_chi_square(scores, kernel, redundancy) for kernel in _kernels(scores, number)]
    # One call for all: it is large, and takes long to compile.
    values, degrees = (jnp.stack(numbers) for numbers in zip(*squares, strict=True))
    chances = jnp.where(values > 0, gammaincc(degrees / 2, jnp.maximum(values, 0.0) / 2), 1.0)
    smallest = jnp.min(chances) * len(squares)
    return jnp.where(number > 0, jnp.clip(smallest, 0.0, 1.0), 1.0)


def checked_scores(belief: Belief) -> CheckedScores:
    """Return the scores of all readings, or of as many as are tested, evenly spread."""
    assert belief.ranks is not None
    room = min(MAX_CHECKED_READINGS, belief.ranks.shape[0])
    number = jnp.minimum(belief.history.size, room)
    order = jnp.arange(room)
    counts = order < number
    at = jnp.where(counts, order * belief.history.size // jnp.maximum(number, 1), 0)
    scores = ndtri(jnp.clip(belief.ranks[at], _MIN_RANK, 1 - _MIN_RANK))
    stations = belief.history.stations
    searchers = None if stations.searcher is None else stations.searcher[at]
    return CheckedScores(jnp.where(counts, scores, 0.0), stations.place[at], counts, searchers)


def _kernels(at: CheckedScores, number: Scalar) -> list[Float[Array, "m m"]]:
    """Return the kernels of neighbours in time and in space, with ones on the diagonal."""
    lags = at.lags
    squares = jnp.sum((at.places[:, None, :] - at.places[None, :, :]) ** 2, axis=-1)
    both = at.counts[:, None] & at.counts[None, :]
    others = jnp.where(both & (squares > _MIN_DISTANCE_M**2), squares, jnp.inf)
    nearest = jnp.min(others, axis=1)
    # The median of the readings that have another place; all are neighbours where there is one place alone.
    step = jnp.nanmedian(jnp.where(jnp.isfinite(nearest), nearest, jnp.nan))
    step = jnp.where(jnp.isnan(step), 1.0, step)
    longest = jnp.maximum(_LONG_LAG_SHARE * number, _SHORT_LAG)
    exponents = [(lags / _SHORT_LAG) ** 2, (lags / longest) ** 2, squares / (_RANGE_STEPS**2 * step)]
    return [jnp.where(both, jnp.exp(-0.5 * exponent), 0.0) for exponent in exponents]


def _chi_square(at: CheckedScores, kernel: Float[Array, "m m"], redundancy: Scalar) -> tuple[Scalar, Scalar]:
    r"""Return a value and degrees of freedom, of a χ² that stands for $s^\top A s / \kappa$.

    It exceeds the value about as often as $\sum_i \lambda_i \chi^2_1$, which has the same three moments,
    exceeds the form.
    """
    form = at.scores @ kernel @ at.scores / redundancy
    first, second = jnp.trace(kernel), jnp.sum(kernel**2)
    third = jnp.maximum(jnp.sum((kernel @ kernel) * kernel), 1e-6)
    degrees = second**3 / third**2
    return (form - first) * jnp.sqrt(degrees / jnp.maximum(second, 1e-6)) + degrees, degrees
