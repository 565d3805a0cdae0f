"""Replays of pools: what may be chosen when, what is counted, and that all orders end at the same belief."""

import csv
import math
from itertools import islice

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import real_sets, replay, replay_pools
from benchmarks.real_sets import Case, Truth
from benchmarks.replay import ORDERS, Bench, Score
from benchmarks.replay_pools import ANY_TURN, Pool, going_round, random_picks
from dowsax.inference import DEFAULT
from dowsax.types import Station
from dowsax.world import Model, UniformBox
from dowsax.world.compose import compose
from dowsax.world.distributions import Normal

HERE = pytest.mark.skipif(real_sets.missing(real_sets.DATA) is not None, reason="the real sets are not there")
SOURCE = np.array([3.0, -2.0])
PRESET = DEFAULT.with_particles(64)
# The same room for all made-up pools: one compiled program.
BENCH = Bench(PRESET, size=12, turns=12, seeds=(0, 1))


def _model() -> Model:
    """A level of which all but the place is known."""
    gain = {"gain_east": 0.0, "gain_north": 0.0}
    return compose(
        "level",
        UniformBox((-10.0, -10.0), (10.0, 10.0)),
        distributions={"level": Normal(0.0, 1.0), "exponent": 2.0, "height": 1.0, **gain},
        noise={"noise_floor": 1.0, "correlation": 0.0},
        options={"altitude": 0.0},
    )


def _pool(number: int = 12, num_sensors: int | None = None, name: str = "one") -> Pool:
    """Readings of the model on a ring, or of so many sensors that each have their turn."""
    model = _model()
    at = np.arange(number) % (num_sensors or number)
    angles = 2 * np.pi * at / (num_sensors or number) + 0.1
    places = jnp.asarray(8 * np.stack([np.cos(angles), np.sin(angles)], axis=1), jnp.float32)
    theta = jnp.array([*SOURCE, 0.0], jnp.float32)
    keys = jax.random.split(jax.random.key(number), number)
    values = jax.vmap(lambda key, place: model.sample_reading(key, theta, Station(place)))(keys, places)
    case = Case("made-up", name, Station(places), np.asarray(values), model, np.zeros(2))
    turns = np.full(number, ANY_TURN) if num_sensors is None else np.arange(number) // num_sensors
    return Pool(case, turns.astype(np.int32), model, model)


@pytest.mark.parametrize("choose", [random_picks, going_round], ids=lambda one: one.__name__)
def test_every_sampler_is_read_once(choose):
    order = choose(_pool(), np.random.default_rng(1))
    assert sorted(order) == list(range(12))


@pytest.mark.parametrize("choose", [random_picks, going_round], ids=lambda one: one.__name__)
def test_one_sensor_is_read_a_turn(choose):
    pool = _pool(number=20, num_sensors=4)
    order = choose(pool, np.random.default_rng(1))
    assert list(pool.turns[order]) == [0, 1, 2, 3, 4]


def test_going_round_is_a_round_from_a_random_start():
    """On a ring the next one is the neighbour, and so it is of sensors that are read in turn."""
    order = going_round(_pool(), np.random.default_rng(3))
    assert set(np.diff(order) % 12) == {1}
    starts = {int(going_round(_pool(), np.random.default_rng(seed))[0]) for seed in range(9)}
    assert len(starts) > 1
    sensors = going_round(_pool(number=20, num_sensors=4), np.random.default_rng(3)) % 4
    assert set(np.diff(sensors) % 4) == {1}


def test_the_bench_has_room_for_the_largest():
    bench = replay.bench_for([_pool(), _pool(number=20, num_sensors=4)], PRESET, [0])
    assert (bench.size, bench.turns) == (20, 12)


def test_what_is_needed_has_to_be_held():
    errors = np.array([1.0, 9.0, 1.0, 1.0, 1.0, 9.0, 1.0])
    assert replay.needed(errors, 2.0) == (3, True)
    assert replay.settled(errors, 2.0) == 7
    assert replay.needed(errors, 0.5) == (7, False)
    assert replay.settled(errors, 0.5) == 7
    assert replay.needed(np.ones(2), 1.0) == (1, True)
    assert replay.settled(np.ones(2), 1.0) == 1
    # A belief that explains nothing has no mean.
    assert replay.needed(np.full(4, np.nan), 1.0) == (4, False)
    assert replay.settled(np.full(4, np.nan), 1.0) == 4


def test_only_what_can_be_had_has_a_gain_and_that_of_the_planner(key):
    """As judged one by one; a station where every source would read the same tells nothing."""
    pool = _pool()
    deck = replay.deck_of(pool, 20)
    filter_ = PRESET.with_horizon(4).build(pool.model)
    belief = filter_.init(key)
    gains = eqx.filter_jit(replay.gains)
    chosen = jnp.arange(20) % 3 == 1
    some = np.asarray(gains(key, pool.model, belief, deck.stations, chosen & deck.filled))
    alone = np.asarray(gains(key, pool.model, belief, deck.stations, jnp.arange(20) == 4))
    assert np.isfinite(some).nonzero()[0].tolist() == [1, 4, 7, 10]
    assert some[4] == pytest.approx(alone[4], rel=1e-5)
    far = eqx.tree_at(lambda at: at.position, deck.stations, deck.stations.position.at[0].set(1e5))
    worth = np.asarray(gains(key, pool.model, belief, far, jnp.arange(20) < 2))
    assert worth[0] < 0.5 * worth[1]


