"""Which columns of Θ are the position: said by the prior, else the first two."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world import (
    ExtendedPrior,
    Jump,
    Parameter,
    PlumePrior,
    position_columns,
    put_position,
    source_columns,
    take_position,
)
from dowsax.world.distributions import Uniform


class Turned(eqx.Module):
    """The plume's prior with its columns in another order: the position is in two of them."""

    columns: tuple[int, ...] = eqx.field(static=True)

    parameters = PlumePrior().parameters
    coordinates = PlumePrior().coordinates

    @property
    def position_columns(self) -> tuple[int, ...]:
        return self.columns

    def sample(self, key):
        return PlumePrior().sample(key)

    def log_prob(self, theta):
        return PlumePrior().log_prob(theta)


def test_the_prior_says_where_the_position_is():
    assert position_columns(PlumePrior()) == (0, 1)
    assert position_columns(Turned((4, 2))) == (4, 2)
    nuisance = Parameter("background", "", "without a source")
    assert position_columns(ExtendedPrior(Turned((1, 2, 3)), (Uniform(0.0, 1.0),), (nuisance,))) == (1, 2, 3)
    assert source_columns(PlumePrior()) is None
    assert Jump().for_prior(Turned((4, 2))).columns == (4, 2)
    assert Jump(columns=(3,)).for_prior(Turned((4, 2))).columns == (3,)


@pytest.mark.parametrize("columns", [(0,), (0, 1, 2, 3), (1, 1), (0, 7), (-1, 0)])
def test_columns_that_are_no_position_are_refused(columns):
    with pytest.raises(ValueError, match=r"two or three different columns of Θ, from 0 to 6; got "):
        position_columns(Turned(columns))


@pytest.mark.parametrize("columns", [(0, 1), (3, 4, 5), (5, 2), (6, 0, 3)])
@pytest.mark.parametrize("module", [np, jnp], ids=["numpy", "jax"])
def test_positions_are_taken_column_by_column(columns, module):
    thetas = module.arange(21.0).reshape(3, 7)
    expected = np.stack([np.arange(21.0).reshape(3, 7)[:, column] for column in columns], axis=1)
    assert (np.asarray(take_position(thetas, columns)) == expected).all()
    assert (np.asarray(take_position(thetas[1], columns)) == expected[1]).all()


@pytest.mark.parametrize("columns", [(0, 1), (5, 2), (6, 0, 3)])
def test_a_source_is_put_where_it_is_taken_from(columns):
    theta, place = jnp.arange(7.0), -1.0 - jnp.arange(float(len(columns)))
    moved = put_position(theta, place, columns)
    assert (take_position(moved, columns) == place).all()
    others = [column for column in range(7) if column not in columns]
    assert (moved[np.array(others)] == theta[np.array(others)]).all()
