"""Stone Soup's particle filter with its MCMC regulariser, a static source and the exact likelihood.

The state is Θ in units of its prior standard deviation. The prior is flat there but for the wind, which suits
the regulariser, whose acceptance step knows no prior; the units keep its covariances well conditioned. The
regulariser scores only the newest reading: that is how the package does it.
"""

import copy
from datetime import datetime, timedelta

import numpy as np
from stonesoup.base import Property
from stonesoup.models.measurement.base import MeasurementModel
from stonesoup.models.transition.linear import LinearGaussianTimeInvariantTransitionModel
from stonesoup.predictor.particle import ParticlePredictor
from stonesoup.regulariser.particle import MCMCRegulariser
from stonesoup.resampler.particle import ESSResampler, SystematicResampler
from stonesoup.types.array import StateVector, StateVectors
from stonesoup.types.detection import Detection
from stonesoup.types.hypothesis import SingleHypothesis
from stonesoup.types.state import ParticleState, State
from stonesoup.updater.particle import ParticleUpdater

from benchmarks.peers import model
from benchmarks.peers.result import PeerResult, Stopwatch, global_seed, normalise

START = datetime(2000, 1, 1)
"""The package counts in time stamps; a static source does not care which."""

PRIOR_STD = np.array([4.3, 4.3, 860.0, 1.7, 1.7, 1.1, 2.1])
"""The units of the state."""


def _particles(state: State) -> np.ndarray:
    """Θ, (n, 7), out of the package's (7, n)."""
    return np.asarray(state.state_vector, float).T * PRIOR_STD


def _outside(state: State) -> np.ndarray:
    """Which particles the prior rules out, (n,)."""
    return ~model.in_support(_particles(state))


class ReadingModel(MeasurementModel):
    """The law of one reading, taken at one position."""

    field: str = Property(doc="Which of the seven sensors")
    position: np.ndarray = Property(doc="Where the reading was taken, [m]")

    @property
    def ndim_meas(self) -> int:
        return 1

    def function(self, state: State, noise: bool | np.ndarray = False, **_: object) -> StateVectors:
        if noise is not False:
            raise NotImplementedError("The filter never draws readings.")
        return StateVectors(np.exp(model.log_field(_particles(state), self.position))[None, :])

    def rvs(self, num_samples: int = 1, **_: object) -> StateVectors:
        raise NotImplementedError("The noise depends on the state; the filter never draws it.")

    def pdf(self, state1: State, state2: State, **_: object) -> np.ndarray:
        return np.exp(self.logpdf(state1, state2))

    def logpdf(self, state1: State, state2: State, **_: object) -> np.ndarray:
        reading = float(state1.state_vector[0, 0])
        return model.log_likelihood(self.field, _particles(state2), self.position[None], [reading])


class FlooredRegulariser(MCMCRegulariser):
    """The package's own, with a floor under the covariance of the kernel.

    One sharp reading can leave copies of a single particle, whose covariance is zero: the package then
    raises. The floor lets it go on, as a user would have to.
    """

    floor: np.ndarray = Property(doc="Covariance added to that of the particles")

    def regularise(self, prior: ParticleState, posterior: ParticleState, **kwargs: object) -> ParticleState:
        floored = copy.copy(posterior)
        floored.fixed_covar = posterior.covar + self.floor
        moved = super().regularise(prior, floored, **kwargs)
        moved.fixed_covar = None
        return moved


def run(
    field: str,
    positions: np.ndarray,
    readings: np.ndarray,
    seed: int,
    *,
    num_particles: int = 5000,
    noise: float = 0.01,
    floor: float = 0.01,
) -> PeerResult:
    """Systematic resampling when ESS < n/2, each followed by one regularisation step.

    `noise` (of the transition, at each reading) and `floor` (of the regulariser's kernel) are standard
    deviations in units of the prior's. Without noise the spread comes out far too small in one case of ten.
    """
    static = LinearGaussianTimeInvariantTransitionModel(
        transition_matrix=np.eye(7), covariance_matrix=noise**2 * np.eye(7)
    )
    predictor = ParticlePredictor(static)
    regulariser = FlooredRegulariser(
        transition_model=static, constraint_func=_outside, floor=floor**2 * np.eye(7)
    )
    resampler = ESSResampler(threshold=num_particles / 2, resampler=SystematicResampler())
    updater = ParticleUpdater(
        measurement_model=None, resampler=resampler, regulariser=regulariser, constraint_func=_outside
    )

    with global_seed(seed), Stopwatch() as stopwatch:
        drawn = model.sample_prior(np.random.default_rng(seed), num_particles)
        log_weight = np.full(num_particles, -np.log(num_particles))
        belief = ParticleState(StateVectors((drawn / PRIOR_STD).T), log_weight=log_weight, timestamp=START)
        for step, (position, reading) in enumerate(zip(positions, readings, strict=True), start=1):
            law = ReadingModel(ndim_state=7, mapping=(0, 1), field=field, position=position)
            when = START + timedelta(seconds=step)
            detection = Detection(StateVector([float(reading)]), timestamp=when, measurement_model=law)
            prediction = predictor.predict(belief, timestamp=when)
            belief = updater.update(SingleHypothesis(prediction, detection))
    return PeerResult(_particles(belief), normalise(belief.log_weight), stopwatch.seconds)
