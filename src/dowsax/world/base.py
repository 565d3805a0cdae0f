"""The protocols of the world. An implementation is one small final class, or a function."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.source import Parameter


@runtime_checkable
class Field(Protocol):
    """A scalar field: the noiseless reading that a source produces at a station.

    Amounts are never negative; levels in decibel and magnetic anomalies may be.
    """

    def __call__(self, theta: Theta, station: Station) -> Scalar: ...


@runtime_checkable
class Sensor(Protocol):
    """A noise model. Both methods describe one and the same law of the reading given the intensity."""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar: ...
    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar: ...


@runtime_checkable
class Removable(Protocol):
    """A field that knows what is left of it where there is no source."""

    def without_source(self) -> Field: ...


class Turning(NamedTuple):
    """A field at a station as a function of the direction of the wind."""

    angle: Scalar
    """[rad], of the station from the axis of the field, counter-clockwise."""
    width: Scalar
    """[rad], of the field there."""
    value: Callable[[Scalar], Scalar]
    """What the field is in a wind turned by so much [rad], counter-clockwise."""


@runtime_checkable
class Turnable(Protocol):
    """A field that knows what it is in other directions of the wind."""

    def turning(self, theta: Theta, station: Station) -> Turning: ...


@runtime_checkable
class Unsettled(Protocol):
    """A sensor whose noise is unknown too: it depends on Θ."""

    def settled(self, theta: Theta) -> Sensor:
        """The sensor, were Θ the truth."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A sensor that knows which readings it can never give."""

    def fault(self, readings: np.ndarray) -> str | None:
        """One line that says what is wrong with the readings and what to do, or `None`."""
        ...


@runtime_checkable
class Mixed(Protocol):
    """A sensor of which some readings have a probability and others a density.

    The entropy of such a reading depends on the unit of the densities; the sensor says which is its own.
    """

    def log_unit(self, reading: Scalar) -> Scalar:
        """The log of the unit in which the density of this reading counts; 0 where it has a probability."""
        ...


@runtime_checkable
class Sketched(Protocol):
    """A sensor whose draws are expensive, and that has cheap ones which are nearly of its law."""

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar: ...


@runtime_checkable
class Coordinates(Protocol):
    r"""A bijection between Θ and the coordinates in which the filter moves particles.

    The last `free` coordinates are uniform on (0, 1) under the prior, and neither the prior nor any
    likelihood depends on them: the filter redraws them exactly and for nothing.
    """

    free: int

    def forward(self, theta: Theta) -> Theta: ...
    def inverse(self, coordinates: Theta) -> Theta: ...
    def log_det(self, coordinates: Theta) -> Scalar:
        r"""$\log |\det \partial \Theta / \partial \text{coordinates}|$."""
        ...


@runtime_checkable
class LogLinear(Coordinates, Protocol):
    r"""Coordinates of which some enter the logarithm of the field linearly, given the others.

    Moves make use of it. They stay exact where it is only roughly so.
    """

    linear: tuple[int, ...]
    """Which of the coordinates."""

    @property
    def linear_guess(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """What they are beforehand, and how precisely (one over the variance)."""
        ...

    def log_terms(self, coordinates: Theta, station: Station) -> tuple[Scalar, Float[Array, " k"]]:
        r"""$a$ and $h$ in $\log \phi = a + h \cdot \beta$, β the linear coordinates; β itself is not read."""
        ...


@runtime_checkable
class Prior(Protocol):
    """The law of Θ before the first reading; `log_prob` is normalised and −∞ outside the support."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def coordinates(self) -> Coordinates: ...
    def sample(self, key: Key) -> Theta: ...
    def log_prob(self, theta: Theta) -> Scalar: ...


@runtime_checkable
class Conditional(Protocol):
    """A prior that knows the distribution of some columns given the others."""

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        """Draw these columns of Θ again, given the others."""
        ...

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        """Density of these columns given the others."""
        ...


@runtime_checkable
class Location(Protocol):
    """The law of the source position alone: one factor of a prior."""

    def sample(self, key: Key) -> Theta: ...
    def log_prob(self, position: Theta) -> Scalar: ...


@runtime_checkable
class Law(Protocol):
    """The law of one number; `log_prob` is normalised and −∞ outside the support."""

    @property
    def logarithmic(self) -> bool:
        """Whether the number is positive and best moved by factors."""
        ...

    def quantile(self, share: Scalar) -> Scalar:
        """The number below which this share of the draws is, in [0, 1)."""
        ...

    def sample(self, key: Key) -> Scalar: ...
    def log_prob(self, value: Scalar) -> Scalar: ...


@runtime_checkable
class Transition(Protocol):
    """How Θ may change between two readings."""

    def sample(self, key: Key, theta: Theta) -> Theta: ...
    def log_prob(self, new: Theta, old: Theta) -> Scalar: ...
