"""Fields: the noiseless reading of a source at a station, with background, lag and wind."""

from dowsax.world.fields.arranged import Arranged
from dowsax.world.fields.background import Background, MeasuredBackground
from dowsax.world.fields.beam import Beam
from dowsax.world.fields.dipole import Dipole
from dowsax.world.fields.efficient import Efficient
from dowsax.world.fields.gaussian_plume import GaussianPlume
from dowsax.world.fields.inverse_square import InverseSquare
from dowsax.world.fields.lagged import Lagged
from dowsax.world.fields.log_distance import LogDistance
from dowsax.world.fields.nothing import Flat, Nothing
from dowsax.world.fields.path_mean import PathMean
from dowsax.world.fields.plume import Plume
from dowsax.world.fields.wind import GivenWind, InferredWind

__all__ = [
    "Arranged",
    "Background",
    "Beam",
    "Dipole",
    "Efficient",
    "Flat",
    "GaussianPlume",
    "GivenWind",
    "InferredWind",
    "InverseSquare",
    "Lagged",
    "LogDistance",
    "MeasuredBackground",
    "Nothing",
    "PathMean",
    "Plume",
]
