"""What is recorded of a run: all of it, or little that is enough for any stop rule."""

import io
import zlib

import numpy as np
import pytest

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.records import pack, unpack
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.suites.measures import cut_to_ladder, numbers_of

RULES = (
    CONTRACTION,
    CREDIBLE,
    TraceRule("entropy", 1.0),
    TraceRule("max-weight", 0.1),
    TraceRule("fixed", 9.0),
)


def made_search(generator, length):
    """A search of unit moves whose numbers are far from every threshold, or random in between."""
    column = lambda low, high: generator.uniform(low, high, length).astype(np.float32)  # noqa: E731
    moves = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)], np.float32)[generator.integers(4, size=length)]
    moves[0] = 0
    position = generator.uniform(8, 12, 2).astype(np.float32) + np.cumsum(moves, axis=0)
    theta = generator.uniform(5, 20, 7).astype(np.float32)
    rows = Row(
        position=position,
        reading=column(0, 9),
        path_length=np.cumsum(np.linalg.norm(moves, axis=1)).astype(np.float32),
        mean=np.stack([column(5, 20), column(5, 20)], axis=1),
        error=column(0.1, 4.0),
        spread=column(0.3, 3.0),
        mass=column(0.3, 1.0),
        entropy=column(0.1, 5.0),
        max_weight=column(0.0, 0.2),
        ess=column(1, 2048),
    )
    return Episode(theta, theta + np.float32(1), rows, 0.25, 200)


def size_of(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return len(file.getvalue())


def test_any_rule_stops_where_it_did():
    """Half precision is off by 2⁻¹¹ at most: of 200 searches no more than one may stop elsewhere."""
    generator = np.random.default_rng(5)
    episodes = [made_search(generator, int(length)) for length in generator.integers(2, 60, 200)]
    again = unpack(pack(episodes, "compact", signals=True))
    for rule in RULES:
        moved = sum(
            rule.first_stop(one) != rule.first_stop(other) for one, other in zip(episodes, again, strict=True)
        )
        assert moved <= 1
    for one, other in zip(episodes, again, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        np.testing.assert_array_equal(one.final_theta[:2], other.final_theta[:2])
        np.testing.assert_allclose(one.rows.position, other.rows.position, atol=1e-3)
        np.testing.assert_allclose(one.rows.path_length, other.rows.path_length, atol=1e-3)
        for name in ("error", "spread", "entropy", "max_weight", "ess"):
            np.testing.assert_allclose(
                getattr(one.rows, name), getattr(other.rows, name), rtol=2**-11, atol=1e-7
            )
        np.testing.assert_allclose(1 - one.rows.mass, 1 - other.rows.mass, rtol=2**-11, atol=1e-6)


def test_a_thousand_searches_are_some_200_kilobytes():
    """35 readings a search; three numbers of two bytes each, which are random here, and moves."""
    generator = np.random.default_rng(6)
    episodes = [made_search(generator, 35) for _ in range(1000)]
    assert size_of(pack(episodes, "compact")) < 300_000


def test_a_rule_whose_column_was_not_recorded_never_stops():
    episodes = [made_search(np.random.default_rng(7), 20)]
    (again,) = unpack(pack(episodes, "compact"))
    assert np.isnan(again.rows.entropy).all()
    assert TraceRule("entropy", 9.0).first_stop(again) is None


def test_a_full_record_loses_nothing():
    generator = np.random.default_rng(4)
    episodes = [made_search(generator, length) for length in (3, 8, 2)]
    for one, other in zip(episodes, unpack(pack(episodes)), strict=True):
        assert one.seconds == other.seconds
        for left, right in zip((*one[:2], *one.rows), (*other[:2], *other.rows), strict=True):
            np.testing.assert_array_equal(left, right)


def test_rows_that_are_missing_are_noticed():
    arrays = pack([made_search(np.random.default_rng(4), 8)])
    with pytest.raises(ValueError, match="rows are missing"):
        unpack(arrays | {"row_ess": arrays["row_ess"][:-1]})


def test_a_compact_record_is_of_the_same_searches():
    """The same sources, moves and errors in both details."""
    sizes = {"episodes": 3, "seed": 4, "particles": 64, "max_readings": 6}
    full, compact = (
        unpack(
            Run("greedy", "temperature", preset="plain", detail=detail, **sizes).compute(
                0, 3, lambda ended: None, None
            )
        )
        for detail in ("full", "compact")
    )
    for one, other in zip(compact, full, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        np.testing.assert_allclose(one.rows.position, other.rows.position, atol=1e-3)
        np.testing.assert_allclose(one.rows.error, other.rows.error, rtol=2**-11)


def test_a_whole_record_is_read_as_far_as_others_go():
    """Cut where the last rule of the ladder has spoken; as it is where one never does."""
    sure = made_search(np.random.default_rng(8), 30)
    sure.rows.spread[:] = 9.0
    sure.rows.mass[:] = 0.0
    assert len(cut_to_ladder(sure).rows.error) == 30
    sure.rows.spread[11:] = 0.1
    sure.rows.mass[17] = 0.999
    assert len(cut_to_ladder(sure).rows.error) == 18


def test_time_is_shared_out_over_the_readings():
    """A search that stops half way through its record took half of its time."""
    episode = made_search(np.random.default_rng(9), 20)
    episode.rows.spread[:] = 9.0
    episode.rows.spread[9] = 0.1
    numbers = numbers_of([episode], CONTRACTION)
    assert numbers["REV"].value == pytest.approx(0.125)
    assert numbers["readings"].value == 10
    assert numbers["OCE"].value == 1


def test_made_searches_are_random():
    """What the size is measured with must not be easier to compress than the real thing."""
    generator = np.random.default_rng(6)
    errors = np.concatenate([made_search(generator, 35).rows.error for _ in range(100)]).astype(np.float16)
    assert len(zlib.compress(errors.tobytes())) > 0.8 * errors.nbytes
