"""The training command of the olfactory search: weights, checkpoint, and going on from it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.otto_learner import LearnerConfig
from benchmarks.otto_training import Training, evaluate, train
from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_network import load_card, load_network

CORRIDOR = Case("a corridor", (5, 1), (2, 0), 2, lambda east, north: np.full(east.shape, 0.5), 40, False)
TINY = LearnerConfig(searches=8, length=4, minibatch=16, widths=(8,))


@pytest.fixture
def training(tmp_path):
    return Training(CORRIDOR, 0.5 / 60, 0, tmp_path, TINY, "a command")


def test_training_goes_on_from_its_checkpoint(training, capsys):
    first = train(training)
    assert load_card(training.weights)["updates"] == first.updates
    longer = replace(training, minutes=1 / 60)
    second = train(longer)
    card = load_card(training.weights)
    assert card["updates"] == second.updates > first.updates
    assert card["seconds"] >= 1
    loaded = load_network(training.weights, CORRIDOR)
    np.testing.assert_allclose(loaded.layers[0].weight, second.averaged.layers[0].weight, atol=1e-3)
    assert capsys.readouterr().out.count("a-corridor: ") == 2


def test_what_is_trained_already_is_left_alone(training):
    first = train(training)
    assert train(training).updates == first.updates


def test_the_result_is_measured(training, capsys):
    evaluate(training, train(training), 20)
    assert "steps in 20 searches" in capsys.readouterr().out
