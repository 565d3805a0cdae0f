"""Bad input to the library: each kind is a ValueError of one line that says what to do, before any work."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import dowsax
from dowsax.inference import FilterConfig, Preset
from dowsax.inference.arguments import check_survey
from dowsax.types import Station
from dowsax.world import PARAMETERS, Gaussian, Parameter, PlumeCoordinates, PlumePrior

POSITIONS = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
READINGS = np.array([1.0, 2.0, 3.0])


def changed(values, at, value):
    """A copy with one entry replaced."""
    values = values.copy()
    values[at] = value
    return values


def error_of(positions, readings, field="temperature", **keywords):
    """The message of the ValueError, which must be one line that ends a sentence."""
    with pytest.raises(ValueError, match=r"\.$") as caught:
        dowsax.locate(positions, readings, field=field, **keywords)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("positions", "readings"),
    [
        (np.ones((3, 3)), np.ones(3)),
        (np.ones(3), np.ones(3)),
        (np.ones((3, 1)), np.ones(3)),
        (np.ones((1, 1, 3, 2)), np.ones((1, 1, 3))),
        (np.ones((3, 2)), np.ones(4)),
        (np.ones((3, 2)), np.ones((3, 1))),
        (np.ones((2, 3, 2)), np.ones((3, 2))),
    ],
)
def test_wrong_shapes(positions, readings):
    """The message says which shape was expected and which was given."""
    message = error_of(positions, readings)
    assert "shape" in message
    assert str(positions.shape) in message or str(readings.shape) in message


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_survey(shape):
    assert "empty" in error_of(np.ones((*shape, 2)), np.ones(shape))


def test_not_numbers():
    """Ragged rows and words."""
    ragged = np.array([[1.0, 2.0], [3.0]], dtype=object)
    assert "positions must be an array of numbers" in error_of(ragged, np.ones(2))
    assert "readings must be an array of numbers" in error_of(POSITIONS, np.array(["a", "b", "c"]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e31])
def test_not_finite(value):
    """NaN, infinity and what float32 cannot hold, in a position or a reading; the message says where."""
    assert "position 1" in error_of(changed(POSITIONS, (1, 0), value), READINGS)
    assert "reading 2" in error_of(POSITIONS, changed(READINGS, 2, value))
    batch = np.stack([READINGS, changed(READINGS, 0, value)])
    assert "survey 1, reading 0" in error_of(np.stack([POSITIONS] * 2), batch)


IMPOSSIBLE = [
    ("energy", -1.0, "whole number"),
    ("energy", 2.5, "whole number"),
    ("concentration", 0.0, "above zero"),
    ("concentration", -0.1, "above zero"),
    ("gas", -0.1, "below zero"),
    ("gas", 0.004, "threshold"),
]


@pytest.mark.parametrize(("field", "value", "reason"), IMPOSSIBLE)
def test_readings_the_sensor_never_gives(field, value, reason):
    message = error_of(POSITIONS, changed(READINGS, 1, value), field)
    assert reason in message
    assert f"{value:g}" in message


@pytest.mark.parametrize(("field", "value", "reason"), IMPOSSIBLE)
def test_readings_the_sensor_never_gives_in_a_batch(field, value, reason):
    """The message names the survey as well."""
    batch = np.stack([READINGS, changed(READINGS, 1, value)])
    message = error_of(np.stack([POSITIONS] * 2), batch, field)
    assert reason in message
    assert "of survey 1" in message


def test_possible_readings_pass_unchanged():
    """A survey without fault comes out as it went in, as float32."""
    positions, readings = check_survey(POSITIONS, READINGS, Gaussian(0.1, 0.01))
    assert positions.dtype == readings.dtype == np.float32
    np.testing.assert_array_equal(positions, POSITIONS)
    np.testing.assert_array_equal(readings, READINGS)


def test_unknown_field_lists_the_known():
    message = error_of(POSITIONS, READINGS, "radio")
    assert "radio" in message
    assert all(name in message for name in dowsax.world.MODALITIES)


def test_unknown_preset_lists_the_known():
    message = error_of(POSITIONS, READINGS, preset="fastest")
    assert "default" in message
    assert "paper" in message


@pytest.mark.parametrize("particles", [15, 1, 0, -5])
def test_too_few_particles(particles):
    assert "at least 16" in error_of(POSITIONS, READINGS, particles=particles)


def test_field_or_model_but_not_both_or_neither():
    model = dowsax.benchmark_model("gas")
    assert "either" in error_of(POSITIONS, READINGS, field=None)
    assert "either" in error_of(POSITIONS, READINGS, field="gas", model=model)


class Nowhere(eqx.Module):
    """Draws like the benchmark's prior, of which it says that none of them is possible."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return PARAMETERS

    @property
    def coordinates(self) -> PlumeCoordinates:
        return PlumePrior().coordinates

    def sample(self, key):
        return PlumePrior().sample(key)

    def log_prob(self, theta):
        del theta
        return jnp.full((), -jnp.inf, jnp.float32)