def _exact(pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """The mean (2,) and standard deviation (2,) of the place after all readings, by a grid over Θ."""
    sides = jnp.linspace(-10, 10, 61), jnp.linspace(-10, 10, 61), jnp.linspace(-4, 4, 17)
    thetas = jnp.stack([axis.ravel() for axis in jnp.meshgrid(*sides)], axis=1)
    terms = jax.vmap(jax.vmap(pool.model.log_likelihood, (None, 0, 0)), (0, None, None))
    log_likelihoods = jnp.sum(terms(thetas, pool.case.stations, jnp.asarray(pool.case.values)), axis=1)
    weights = np.asarray(jax.nn.softmax(log_likelihoods + jax.vmap(pool.model.prior.log_prob)(thetas)))
    places = np.asarray(thetas[:, :2])
    mean = weights @ places
    return mean, np.sqrt(weights @ (places - mean) ** 2)


@pytest.mark.slow
def test_a_made_up_pool_is_replayed():
    """Every order ends at the exact posterior, within sampling error; the same seed gives the same."""
    pool = _pool()
    mean, std = _exact(pool)
    for order in ORDERS:
        track = BENCH.places(pool, order, 0)
        # Weights may have degenerated to half of the particles, and the grid has cells of a third of a metre.
        assert (np.abs(track[-1] - mean) < 5 * std / (0.5 * 64) ** 0.5 + 0.1).all()
        assert (track == BENCH.places(pool, order, 0)).all()


def test_scores_are_of_every_order_and_seed():
    pool = _pool()
    rows = list(replay.scores(BENCH, pool, SOURCE))
    assert [(row.order, row.seed) for row in rows] == [(order, seed) for order in ORDERS for seed in (0, 1)]
    assert all(1 <= row.readings <= row.settled <= row.turns == row.pool == 12 for row in rows)
    # The truth is for scoring alone: another one changes the errors and nothing that was chosen.
    assert all(row.final_error > 90 for row in replay.scores(BENCH, pool, SOURCE + 100))


def test_sensors_that_have_to_be_chosen_are_scored_by_all_of_them():
    pool = _pool(num_sensors=4)
    rows = list(replay.scores(BENCH, pool, SOURCE))
    assert {(row.pool, row.turns) for row in rows} == {(12, 3)}
    last = np.mean([BENCH.everything(pool, seed) for seed in (0, 1)], axis=0)
    assert {row.final_error for row in rows} == {float(np.linalg.norm(last - SOURCE))}


def _score(name: str, order: str, seed: int, readings: int) -> Score:
    return Score("metec", name, order, seed, 100, 50, readings, True, readings, 2.0, 3.0)


def test_the_table_has_a_row_an_order():
    """Twice the readings of Infotaxis in every run is a ratio of two without any doubt."""
    needs = {"infotaxis": 1, "random": 2, "round": 3}
    scored = [
        _score(name, order, seed, base * many)
        for name, base in (("1", 4), ("2", 7))
        for order, many in needs.items()
        for seed in (0, 1)
    ]
    lines = replay.table(scored).splitlines()
    assert len(lines) == 5
    assert "2 × 2" in lines[2]
    assert "2.00 [2.00, 2.00] | 2 / 0" in lines[3]
    assert "3.00 [3.00, 3.00]" in lines[4]


def test_a_lone_run_has_an_interval_over_seeds():
    scored = [_score("1", order, seed, 4 + seed) for order in ORDERS for seed in range(5)]
    assert replay.by_run(scored, "round").tolist() == [4, 5, 6, 7, 8]


def test_scores_come_back_from_their_file(tmp_path):
    replay.write([_score("1", "round", 2, 9)], tmp_path / "replay.csv")
    with (tmp_path / "replay.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["order"], row["seed"], row["readings"], row["final_error"]) == ("round", "2", "9", "2")


def test_the_command_prints_the_table_and_writes_a_line_a_replay(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(replay_pools, "SETS", {"made-up": lambda _: iter([_pool()])})
    monkeypatch.setattr(real_sets, "truths", lambda *_: {"one": Truth(SOURCE, math.nan)})
    out = tmp_path / "replay.csv"
    words = ["replay", "--data", str(tmp_path), "--particles", "64", "--seeds", "2", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    replay.main()
    assert capsys.readouterr().out.count("| made-up | 1 × 2 | 12 |") == len(ORDERS)
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 2 * len(ORDERS)


def test_a_missing_folder_is_said_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["replay", "--data", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit, match="--data"):
        replay.main()


@HERE
@pytest.mark.parametrize("group", list(replay_pools.SETS))
def test_a_pool_is_read_without_the_truth(group, monkeypatch):
    def forbidden(*_):
        raise AssertionError("a pool has read the truth")

    monkeypatch.setattr(real_sets, "_truth", forbidden)
    for pool in islice(replay_pools.SETS[group](real_sets.DATA), 2):
        assert len(pool.turns) == len(pool.case.values)
        order = random_picks(pool, np.random.default_rng(0))
        assert len(set(order.tolist())) == pool.num_turns


@HERE
def test_a_turn_of_metec_has_each_sensor_at_most_once_in_one_wind():
    """The wind is that of the site: within a turn it is the same for all sensors but for missing minutes."""
    pool = next(replay_pools.metec(real_sets.DATA))
    sensors, winds = np.asarray(pool.case.stations.sensor), np.asarray(pool.case.stations.wind)
    pairs = set(zip(pool.turns.tolist(), sensors.tolist(), strict=True))
    assert len(pairs) == len(pool.turns)
    spread = [np.ptp(winds[pool.turns == turn], axis=0).max() for turn in range(pool.num_turns)]
    assert np.median(spread) < 0.1
