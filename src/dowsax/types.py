"""Types that every layer shares: keys, scalars, positions, parameter vectors and stations."""

from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

Key = PRNGKeyArray
Scalar = Float[Array, ""]
Number = float | Scalar
"""Of a model: a float, and, inside a compiled program, one of its arguments."""
Position = Float[Array, " axes"]
"""[m], east and north, and up in three dimensions."""
Theta = Float[Array, " d"]


class OpenPath(NamedTuple):
    """A straight line along which an instrument that stands there reads the mean."""

    start: Float[Array, "*batch axes"]
    end: Float[Array, "*batch axes"]
    """[m]"""
    altitude: Float[Array, "*batch"] | None = None
    """[m], above ground; `None` for that of the station before."""


class Waypoint(NamedTuple):
    """A place to go to, at a height above ground."""

    position: Float[Array, "*batch axes"]
    """[m]"""
    altitude: Float[Array, "*batch"]
    """[m], above ground."""


Target = Position | OpenPath | Waypoint
"""Where to take a reading: a place to go to, at the height of the station before or at one of its own, or a
path."""


class Trail(eqx.Module):
    """The stations just before this one, the latest first, and their ages.

    If there are fewer stations than the trail's length, the oldest is repeated; the trail of a first reading
    is its own station with age zero.
    """

    stations: "Station"
    """With one more batch axis, the last, and without trails of their own."""
    ages: Float[Array, "*batch length"]
    """[s] before this station, at least zero and never decreasing."""


class Earlier(eqx.Module):
    """The nearest readings before this one, or means of groups of them, where the reading depends on them.

    If there are fewer readings, the others are this station with a reading of zero, and do not count.
    """

    stations: "Station"
    """With one more batch axis, the last, and without earlier readings of their own."""
    readings: Float[Array, "*batch number"]
    is_taken: Bool[Array, "*batch number"]
    """Whether there is such a reading."""
    weights: Float[Array, "..."] | None = None
    """What the sensor makes of their places beforehand, as it does not depend on Θ."""


class Station(eqx.Module):
    """Where a reading was taken, and what was measured along with it.

    In the benchmark a station is just a position. What was not measured is `None`, so that a field or
    sensor that needs it fails at trace time and not with a wrong number.
    """

    position: Float[Array, "*batch axes"]
    """[m], east and north in local coordinates, and up where the search is in three dimensions."""
    wind: Float[Array, "*batch 2"] | None = None
    """[m/s], the velocity of the air: where it goes, not where it comes from."""
    dwell: Float[Array, "*batch"] | None = None
    """[s], how long the sensor counted."""
    time: Float[Array, "*batch"] | None = None
    """[s], since the start of the survey."""
    altitude: Float[Array, "*batch"] | None = None
    """[m], of the sensor above ground."""
    sensor: Int[Array, "*batch"] | None = None
    """The number of the sensor, from 0."""
    background: Float[Array, "*batch"] | None = None
    """In the unit of the field: what this sensor reads there without a source, where that is known."""
    efficiency: Float[Array, "*batch"] | None = None
    """Above zero: what this sensor reads of a source, relative to the sensor that the model has."""
    uncertainty: Float[Array, "*batch"] | None = None
    """In the unit of the reading: its standard deviation beyond the noise that the model has."""
    heading: Float[Array, "*batch"] | None = None
    """[°], where the antenna points: clockwise from north."""
    trail: Trail | None = None
    """What came before, for sensors that lag."""
    earlier: Earlier | None = None
    """The nearest readings before, where the reading depends on them; the filter finds them."""
    searcher: Int[Array, "*batch"] | None = None
    """The number of the searcher, from 0, where there are several."""
    far_end: Float[Array, "*batch axes"] | None = None
    """[m], the other end of an open path: the reading is the mean along the straight line from `position`.
    Where it is the position itself, and where there is none, the reading is at a point."""

    @property
    def target(self) -> "Float[Array, '*batch axes'] | OpenPath":
        """Where a reading of this station is taken."""
        if self.far_end is None:
            return self.position
        return OpenPath(self.position, self.far_end, self.altitude)

    @property
    def place(self) -> Float[Array, "*batch axes"]:
        """[m], of the reading where one place stands for all of it: the middle of a path."""
        return self.position if self.far_end is None else 0.5 * (self.position + self.far_end)