def test_a_prior_that_excludes_everything():
    # A filter without moves compiles in a moment, and what is tested does not depend on them.
    plain = Preset(FilterConfig(num_particles=16, temper=False, num_moves=0, max_moves=0), proposals=())
    message = error_of(POSITIONS, READINGS, prior=Nowhere(), preset=plain)
    assert "prior excludes everything" in message


def test_a_reading_that_nothing_explains():
    """10²⁵ K: every likelihood is zero in single precision, however small a part. The message says which."""
    message = error_of(POSITIONS, changed(READINGS, 1, 1e25), particles=64)
    assert "explains reading 1" in message
    assert "1e+25 at (2, 2)" in message
    batch = np.stack([READINGS, changed(READINGS, 1, 1e25)])
    assert "reading 1 of survey 1" in error_of(np.stack([POSITIONS] * 2), batch, particles=64)


def test_an_absurd_reading_is_never_trusted():
    """10⁶ K: whether or not particles reach the edge of the prior on the way, it is not called found."""
    try:
        posterior = dowsax.locate(POSITIONS, changed(READINGS, 1, 1e6), field="temperature", particles=64)
    except ValueError as refusal:
        assert "explains reading 1" in str(refusal)  # noqa: PT017
    else:
        assert not posterior.fits
        assert not posterior.found


def test_a_surprising_reading_is_assimilated_in_parts():
    """100 K at one place: a collapse for a plain filter, several stages for this one, and no NaN."""
    posterior = dowsax.locate(POSITIONS, changed(READINGS, 1, 100.0), field="temperature", particles=64)
    assert posterior.trace.stages[1] > 1
    assert np.isfinite(posterior.samples).all()
    assert np.isfinite(posterior.log_evidence)
    assert posterior.weights.sum() == pytest.approx(1)


def test_masked_and_complex_readings_are_refused():
    """Neither has one real number for every position."""
    assert "masked" in error_of(POSITIONS, np.ma.masked_array(READINGS, mask=[False, True, False]))
    assert "numbers" in error_of(POSITIONS, READINGS + 1j)


def test_a_seed_out_of_range_is_refused():
    assert "`seed`" in error_of(POSITIONS, READINGS, seed=2**70)


@pytest.mark.parametrize("effort", [0.0, -1.0, 2.0, float("nan")])
def test_an_effort_that_is_no_share(effort):
    assert error_of(POSITIONS, READINGS, effort=effort).startswith("`effort` must be a share in (0, 1]; got")


@pytest.mark.parametrize("far_end", [np.ones((3, 1)), np.ones((3, 3)), np.ones(3)])
def test_a_far_end_that_is_no_place(far_end):
    """Put in after the construction of the station, whose own checks of shapes are on in tests only."""
    stations = Station(jnp.asarray(POSITIONS), far_end=jnp.asarray(POSITIONS))
    stations = eqx.tree_at(lambda at: at.far_end, stations, far_end)
    message = error_of(stations, READINGS)
    assert message == f"`far_end` must have the shape of the positions, (3, 2); got {far_end.shape}."
