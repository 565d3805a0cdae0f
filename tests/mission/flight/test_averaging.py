"""Samples become readings: places between positions, means, and counts of the whole time."""

import math
from dataclasses import replace

import pytest

from dowsax.mission.flight.airspace import Waypoint
from dowsax.mission.flight.averaging import Track, average, level_of
from dowsax.survey.reading import Reading


def test_the_place_of_a_sample_lies_between_two_positions():
    track = Track()
    for time in range(4):
        track.add(float(time), Waypoint((10.0 * time, 0.0), 5.0 + time))
    assert track.at(1.25) == Waypoint((12.5, 0.0), 6.25)
    assert track.at(4.5) == Waypoint((30.0, 0.0), 8.0)
    assert track.at(9.0) is None
    track.add(2.0, Waypoint((0.0, 0.0), 0.0))
    assert track.newest == 3.0


def test_the_mean_of_samples_at_a_place():
    samples = [
        Reading(
            (float(n), 2.0),
            float(n),
            wind=(1.0, float(n)),
            time=100.0 + n,
            altitude=10.0 + n,
            quantities={"uncertainty": 2.0, "heading": (350.0 + 10 * n) % 360.0},
        )
        for n in range(4)
    ]
    (mean,) = average(samples)
    assert mean.position == (1.5, 2.0)
    assert (mean.value, mean.time, mean.altitude, mean.wind) == (1.5, 101.5, 11.5, (1.0, 1.5))
    assert mean.quantities["uncertainty"] == pytest.approx(1.0)
    assert math.cos(math.radians(mean.quantities["heading"] - 5.0)) == pytest.approx(1.0)


def test_counts_cover_the_time_once_and_hits_count():
    """Ten overlapping samples of one second within two seconds cover 2.8 s of counting."""
    samples = [Reading((0.0, 0.0), 5.0, time=0.2 * n, dwell=1.0) for n in range(10)]
    (mean,) = average(samples, unit="counts")
    assert mean.dwell == pytest.approx(2.8)
    assert mean.value == pytest.approx(5.0 * 2.8)
    (rate,) = average(samples, unit="cps")
    assert (rate.value, rate.dwell) == (5.0, pytest.approx(2.8))
    hits = [Reading((0.0, 0.0), value) for value in (0.0, 1.0, 0.0)]
    assert average(hits, kind="binary")[0].value == 1.0


@pytest.mark.parametrize("begin", [None, 0.0, 1.75e9])
def test_counts_of_unequal_times_add_up(begin):
    """10 in one second and 100 in the ten after it are 110 in 11 s; in the middle of these they are 10 s."""
    for order in (1, -1):
        pairs = [(10.0, 1.0, 1.0), (100.0, 10.0, 11.0)][::order]
        samples = [
            Reading((0.0, 0.0), value, dwell=dwell, time=None if begin is None else begin + end)
            for value, dwell, end in pairs
        ]
        (mean,) = average(samples, unit="counts")
        assert (mean.value, mean.dwell) == (pytest.approx(110.0), pytest.approx(11.0))
        if begin is not None:
            within = [replace(one, time=begin + (5.0 if one.dwell == 1.0 else 11.0)) for one in samples]
            (mean,) = average(within, unit="counts")
            assert (mean.value, mean.dwell) == (pytest.approx(100.0), pytest.approx(10.0))


def test_no_time_is_too_short_for_a_mean():
    """A stranger may send it."""
    samples = [Reading((0.0, 0.0), 1.0, time=9.0, dwell=dwell) for dwell in (1e-300, 5.0)]
    for chosen, seconds in ((samples, 5.0), (samples[::-1], 5.0), (samples[:1], 1e-300)):
        (mean,) = average(chosen, unit="counts")
        assert mean.dwell == seconds
        assert mean.value == pytest.approx(len(chosen))


def test_sensors_are_not_mixed_and_heights_are_those_of_the_site():
    read = (1.0, "A"), (3.0, "A"), (9.0, "B")
    samples = [Reading((0.0, 0.0), value, sensor=name) for value, name in read]
    assert [(one.sensor, one.value) for one in average(samples)] == [("A", 2.0), ("B", 9.0)]
    assert level_of(5.8, (2.0, 6.0)) == 6.0
    assert level_of(4.0, (2.0, 6.0)) == 4.0
    assert level_of(4.0, ()) == 4.0
