"""Sensors: distributions of a reading given the noiseless one."""

from dowsax.world.sensors.censored import Censored
from dowsax.world.sensors.counting import Counting
from dowsax.world.sensors.decibel import Decibel
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.lognormal import LogNormal
from dowsax.world.sensors.poisson import Poisson
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.switched import Switched, cheap_sampler
from dowsax.world.sensors.uncertain_counting import UncertainCounting
from dowsax.world.sensors.unknown_noise import UnknownNoise

__all__ = [
    "Censored",
    "Counting",
    "Decibel",
    "Gaussian",
    "LogNormal",
    "Poisson",
    "StudentT",
    "Switched",
    "UncertainCounting",
    "UnknownNoise",
    "cheap_sampler",
]
