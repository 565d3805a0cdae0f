"""The study of decisions: how choices are scored, and that the peer is given the same problem."""

import numpy as np
import pytest

from benchmarks import decisions
from benchmarks.peers import model

REFERENCE = np.array([[4.0, 1.0, 3.0], [1.0, 2.0, -np.inf]])


def test_agreement_counts_best_choices_and_what_the_others_lose():
    """One choice of four is not the best: it gets 3 of 4, a loss of a quarter once in four."""
    found = np.array([[[9.0, 0, 0], [0, 0, 9.0]], [[0, 9.0, 0], [0, 9.0, 0]]])
    expected = {"agreement": 0.75, "error": 0.25, "loss": 0.25 / 4}
    assert decisions.agreement(found, REFERENCE) == pytest.approx(expected)


def test_the_peer_sees_the_same_field():
    """Its own plume on our particles, but for the stand-off, of which it knows nothing."""
    gas = pytest.importorskip("stonesoup.models.measurement.gas")
    from benchmarks.peers import stone_soup_planner as planner

    particles = model.sample_prior(np.random.default_rng(0), 200)
    plume = gas.IsotropicPlume(translation_offset=np.append(decisions.POSITION, 0.0)[:, None])
    theirs = np.asarray(plume.function(planner.as_state(particles)), float).ravel()
    ours = model.log_field(particles, decisions.POSITION)
    far = (np.hypot(*(particles[:, :2] - decisions.POSITION).T) > 3) & (ours > -200)
    assert far.sum() > 100
    # A tenth of a metre across changes the distance by h²/2d, and that is counted in decay lengths.
    standoff = 0.01 / (2 * 3) * (1 / particles[:, 6] + 1 / 3)
    assert (np.abs(np.log(theirs[far]) - ours[far]) <= standoff[far] + 1e-3).all()
