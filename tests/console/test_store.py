"""What the console keeps: the same when it is opened again, and by one program at a time."""

import numpy as np
import pytest

FRAME = {"number": 1, "status": "searching", "time": "then"}


@pytest.fixture
def kept(tmp_path):
    from dowsax.console.store import Store

    store = Store(tmp_path)
    yield store
    store.close()


def record(id="0123456789ab", **changes):
    from dowsax.console.records import Feed, Record

    fields = {
        "id": id,
        "name": "a <name>",
        "type": "real",
        "created": "2026-01-01",
        "site": "text",
        "policy": "greedy",
        "seed": 3,
        "facts": {"area": [[0.0, 0.0], [1.0, 1.0]]},
        "feed": Feed("mqtt://host", "in", "out"),
    }
    return Record(**(fields | changes))


def test_all_is_there_when_opened_again(tmp_path):
    from dowsax.console.store import Draws, Store

    draws = Draws(np.zeros((3, 2), np.float32))
    first = Store(tmp_path)
    first.add(record())
    first.keep_truth("0123456789ab", {"theta": [1.0]})
    # Only the first truth counts.
    assert first.keep_truth("0123456789ab", {"theta": [2.0]}) == {"theta": [1.0]}
    first.reveal("0123456789ab")
    first.add_frame("0123456789ab", FRAME, draws)
    event = first.add_event("0123456789ab", "found", "it is here")
    first.close()
    again = Store(tmp_path)
    assert again.records() == [(record(), True)]
    assert again.truth("0123456789ab") == {"theta": [1.0]}
    assert again.latest_frame("0123456789ab") == FRAME
    assert again.events("0123456789ab") == [event]
    again.close()


def test_passwords_are_for_the_owner_alone(tmp_path):
    """Also in a folder that others may look into, and in what SQLite keeps beside the database."""
    from dowsax.console.store import Store

    tmp_path.chmod(0o755)
    store = Store(tmp_path)
    store.add(record())
    files = [path for path in tmp_path.iterdir() if b"mqtt://host" in path.read_bytes()]
    assert files
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("console.db*"))
    store.close()


def test_a_folder_has_one_console(kept):
    from dowsax.console.store import Store

    with pytest.raises(ValueError, match="in use by another console"):
        Store(kept.folder)


def test_draws_come_back_to_a_thousandth_of_their_spread(key):
    """Half precision has 11 bits: an error of at most 2⁻¹¹ of the distance from the mean, and rounding."""
    import jax

    from dowsax.console.store import Draws

    scales = np.array([1e-3, 1.0, 1e6])
    thetas = np.asarray(jax.random.normal(key, (400, 3)), np.float64) * scales + 5 * scales[::-1]
    thetas = thetas.astype(np.float32)
    back = Draws.unpacked(Draws(thetas).packed()).thetas
    apart = np.abs(thetas - thetas.mean(axis=0, dtype=np.float64))
    assert (np.abs(back - thetas) <= 2**-11 * apart + 2**-22 * np.abs(thetas) + 1e-7 * scales).all()


def test_draws_that_are_all_the_same_come_back(kept):
    from dowsax.console.store import Draws

    draws = Draws.at((1.0, -2.5, 3e8))
    np.testing.assert_array_equal(Draws.unpacked(draws.packed()).thetas, draws.thetas)


def test_draws_of_a_belief_stand_for_equal_shares_of_its_weight():
    """A particle of weight w is drawn 400 w times, to the next whole number up or down."""
    import jax.numpy as jnp

    from dowsax.console.frames import draws_of
    from dowsax.inference.belief import Belief, empty_history
    from dowsax.types import Station

    weights = np.array([0.5, 0.0, 0.125, 0.374, 0.001])
    belief = Belief(
        jnp.arange(10.0).reshape(5, 2),
        jnp.log(jnp.asarray(weights, jnp.float32)),
        jnp.zeros(5),
        jnp.zeros(5, jnp.int32),
        empty_history(Station(jnp.zeros(2)), 4),
        jnp.zeros(()),
        jnp.ones(()),
    )
    counts = [int((draws_of(belief).thetas[:, 0] == 2 * number).sum()) for number in range(5)]
    assert sum(counts) == 400
    assert (np.abs(counts - 400 * weights) < 1).all()


def test_an_event_list_is_bounded(kept):
    kept.add(record("m"))
    for number in range(250):
        kept.add_event("m", "kind", str(number))
    assert [event["text"] for event in kept.events("m")] == [str(number) for number in range(50, 250)]


def test_no_event_is_kept_of_a_mission_that_is_not_there(kept):
    kept.add_event("m", "kind", "late")
    assert kept.events("m") == []
