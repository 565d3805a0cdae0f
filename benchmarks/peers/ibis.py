"""IBIS by the PyPI package `particles`: reweight by each reading, resample, move on the full history.

The package's last release (0.4) refuses numpy 2, so a user of numpy 2 gets 0.3, which needs two repairs that
0.4 has: `np.float` is gone from numpy, and `IBIS` counted the first reading twice in the stored density. The
subclasses below carry those repairs, and work under both releases.
"""

from functools import cache

import numpy as np
import particles as smc_package
from particles import resampling, smc_samplers
from scipy import linalg

from benchmarks.peers import model
from benchmarks.peers.result import PeerResult, Stopwatch, global_seed


class CoordinatePrior:
    """The pinned prior in the coordinates, with the two methods the package asks of a prior."""

    def rvs(self, size: int) -> np.ndarray:
        # The package draws from numpy's global generator; this keeps the whole run under one seed.
        generator = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002
        return model.to_coordinates(model.sample_prior(generator, size))

    def logpdf(self, coordinates: np.ndarray) -> np.ndarray:
        return model.log_prior_coordinates(coordinates)


class SourceModel(smc_samplers.StaticModel):
    """The likelihood of one survey. `data` holds (position, reading) pairs in order."""

    def __init__(self, field: str, positions: np.ndarray, readings: np.ndarray):
        super().__init__(data=readings, prior=CoordinatePrior())
        self.field, self.positions = field, positions

    def logpyt(self, theta: np.ndarray, t: int) -> np.ndarray:
        particles = model.from_coordinates(theta)
        return model.log_likelihood(self.field, particles, self.positions[t : t + 1], self.data[t : t + 1])

    def loglik(self, theta: np.ndarray, t: int | None = None) -> np.ndarray:
        """As the package's own, with one change of coordinates for all readings instead of one each."""
        stop = self.T if t is None else t + 1
        particles = model.from_coordinates(theta)
        total = model.log_likelihood(self.field, particles, self.positions[:stop], self.data[:stop])
        return np.where(np.isnan(total), -np.inf, total)


class RandomWalk(smc_samplers.ArrayRandomWalk):
    """The package's Gaussian random walk, with the scale as an argument and plain arrays throughout."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def calibrate(self, W: np.ndarray, x: smc_samplers.ThetaParticles) -> None:
        _, covariance = resampling.wmean_and_cov(W, x.theta)
        # A sharp reading can leave fewer distinct particles than dimensions; the package then raises. A
        # centimetre (one per cent) keeps the walk proper and any scale leaves the target invariant.
        covariance += 1e-4 * np.eye(7)
        x.shared["chol_cov"] = self.scale * linalg.cholesky(covariance, lower=True)

    def proposal(self, x: smc_samplers.ThetaParticles, xprop: smc_samplers.ThetaParticles) -> float:
        noise = np.random.standard_normal(x.theta.shape)  # noqa: NPY002
        xprop.theta = x.theta + noise @ x.shared["chol_cov"].T
        return 0.0


class RepairedIBIS(smc_samplers.IBIS):
    """IBIS whose particles start with the density of the prior: `logG` adds the first reading."""

    def _M0(self, N: int) -> smc_samplers.ThetaParticles:
        start = smc_samplers.ThetaParticles(theta=self.model.prior.rvs(size=N))
        self.current_target(-1)(start)
        return start


@cache
def _compile_resampling() -> None:
    """The package compiles its resampling on first use; that is not a cost of a reading."""
    resampling.systematic(np.full(4, 0.25), 4)


def run(
    field: str,
    positions: np.ndarray,
    readings: np.ndarray,
    seed: int,
    *,
    num_particles: int = 1000,
    len_chain: int = 10,
    scale: float = 2.38 / 7**0.5,
    waste_free: bool = False,
) -> PeerResult:
    """`len_chain` − 1 moves at each resampling (ESS < n/2), of `scale` population standard deviations.

    Waste-free keeps every state of `num_particles` / `len_chain` chains; the package's own defaults are
    100 chains of 10.
    """
    _compile_resampling()
    sequence = smc_samplers.MCMCSequenceWF if waste_free else smc_samplers.AdaptiveMCMCSequence
    moves = sequence(mcmc=RandomWalk(scale), len_chain=len_chain)
    survey = SourceModel(field, positions, readings)
    feynman_kac = RepairedIBIS(model=survey, wastefree=waste_free, len_chain=len_chain, move=moves)
    resampled = num_particles // len_chain if waste_free else num_particles
    with global_seed(seed), Stopwatch() as stopwatch:
        sampler = smc_package.SMC(fk=feynman_kac, N=resampled, ESSrmin=0.5, collect="off")
        sampler.run()
        samples = model.from_coordinates(sampler.X.theta)
    return PeerResult(samples, np.asarray(sampler.W), stopwatch.seconds)
