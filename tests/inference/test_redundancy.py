"""How many readings count as one: the estimate against errors whose correlation is known."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

from dowsax.inference.locate import locate
from dowsax.inference.redundancy import (
    bisect_readings,
    correlation_estimate,
    estimate_redundancy,
    groupings,
    jackknife_estimate,
    max_redundancy,
    min_redundancy,
    with_redundancy,
)
from dowsax.types import Station
from dowsax.world import Model, benchmark_model
from dowsax.world.sensors.redundant import Redundant

NUM_READINGS, NUM_SURVEYS = 200, 200


def grid(number):
    return np.stack([np.arange(number, dtype=float), np.zeros(number)], axis=1)


def clustered(generator, size):
    """Scores of readings of which `size` at one place have the same error, and where they were taken."""
    errors = np.repeat(generator.standard_normal(NUM_READINGS // size), size)
    return ndtr(errors), np.repeat(10.0 * grid(NUM_READINGS // size), size, axis=0)


def test_independent_errors_count_one_by_one():
    """Above one only where the first correlation passes its test by chance, and then by a standard error.

    One survey of 20 does so; it then has the mean of a normal beyond 1.645, which is 2.06 standard errors.
    """
    generator = np.random.default_rng(0)
    found = [
        correlation_estimate(generator.uniform(size=NUM_READINGS), grid(NUM_READINGS))
        for _ in range(NUM_SURVEYS)
    ]
    share = np.mean(np.array(found) > 1)
    assert share <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / NUM_SURVEYS)
    assert np.mean(found) - 1 <= 2 * 0.05 * 2.06 / np.sqrt(NUM_READINGS) + 5 * np.std(found) / np.sqrt(
        NUM_SURVEYS
    )


@pytest.mark.parametrize("size", [2, 5, 10])
def test_errors_that_are_the_same_count_once(size):
    """Readings in groups that share their error: a group of m counts as one."""
    generator = np.random.default_rng(size)
    found = [correlation_estimate(*clustered(generator, size)) for _ in range(NUM_SURVEYS)]
    # Each of the m − 1 correlations is one; the next is zero and counts by chance only.
    slack = 2 * 0.05 * 2.06 * np.sqrt(size / NUM_READINGS) * size
    assert abs(np.mean(found) - size) <= slack + 5 * np.std(found) / np.sqrt(NUM_SURVEYS)


@pytest.mark.slow
def test_an_autoregression_has_its_known_sum():
    """Errors in a row with correlation ρ^lag, two neighbours at each lag: κ = 1 + 2ρ/(1 − ρ), less a tail."""
    generator, rho, number = np.random.default_rng(3), 0.7, 2000
    found = []
    for _ in range(20):
        noise = generator.standard_normal(number) * np.sqrt(1 - rho**2)
        errors = np.empty(number)
        errors[0] = generator.standard_normal()
        for at in range(1, number):
            errors[at] = rho * errors[at - 1] + noise[at]
        found.append(correlation_estimate(ndtr(errors), grid(number)))
    # Correlations below 1.645/√n are not added: two at each lag from the first such one on.
    first_lost = np.ceil(np.log(1.645 / np.sqrt(number)) / np.log(rho))
    whole = 1 + 2 * rho / (1 - rho)
    tail = 2 * rho**first_lost / (1 - rho)
    slack = 5 * np.std(found) / np.sqrt(len(found))
    assert whole - tail - slack <= np.mean(found) <= whole + slack


def test_readings_of_one_place_are_neighbours_in_time():
    """A sensor that stays: with the times the slow error is seen, whatever the order of the readings."""
    generator = np.random.default_rng(4)
    errors = np.repeat(generator.standard_normal(NUM_READINGS // 10), 10)
    mixed = generator.permutation(NUM_READINGS)
    scores, places = ndtr(errors)[mixed], np.zeros((NUM_READINGS, 2))
    assert (
        correlation_estimate(scores, places, times=mixed.astype(float))
        > 3
        > 2
        > correlation_estimate(scores, places)
    )


def test_neither_units_nor_the_frame_matter():
    generator = np.random.default_rng(5)
    scores, places = clustered(generator, 5)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert correlation_estimate(scores, places) == correlation_estimate(scores, 3.0 * places @ turn + 100.0)


def test_the_jackknife_is_that_of_means():
    """Two means of normal readings: without a group the mean is that of the others, the belief N(ȳ, 1/k).

    The eigenvalue of an exact jackknife, to 5 standard errors of a variance over this many samples.
    """
    generator, number, num_samples = np.random.default_rng(6), 128, 100_000
    readings = np.repeat(generator.standard_normal((number // 8, 2)), 8, axis=0)
    groups = bisect_readings(grid(number), 4)
    samples = readings.mean(axis=0) + generator.standard_normal((num_samples, 2)) / np.sqrt(number)
    terms = np.stack([-0.5 * np.sum((samples - reading) ** 2, axis=1) for reading in readings], axis=1)
    without = np.array([readings[groups != group].mean(axis=0) for group in range(16)])
    moved = without - without.mean(axis=0)
    exact = np.linalg.eigvalsh(number * moved.T @ moved * 15 / 16)[-1]
    found = jackknife_estimate(samples, np.ones(num_samples), terms, groups)
    # Samples weigh differently without a group: count those that are as good as equal ones.
    effective = num_samples * (number - number / 16) / number
    np.testing.assert_allclose(found, exact, rtol=5 * np.sqrt(2 * 16 / effective))


def test_a_single_sample_does_not_decide_on_the_jackknife():
    """One of n, at three standard deviations, that would weigh as much as all others without one group.

    Ratios of n and 1 have the mean 2 − 1/n, and none counts more than √n times that; the mean then moves by
    the share of that one, and the jackknife of one of G groups that moves the mean by m is (1 − 1/G)² m².
    """
    generator, number, num_groups = np.random.default_rng(8), 1024, 16
    samples = generator.standard_normal((number, 2))
    samples[0] = 3.0, 0.0
    terms = np.zeros((number, num_groups))
    terms[0, 0] = -np.log(number)
    found = jackknife_estimate(samples, np.ones(number), terms, np.arange(num_groups))
    most = np.sqrt(number) * (2 - 1 / number)
    share = most / (most + number - 1)
    away = samples[0] - samples.mean(axis=0)
    moved = (share - (1 - share) / (number - 1)) * away
    expected = (1 - 1 / num_groups) ** 2 * moved @ np.linalg.solve(np.cov(samples.T, bias=True), moved)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_groups_are_halves_of_halves():
    """Of about equal size, in one piece each."""
    groups = bisect_readings(grid(100), 3)
    assert groups.max() == 7
    assert set(np.bincount(groups)) <= {12, 13}
    assert (np.diff(groups) >= 0).all()


def test_places_part_before_times_do():
    """Two places, many times: the first cut is between the places; and one parting is by time alone."""
    places, times = np.repeat([[0.0, 0.0], [5.0, 0.0]], 32, axis=0), np.tile(np.arange(32.0), 2)
    by_place, by_time = groupings(places, times)
    assert len(np.unique(by_place[:32])) == len(np.unique(by_place[32:])) == 8
    assert not set(by_place[:32]) & set(by_place[32:])
    assert (np.diff(by_time[:32]) >= 0).all()
    assert groupings(places[:8], None) == []


def test_without_times_readings_of_one_place_are_in_the_order_of_the_file():
    """The partings are those of times that are the line numbers; where no place repeats there is one."""
    places = np.repeat([[0.0, 0.0], [5.0, 0.0]], 32, axis=0)
    for ours, theirs in zip(groupings(places, None), groupings(places, np.arange(64.0)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(groupings(grid(64), None)) == 1


def test_without_times_a_place_counts_as_at_most_four_readings():
    """Ten sensors read 30 times each: 40 of 300; with times, or with few repeats, nothing is taken away."""
    places = np.tile(10.0 * grid(10), (30, 1))
    assert min_redundancy(places, None) == pytest.approx(300 / 40)
    # A millimetre is one place, and a dozen effective readings are left also of a single one.
    assert min_redundancy(places + 1e-5, None) == pytest.approx(300 / 40)
    assert min_redundancy(np.zeros((300, 2)), None) == max_redundancy(300) == 25
    assert min_redundancy(places, np.arange(300.0)) == 1
    assert min_redundancy(np.repeat(grid(20), 3, axis=0), None) == 1


def test_simulated_readings_count_one_by_one(key):
    """Under the true source every simulated reading errs on its own."""
    model = benchmark_model("gas")
    source_key, place_key, noise_key, own_key = jax.random.split(key, 4)
    theta = model.prior.sample(source_key)
    stations = Station(jax.random.uniform(place_key, (60, 2), maxval=20.0))
    values = np.asarray(jax.jit(model.simulate)(noise_key, theta, stations))
    samples, weights = np.tile(np.asarray(theta), (4, 1)), np.full(4, 0.25)
    found = estimate_redundancy(own_key, with_redundancy(model, 1.0), samples, weights, stations, values)
    assert 1 <= found <= 1 + 5 / np.sqrt(60)


@pytest.mark.slow
def test_a_survey_given_twice_counts_as_once(key):
    """Every reading twice at its place: at least about two count as one."""
    model = benchmark_model("temperature")
    place_key, noise_key = jax.random.split(key)
    theta = jnp.array([8.0, 12.0, 1.0, 1.0, 0.5, 1.0, 3.0], jnp.float32)
    stations = Station(jax.random.uniform(place_key, (30, 2), maxval=20.0))
    values = np.asarray(jax.jit(model.simulate)(noise_key, theta, stations))
    places = np.repeat(np.asarray(stations.position), 2, axis=0)
    answers = [
        locate(places, np.repeat(values, 2), model=model, particles=256, redundancy=count)
        for count in ("estimated", 2)
    ]
    assert answers[1].redundancy == 2
    assert answers[0].redundancy >= 2 - 5 / np.sqrt(30)


def test_the_count_of_a_counted_model_is_replaced():
    model = with_redundancy(with_redundancy(benchmark_model("gas"), 3.0), 2.0)
    assert isinstance(model.sensor, Redundant)
    assert not isinstance(model.sensor.sensor, Redundant)
    assert model.sensor.count == 2


@pytest.mark.parametrize("wrong", ["many", 0.5, float("nan")])
def test_a_wrong_redundancy_is_refused(wrong):
    with pytest.raises(ValueError, match="`redundancy` must be a number >= 1"):
        locate([[1.0, 1.0]], [1.0], "gas", redundancy=wrong)


def test_a_batch_has_no_estimate():
    with pytest.raises(ValueError, match="one by one"):
        locate(np.ones((2, 3, 2)), np.ones((2, 3)), "gas", redundancy="estimated")


def test_the_count_is_the_one_its_own_belief_asks_for(monkeypatch):
    """From the first, loose one on, until the next asks for no more than a fifth more."""
    asks = {4.0: 2.0, 2.0: 3.0, 3.0: 3.3}
    monkeypatch.setattr(
        "dowsax.inference.locate.estimate_redundancy", lambda _, model, *__: asks[float(model.sensor.count)]
    )
    places = np.stack(np.meshgrid(np.arange(6.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    found = locate(places, np.ones(48), "temperature", preset="plain", particles=256, redundancy="estimated")
    assert (found.redundancy, found.redundancy_estimate) == (3.0, 3.3)


@pytest.mark.parametrize(("number", "most"), [(5, 1), (12, 1), (48, 4), (252, 21)])
def test_a_dozen_readings_are_left(number, most):
    assert max_redundancy(number) == most


def test_the_count_of_a_survey_has_its_limit(monkeypatch):
    """An absurd estimate is cut, kept beside it, and reported as a misfit; one of neighbours is not."""
    places = np.stack(np.meshgrid(np.arange(6.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    for asked, used, misfit in ((40.0, 4.0, True), (6.0, 4.0, False), (3.0, 3.0, False)):
        monkeypatch.setattr("dowsax.inference.locate.estimate_redundancy", lambda *_, asked=asked: asked)
        found = locate(
            places, np.ones(48), "temperature", preset="plain", particles=256, redundancy="estimated"
        )
        assert (found.redundancy, found.redundancy_estimate) == (used, asked)
        assert found.has_systematic_errors == misfit
    assert (
        locate(places, np.ones(48), "temperature", preset="plain", particles=256).has_systematic_errors
        is False
    )


def test_one_large_estimate_of_three_is_not_believed(monkeypatch):
    asked = iter([9.0, 1.0, 1.1, 1.2])
    monkeypatch.setattr("dowsax.inference.locate.estimate_redundancy", lambda *_: next(asked))
    places = np.random.default_rng(0).uniform(5, 20, (48, 2))
    found = locate(places, np.ones(48), "temperature", preset="plain", particles=256, redundancy="estimated")
    assert (found.redundancy, found.redundancy_estimate) == (pytest.approx(1.1), 1.2)


def test_an_estimate_at_its_limit_is_checked_with_more_moves(monkeypatch):
    """The same survey with five times the terms, and what that asks for; not in a preset without a limit."""
    places = np.stack(np.meshgrid(np.arange(6.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    plain = locate(places, np.ones(48), "temperature", preset="plain", particles=256)
    efforts: list[float] = []

    def run(model, preset, stations, values, key, effort):
        efforts.append(effort)
        return replace(plain, redundancy=float(model.sensor.count))

    monkeypatch.setattr("dowsax.inference.locate._locate", run)
    monkeypatch.setattr(
        "dowsax.inference.locate.estimate_redundancy", lambda *_: 3.9 if efforts[-1] == 1 else 1.5
    )
    found = locate(places, np.ones(48), "temperature", preset="survey", redundancy="estimated")
    assert found.redundancy == 1.5
    assert set(efforts) == {1.0, 5.0}
    efforts.clear()
    found = locate(places, np.ones(48), "temperature", preset="plain", redundancy="estimated")
    assert (found.redundancy, set(efforts)) == (pytest.approx(3.9), {1.0})
    # Readings of few places without times count for few, however well the particles have moved.
    efforts.clear()
    places = places[:1].repeat(48, 0)
    locate(places, np.ones(48), "temperature", preset="survey", redundancy="estimated")
    assert set(efforts) == {1.0}


def test_the_place_of_an_open_path_is_its_middle(key):
    """Whichever end comes first, paths err together with the neighbours of their middles."""
    inner = benchmark_model("temperature")
    model = Model(
        inner.prior, lambda theta, station: inner.field(theta, Station(station.place)), inner.sensor
    )
    generator = np.random.default_rng(3)
    middles, halves = generator.uniform(2.0, 23.0, (32, 2)), generator.uniform(-2.0, 2.0, (32, 2))
    first, second = (jnp.asarray(middles + sign * halves, jnp.float32) for sign in (-1, 1))
    samples = np.asarray(jax.vmap(model.prior.sample)(jax.random.split(key, 64)))
    values = np.asarray(model.simulate(key, jnp.asarray(samples[0]), Station(0.5 * (first + second))))
    found = [
        estimate_redundancy(key, model, samples, np.full(64, 1 / 64), stations, values)
        for stations in (
            Station(0.5 * (first + second)),
            Station(first, far_end=second),
            Station(second, far_end=first),
        )
    ]
    np.testing.assert_allclose(found[1:], found[0], rtol=1e-5)
