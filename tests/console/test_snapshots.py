"""Snapshots: particle samples, their packing, and their regions."""

import numpy as np
import pytest


def test_samples_come_back_to_a_thousandth_of_their_spread(key):
    """Half precision has 11 bits: an error of at most 2⁻¹¹ of the distance from the mean, and rounding."""
    import jax

    from dowsax.console.snapshots import ParticleSamples

    scales = np.array([1e-3, 1.0, 1e6])
    thetas = np.asarray(jax.random.normal(key, (400, 3)), np.float64) * scales + 5 * scales[::-1]
    thetas = thetas.astype(np.float32)
    back = ParticleSamples.unpack(ParticleSamples(thetas, np.zeros((len(thetas), 0))).pack()).thetas
    apart = np.abs(thetas - thetas.mean(axis=0, dtype=np.float64))
    assert (np.abs(back - thetas) <= 2**-11 * apart + 2**-22 * np.abs(thetas) + 1e-7 * scales).all()


def test_samples_that_are_all_the_same_come_back():
    from dowsax.console.snapshots import ParticleSamples

    samples = ParticleSamples.single((1.0, -2.5, 3e8))
    np.testing.assert_array_equal(ParticleSamples.unpack(samples.pack()).thetas, samples.thetas)


def belief_of(particles, weights):
    import jax.numpy as jnp

    from dowsax.inference.belief import Belief, empty_history
    from dowsax.types import Station

    return Belief(
        jnp.asarray(particles, jnp.float32),
        jnp.log(jnp.asarray(weights, jnp.float32)),
        jnp.zeros(len(weights)),
        jnp.zeros(len(weights), jnp.int32),
        empty_history(Station(jnp.zeros(2)), 4),
        jnp.zeros(()),
        jnp.ones(()),
    )


def test_samples_represent_equal_shares_of_the_weight():
    """A particle of weight w is drawn 400 w times, to the next whole number up or down."""
    from dowsax.console.snapshots import ParticleSamples

    weights = np.array([0.5, 0.0, 0.125, 0.374, 0.001])
    belief = belief_of(np.arange(10.0).reshape(5, 2), weights)
    counts = [int((ParticleSamples.of(belief).thetas[:, 0] == 2 * number).sum()) for number in range(5)]
    assert sum(counts) == 400
    assert (np.abs(counts - 400 * weights) < 1).all()


def test_regions_of_samples_are_those_of_the_belief():
    """Of 80 particles whose weights are whole numbers of draws: every one is drawn just as often."""
    from dowsax.console.snapshots import NUM_SAMPLES, ParticleSamples, add_particles
    from dowsax.geo.polygons import signed_area
    from dowsax.report.regions import credible_regions

    random = np.random.default_rng(3)
    particles = random.normal(10.0, (2.0, 1.0), (80, 2))
    counts = np.bincount(random.integers(0, 80, NUM_SAMPLES), minlength=80)
    belief = belief_of(particles, counts)
    made = add_particles({}, ParticleSamples.of(belief), [[0.0, 0.0], [20.0, 20.0]])["regions"]
    expected = credible_regions(particles, counts, (0.5, 0.95), (np.zeros(2), np.full(2, 20.0)))
    for name, probability in (("50", 0.5), ("95", 0.95)):
        area = sum(signed_area(np.array(ring)) for polygon in made[name] for ring in polygon)
        # Single precision moves the corners by a hundred-thousandth, and the level by no position.
        assert area == pytest.approx(expected[probability].area, rel=1e-3)


def test_a_snapshot_of_an_earlier_version_has_the_present_status(tmp_path):
    from dowsax.console.snapshots import ParticleSamples, SnapshotFile

    path, samples = tmp_path / "one.frames", ParticleSamples.single((1.0, 2.0))
    old = SnapshotFile(path, "one")
    old.add({"number": 1, "status": "cannot tell"}, samples)
    old.close()
    opened = SnapshotFile(path, "one")
    assert opened.between(1, 9) == [{"number": 1, "status": "inconclusive"}]
    assert opened.get(1)[0]["status"] == "inconclusive"
