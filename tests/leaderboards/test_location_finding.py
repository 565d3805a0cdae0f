"""Location finding: its model, its bounds and its rules, against computations of their own."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

from dowsax.cli import run
from dowsax.leaderboards.location_finding import (
    NOISE,
    SETTINGS,
    Rollout,
    build,
    mixture_entropy,
    roll_out,
    score,
)
from dowsax.types import Station

FREE, BOXED, MOVING = SETTINGS[0], SETTINGS[1], SETTINGS[2]


def test_a_reading_is_the_log_of_all_signals():
    theta, place = np.array([0.3, -1.0, 2.0, 0.5]), np.array([0.5, 0.5])
    squares = ((theta.reshape(2, 2) - place) ** 2).sum(axis=1)
    expected = math.log(0.1 + (1 / (1e-4 + squares)).sum())
    found = build(FREE).intensity(jnp.asarray(theta), Station(jnp.asarray(place)))
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_entropy_of_a_mixture_is_its_integral():
    means = np.array([-2.0, 0.0, 0.2, 3.0])

    def density(value):
        return stats.norm.pdf(value, means, NOISE).mean()

    exact, _ = integrate.quad(lambda value: -density(value) * math.log(density(value)), -6, 7, limit=200)
    assert mixture_entropy(jnp.asarray(means)) == pytest.approx(exact, abs=0.02)


def test_the_bounds_are_those_of_their_definition():
    random = np.random.default_rng(0)
    places, values, theta = random.normal(0, 1, (30, 2)), random.normal(0, 1, 30), random.normal(0, 1, 4)
    rollout = Rollout(
        *(jnp.asarray(part, jnp.float32) for part in (theta, places, values)), jnp.zeros((1, 4)), jnp.zeros(1)
    )
    key, number = jax.random.key(1), 64
    keys = jax.random.split(jax.random.fold_in(key, 0), number)
    contrasts = np.asarray(jax.vmap(build(FREE).prior.sample)(keys))

    def log_likelihood(sources):
        squares = ((places[:, None] - sources.reshape(1, 2, 2)) ** 2).sum(axis=2)
        means = np.log(0.1 + (1 / (1e-4 + squares)).sum(axis=1))
        return -0.5 * (((values - means) / NOISE) ** 2).sum()

    true, others = log_likelihood(theta), np.array([log_likelihood(one) for one in contrasts])
    found = score(key, FREE, rollout, number)
    assert found.lower == pytest.approx(true - logsumexp([true, *others]) + math.log(number + 1), abs=0.05)
    assert found.upper == pytest.approx(true - logsumexp(others) + math.log(number), abs=0.05)


def test_places_keep_to_the_box_and_to_the_move():
    boxed = roll_out(jax.random.key(0), BOXED)
    assert np.abs(boxed.places).max() <= 4
    moving = roll_out(jax.random.key(0), MOVING)
    assert MOVING.max_move is not None
    assert np.abs(np.diff(np.asarray(moving.places), axis=0)).max() <= MOVING.max_move + 1e-6
    assert (np.asarray(moving.places) >= 0).all()
    assert (np.asarray(moving.places) <= 1).all()


def test_the_command_refuses_what_it_does_not_know(capsys):
    assert run(["leaderboard", "chess"]) == 2
    assert "location-finding" in capsys.readouterr().err
    assert run(["leaderboard", "location-finding", "--contrasts", "15000"]) == 2


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_form(capsys):
    assert run(["leaderboard", "location-finding", "--rollouts", "2", "--contrasts", "1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["setting"] for row in found["rows"]] == [one.name for one in SETTINGS for _ in range(2)]
