r"""A source that jumps: at each reading some particles try a new source, and remember their earlier ones.

A particle is a path: the parameters that persist, the source of its present regime, and the sources of the
regimes before it, each with the reading at which it began. Its target density is

$$p(\Theta) \prod_{r} p(J_r \mid K) \prod_t p(o_t \mid J_{r(t)}, K)$$

with $J_r$ the columns that jump and $K$ those that persist. Moves change present source, earlier sources and
$K$ together, so that readings of earlier regimes still inform $K$; if nothing persists, earlier sources stay
as they are. A particle with more than `EARLIER_REGIMES` earlier regimes forgets the oldest, with its
readings.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Key
from dowsax.world import Jump, Model

EARLIER_REGIMES = 4
"""Number of earlier sources that a particle remembers."""
PATH_MOVES_FACTOR = 4
"""Ratio of the number of moves to that without jumps: paths after a jump descend from few particles."""
NEVER = jnp.iinfo(jnp.int32).max
"""The start of an unused regime."""


class Regimes(eqx.Module):
    """The sources of the particles before their latest jump, the latest first."""

    starts: Int[Array, "n regimes"]
    """Index of the reading at which each began; `NEVER` for unused entries."""
    values: Float[Array, "n regimes jumping"]
    """The columns of Θ that jump; zero in unused entries."""


def no_regimes(num_particles: int, jump: Jump) -> Regimes:
    """Return the regimes before any jump."""
    return Regimes(
        jnp.full((num_particles, EARLIER_REGIMES), NEVER, jnp.int32),
        jnp.zeros((num_particles, EARLIER_REGIMES, len(jump.columns))),
    )


class Paths(eqx.Module):
    """Regimes by column of Θ, as the likelihood of the history needs them."""

    jump: Jump
    starts: Int[Array, " n"]
    """Of the present regime."""
    earlier_starts: Int[Array, "regimes n"]
    earlier_values: Float[Array, "regimes jumping n"]

    @classmethod
    def of(cls, jump: Jump, starts: Int[Array, " n"], earlier: Regimes) -> "Paths":
        return cls(jump, starts, earlier.starts.T, jnp.moveaxis(earlier.values, 0, -1))

    def thetas_at(self, thetas: Float[Array, "d n"], number: Int[Array, ""]) -> Float[Array, "d n"]:
        """Return Θ at the reading of this index; `thetas` is the present one."""
        rows = list(thetas)
        for place, column in enumerate(self.jump.columns):
            value = self.earlier_values[-1, place]
            for regime in reversed(range(EARLIER_REGIMES - 1)):
                began = number >= self.earlier_starts[regime]
                value = jnp.where(began, self.earlier_values[regime, place], value)
            rows[column] = jnp.where(number >= self.starts, rows[column], value)
        return jnp.stack(rows)

    def remembers(self, number: Int[Array, ""]) -> Bool[Array, " n"]:
        """Return whether each particle remembers its regime at the reading of this index."""
        return number >= jnp.minimum(self.starts, jnp.min(self.earlier_starts, axis=0))

    def log_prior(self, model: Model, thetas: Float[Array, "d n"]) -> Float[Array, " n"]:
        r"""Return $\sum_r \log p(J_r \mid K)$ over the earlier regimes."""
        columns = jnp.array(self.jump.columns)

        def one(theta, starts, values):
            earlier = jax.vmap(lambda value: theta.at[columns].set(value))(values)
            terms = jax.vmap(lambda at: self.jump.log_prob(model.prior, at))(earlier)
            return jnp.sum(jnp.where(starts < NEVER, terms, 0.0))

        return jax.vmap(one, in_axes=(1, 1, 2))(thetas, self.earlier_starts, self.earlier_values)

    @property
    def rows(self) -> Float[Array, "rows n"]:
        """The earlier sources as coordinates of the moves."""
        return self.earlier_values.reshape(-1, self.starts.shape[0])

    def with_rows(self, rows: Float[Array, "rows n"]) -> "Paths":
        """Return the paths with these rows, the inverse of `rows`; unchanged without rows."""
        if rows.shape[0] == 0:
            return self
        return eqx.tree_at(
            lambda at: at.earlier_values, self, jnp.reshape(rows, jnp.shape(self.earlier_values))
        )

    @property
    def earlier(self) -> Regimes:
        """The inverse of `of`; unused entries are zero, even if they were moved."""
        used = self.earlier_starts < NEVER
        values = jnp.where(used[:, None, :], self.earlier_values, 0.0)
        return Regimes(self.earlier_starts.T, jnp.moveaxis(values, -1, 0))


def give_birth(
    key: Key,
    model: Model,
    jump: Jump,
    particles: Float[Array, "n d"],
    starts: Int[Array, " n"],
    earlier: Regimes,
    now: Int[Array, ""],
) -> tuple[Float[Array, "n d"], Int[Array, " n"], Regimes, Float[Array, " n"]]:
    """Let a share of the particles jump before the reading `now`.

    Returns particles, starts, earlier regimes, and the log factors that correct the weights for the share
    that differs from the hazard. Nothing jumps before the first reading.
    """
    num_particles = particles.shape[0]
    choice_key, birth_key = jax.random.split(key)
    born = (jax.random.uniform(choice_key, (num_particles,)) < jump.birth_share) & (now > 0)
    draw = jax.vmap(lambda key, theta: jump.sample(key, model.prior, theta))
    fresh = draw(jax.random.split(birth_key, num_particles), particles)
    log_birth = jnp.log(jump.hazard / jump.birth_share)
    log_survival = jnp.log1p(-jump.hazard) - jnp.log1p(-jump.birth_share)
    left = particles[:, jnp.array(jump.columns)]
    older = Regimes(
        jnp.concatenate([starts[:, None], earlier.starts[:, :-1]], axis=1),
        jnp.concatenate([left[:, None, :], earlier.values[:, :-1]], axis=1),
    )
    return (
        jnp.where(born[:, None], fresh, particles),
        jnp.where(born, now, starts),
        Regimes(
            jnp.where(born[:, None], older.starts, earlier.starts),
            jnp.where(born[:, None, None], older.values, earlier.values),
        ),
        jnp.where(now > 0, jnp.where(born, log_birth, log_survival), 0.0),
    )
