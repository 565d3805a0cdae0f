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


def add(store, one):
    from dowsax.console.store import header_of

    store.add(one, header_of(one, "default", {}))


def test_all_is_there_when_opened_again(tmp_path):
    from dowsax.console.draws import Draws
    from dowsax.console.recall import recall
    from dowsax.console.store import Store
    from dowsax.mission.log import MissionLog

    draws = Draws(np.zeros((3, 2), np.float32))
    first = Store(tmp_path)
    add(first, record())
    with MissionLog.open(first.log_path("0123456789ab")).writable() as log:
        log.note("truth", "", {"theta": [1.0]})
        # Only the first truth counts.
        log.note("truth", "", {"theta": [2.0]})
        log.note("revealed", "it may be told")
        note = log.note("found", "it is here")
    first.frames("0123456789ab").add(FRAME, draws)
    first.close()
    again = Store(tmp_path)
    assert again.ids() == ["0123456789ab"]
    recalled = recall(again.log_path("0123456789ab"), again.feed("0123456789ab"))
    assert recalled.record == record()
    assert recalled.truth == {"theta": [1.0]}
    assert recalled.is_revealed
    assert recalled.events[-1] == {"time": note.received, "kind": "found", "text": "it is here"}
    assert len(recalled.events) == 2
    assert recalled.steps == recalled.readings == 0
    kept, unpacked = again.frames("0123456789ab").get(1)
    assert kept == FRAME
    np.testing.assert_array_equal(unpacked.thetas, draws.thetas)
    again.close()


def test_passwords_are_for_the_owner_alone(tmp_path):
    """Also in a folder that others may look into; and they are not in the log, which may be passed on."""
    from dowsax.console.store import Store

    tmp_path.chmod(0o755)
    store = Store(tmp_path)
    add(store, record())
    (file,) = (path for path in tmp_path.iterdir() if b"mqtt://host" in path.read_bytes())
    assert file.stat().st_mode & 0o077 == 0
    store.close()


def test_a_feed_that_cannot_be_read_is_said(kept):
    add(kept, record())
    (kept.folder / "0123456789ab.feed").write_bytes(b'{"url": "mq')
    with pytest.raises(ValueError, match="address of the feed cannot be read"):
        kept.feed("0123456789ab")


def test_a_changed_feed_is_noticed(kept):
    """Any byte, also where what is left is a proper address; a folder, or the feed of another mission."""
    add(kept, record())
    add(kept, record(id="ba9876543210"))
    path = kept.folder / "0123456789ab.feed"
    data = path.read_bytes()
    for spoilt in (data.replace(b"host", b"hose"), b"", (kept.folder / "ba9876543210.feed").read_bytes()):
        path.write_bytes(spoilt)
        with pytest.raises(ValueError, match="feed cannot be read"):
            kept.feed("0123456789ab")
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="feed cannot be read"):
        kept.feed("0123456789ab")


@pytest.mark.parametrize("mark", [b"a\0b", b"x" * 5000, b"..", b"/", b"\xff\xfe", None])
def test_a_damaged_mark_of_a_deleted_mission_keeps_nothing_from_opening(tmp_path, mark):
    """Whatever it says, or where it is a folder: the mission is gone, and nothing else."""
    from dowsax.console.store import Store

    first = Store(tmp_path)
    for id in ("0123456789ab", "ba9876543210"):
        add(first, record(id=id, type="real"))
    first.keep_site(record(type="real"))
    first.close()
    path = tmp_path / "0123456789ab.deleted"
    path.mkdir() if mark is None else path.write_bytes(mark)
    (tmp_path / "0123456789ab.log").unlink()
    (tmp_path / "0123456789ab.log" / "inside").mkdir(parents=True)
    again = Store(tmp_path)
    again.close()
    assert again.ids() == ["ba9876543210"]
    assert not list(tmp_path.glob("0123456789ab*"))
    assert again.site_path(record(type="real")).is_file()


@pytest.mark.parametrize("call", ["write_through", "sync_folder", "_remove"])
def test_a_deletion_that_fails_is_not_made_up_for_at_the_next_start(tmp_path, monkeypatch, call):
    """The mission goes on, and readings may come: they must not be removed then."""
    from dowsax.console import store as module
    from dowsax.console.store import Store

    usual, failing = getattr(module, call), [True]

    def fail(path, *rest):
        if call == "write_through":
            path.touch()
        if failing and failing.pop():
            raise OSError("The disk does not take it.")
        usual(path, *rest)

    store, one = Store(tmp_path), record()
    add(store, one)
    monkeypatch.setattr(module, call, fail)
    with pytest.raises(OSError, match="does not take it"):
        store.delete(one.id, one)
    store.close()
    again = Store(tmp_path)
    assert again.ids() == [one.id]
    again.close()


