"""The protocols of the world. An implementation is one small final class, or a function."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from dowsax.types import Earlier, Key, Number, Scalar, Station, Theta
from dowsax.world.several_columns import SourceColumns
from dowsax.world.source import Parameter


@runtime_checkable
class Field(Protocol):
    """A scalar field: the noiseless reading that a source produces at a station.

    Amounts are never negative; levels in decibel and magnetic anomalies may be.
    """

    def __call__(self, theta: Theta, station: Station) -> Scalar: ...


@runtime_checkable
class Sensor(Protocol):
    """A noise model. Both methods describe the same distribution of a reading given the intensity."""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar: ...
    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar: ...


@runtime_checkable
class Removable(Protocol):
    """A field that says what is left of it without its source."""

    def without_source(self) -> Field: ...


class DirectionProfile(NamedTuple):
    """A field at a station as a function of the direction of the wind."""

    angle: Scalar
    """[rad], from the axis of the field to the station, counter-clockwise."""
    width: Scalar
    """[rad], of the field at the distance of the station."""
    value: Callable[[Scalar], Scalar]
    """The field in a wind turned by an angle [rad], counter-clockwise."""
    ends: tuple[Scalar, Scalar] | None = None
    """[rad], of a path: the angles from the axis to its start and to its far end; the nearest one between
    them is `angle`, to which the field need not be symmetric. `None` at a point."""
    parts: tuple["DirectionProfile", ...] = ()
    """Of several sources, that of each, whose angles, widths and ends differ."""


@runtime_checkable
class DirectionDependent(Protocol):
    """A field that can be evaluated for other wind directions at little cost."""

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        """Return the field as a function of the direction, which varies by about `spread` [rad]."""
        ...


@runtime_checkable
class NeedsTheta(Protocol):
    """A sensor whose noise depends on Θ."""

    def bind(self, theta: Theta) -> Sensor:
        """Return the sensor for this Θ."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """A sensor whose readings depend on the nearest earlier ones, `Station.earlier`.

    Without earlier readings it has the distribution of a first reading.
    """

    num_earlier: int
    """How many readings."""

    def gaps(self, station: Station, stations: Station, ages: Float[Array, " k"]) -> Float[Array, " k"]:
        """Return how far each reading is from a station: the nearest are recalled, infinitely far ones never.

        `ages` is how many readings ago each was taken, 1 for the latest.
        """
        ...

    def condense(self, station: Station, earlier: Earlier) -> Earlier:
        """Return what `Station.earlier` keeps of the nearest earlier readings, the nearest first."""
        ...


@runtime_checkable
class Comparable(Protocol):
    """A sensor whose readings do not compare as numbers: a difference of two may mean nothing."""

    def comparable(self, reading: Scalar, station: Station) -> Scalar:
        """Return a number that is the same for readings at a station which nothing tells apart."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A sensor that can tell which readings are impossible."""

    def fault(self, readings: np.ndarray) -> str | None:
        """Return one line that says what is wrong with the readings and what to do, or `None`."""
        ...


@runtime_checkable
class Mixed(Protocol):
    """A sensor some of whose readings have a probability and others a density.

    The entropy of such a reading depends on the unit of the density, which the sensor defines.
    """

    def log_unit(self, reading: Scalar) -> Scalar:
        """Return the log of the unit of this reading's density; 0 where it has a probability."""
        ...


@runtime_checkable
class Sketched(Protocol):
    """A sensor with expensive exact draws, and cheap approximate ones."""

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar: ...


@runtime_checkable
class Coordinates(Protocol):
    r"""A bijection between Θ and the coordinates in which the filter moves particles.

    The last `free` coordinates are uniform on (0, 1) under the prior, and neither the prior nor any
    likelihood depends on them: the filter redraws them exactly at no cost.
    """

    free: int

    def forward(self, theta: Theta) -> Theta: ...
    def inverse(self, coordinates: Theta) -> Theta: ...
    def log_det(self, coordinates: Theta) -> Scalar:
        r"""$\log |\det \partial \Theta / \partial \text{coordinates}|$."""
        ...


@runtime_checkable
class LogLinear(Coordinates, Protocol):
    r"""Coordinates some of which enter the logarithm of the field linearly, given the others.

    Moves exploit this, and stay exact where it holds only approximately.
    """

    linear: tuple[int, ...]
    """The indices of these coordinates."""

    @property
    def linear_guess(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Their prior means, and their prior precisions (one over the variance)."""
        ...

    def log_terms(self, coordinates: Theta, station: Station) -> tuple[Scalar, Float[Array, " k"]]:
        r"""$a$ and $h$ in $\log \phi = a + h \cdot \beta$, β the linear coordinates; β itself is not read."""
        ...


@runtime_checkable
class Prior(Protocol):
    """The distribution of Θ before the first reading; `log_prob` is normalised and −∞ outside the support."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def coordinates(self) -> Coordinates: ...
    def sample(self, key: Key) -> Theta: ...
    def log_prob(self, theta: Theta) -> Scalar: ...


@runtime_checkable
class Positioned(Protocol):
    """A prior that says which columns of Θ are the position of the source; default: the first two."""

    @property
    def position_columns(self) -> tuple[int, ...]:
        """East, north and, in three dimensions, height."""
        ...


@runtime_checkable
class SeveralSources(Protocol):
    """A prior of several sources alike, each with columns of its own; all others are shared."""

    @property
    def source_columns(self) -> SourceColumns | None:
        """Which columns each source has; `None` for one source."""
        ...

    @property
    def source_rows(self) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each source."""
        ...


@runtime_checkable
class Conditional(Protocol):
    """A prior that knows the distribution of some columns given the others."""

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        """Redraw these columns of Θ given the others."""
        ...

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        """Return the log density of these columns given the others."""
        ...


@runtime_checkable
class Location(Protocol):
    """The distribution of the source position alone: one factor of a prior."""

    def sample(self, key: Key) -> Theta: ...
    def log_prob(self, position: Theta) -> Scalar: ...


@runtime_checkable
class Distribution(Protocol):
    """The distribution of one number; `log_prob` is normalised and −∞ outside the support."""

    @property
    def logarithmic(self) -> bool:
        """Whether the number is positive and is best moved by factors."""
        ...

    def quantile(self, share: Scalar) -> Scalar:
        """Return the number below which this share, in [0, 1), of the draws lies."""
        ...

    def sample(self, key: Key) -> Scalar: ...
    def log_prob(self, value: Scalar) -> Scalar: ...


@runtime_checkable
class Transition(Protocol):
    """How Θ may change between two readings."""

    def sample(self, key: Key, theta: Theta) -> Theta: ...
    def log_prob(self, new: Theta, old: Theta) -> Scalar: ...