def test_a_mission_that_could_not_be_kept_is_none_at_the_next_start(kept, monkeypatch):
    from dowsax.journal import Journal, NotRecorded

    usual, count = Journal.append, iter(range(9))

    def fail(*rest, **more):
        # The feed and the first header are written, the second is not.
        if next(count) == 2:
            raise NotRecorded("The disk is full.")
        return usual(*rest, **more)

    monkeypatch.setattr(Journal, "append", fail)
    with pytest.raises(NotRecorded):
        add(kept, record())
    assert kept.ids() == []
    assert not list(kept.folder.glob("0123456789ab*"))
    add(kept, record())
    assert kept.ids() == ["0123456789ab"]


def test_frames_of_another_mission_are_none(kept):
    """Its file in the place of the own one, or a log: what is added since is kept."""
    from dowsax.console.draws import Draws

    add(kept, record())
    draws = Draws.at((1.0, 2.0))
    kept.frames("ba9876543210").add(FRAME | {"number": 7}, draws)
    own = kept.folder / "0123456789ab.frames"
    for other in ("ba9876543210.frames", "0123456789ab.log"):
        own.write_bytes((kept.folder / other).read_bytes())
        kept._frames.pop("0123456789ab", None)
        assert kept.frames("0123456789ab").numbers() == set()
        kept.frames("0123456789ab").add(FRAME | {"number": 1}, draws)
        kept.frames("0123456789ab").close()
        assert [frame["number"] for frame in kept.frames("0123456789ab").between(1, 9)] == [1]


def test_a_folder_of_an_earlier_version_is_refused(tmp_path):
    from dowsax.console.store import Store

    (tmp_path / "console.db").touch()
    with pytest.raises(ValueError, match=r"earlier version: give another folder, .* `dowsax recover`"):
        Store(tmp_path)


def test_damaged_frames_are_missing_and_the_others_are_not(kept):
    """Read as they are, and mended when the next one is kept."""
    from dowsax.console.draws import Draws

    frames, draws = kept.frames("0123456789ab"), Draws.at((1.0, 2.0))
    for number in range(1, 6):
        frames.add(FRAME | {"number": number}, draws)
    frames.close()
    path = kept.folder / "0123456789ab.frames"
    data = path.read_bytes()
    lines = data.split(b"\n")
    path.write_bytes(data.replace(lines[3], b"#" * len(lines[3])))
    kept._frames.clear()
    damaged = kept.frames("0123456789ab")
    assert damaged.numbers() == {1, 2, 4, 5}
    assert damaged.get(3) is None
    assert [frame["number"] for frame in damaged.between(1, 9)] == [1, 2, 4, 5]
    damaged.add(FRAME | {"number": 6}, draws)
    assert damaged.numbers() == {1, 2, 4, 5, 6}
    damaged.close()
    kept._frames.clear()
    assert [frame["number"] for frame in kept.frames("0123456789ab").between(1, 9)] == [1, 2, 4, 5, 6]


def test_a_folder_has_one_console(kept):
    from dowsax.console.store import Store

    with pytest.raises(ValueError, match="in use by another console"):
        Store(kept.folder)


def test_draws_come_back_to_a_thousandth_of_their_spread(key):
    """Half precision has 11 bits: an error of at most 2⁻¹¹ of the distance from the mean, and rounding."""
    import jax

    from dowsax.console.draws import Draws

    scales = np.array([1e-3, 1.0, 1e6])
    thetas = np.asarray(jax.random.normal(key, (400, 3)), np.float64) * scales + 5 * scales[::-1]
    thetas = thetas.astype(np.float32)
    back = Draws.unpacked(Draws(thetas).packed()).thetas
    apart = np.abs(thetas - thetas.mean(axis=0, dtype=np.float64))
    assert (np.abs(back - thetas) <= 2**-11 * apart + 2**-22 * np.abs(thetas) + 1e-7 * scales).all()


def test_draws_that_are_all_the_same_come_back(kept):
    from dowsax.console.draws import Draws

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
    from dowsax.console.recall import recall
    from dowsax.mission.log import MissionLog

    add(kept, record())
    path = kept.log_path("0123456789ab")
    with MissionLog.open(path).writable() as log:
        for number in range(250):
            log.note("kind", str(number))
    texts = [event["text"] for event in recall(path, None).events]
    assert texts == [str(number) for number in range(50, 250)]
