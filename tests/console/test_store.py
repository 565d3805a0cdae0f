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
    from dowsax.console.records import Feed, MissionRecord

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
    return MissionRecord(**(fields | changes))


def add(store, one):
    store.add(one, one.header("default", {}))


def test_all_is_there_when_opened_again(tmp_path):
    from dowsax.console.records import read_logged_mission
    from dowsax.console.snapshots import ParticleSamples
    from dowsax.console.store import Store
    from dowsax.mission.log import MissionLog

    draws = ParticleSamples(np.zeros((3, 2), np.float32), np.zeros((3, 0)))
    first = Store(tmp_path)
    add(first, record())
    with MissionLog.open(first.log_path("0123456789ab")).writable() as log:
        log.note("truth", "", {"theta": [1.0]})
        # Only the first truth counts.
        log.note("truth", "", {"theta": [2.0]})
        log.note("revealed", "it may be told")
        note = log.note("found", "it is here")
    first.snapshots("0123456789ab").add(FRAME, draws)
    first.close()
    again = Store(tmp_path)
    assert again.ids() == ["0123456789ab"]
    logged = read_logged_mission(again.log_path("0123456789ab"), again.feed("0123456789ab"))
    assert logged.record == record()
    assert logged.truth == {"theta": [1.0]}
    assert logged.is_revealed
    assert logged.events[-1] == {"time": note.received, "kind": "found", "text": "it is here"}
    assert len(logged.events) == 2
    assert logged.steps == logged.readings == 0
    kept, unpacked = again.snapshots("0123456789ab").get(1)
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


def test_a_damaged_feed_is_reported(kept):
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
    first.write_site(record(type="real"))
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


def test_snapshots_of_another_mission_are_ignored(kept):
    """Its file in the place of the own one, or a log: what is added since is kept."""
    from dowsax.console.snapshots import ParticleSamples

    add(kept, record())
    draws = ParticleSamples.single((1.0, 2.0))
    kept.snapshots("ba9876543210").add(FRAME | {"number": 7}, draws)
    own = kept.folder / "0123456789ab.frames"
    for other in ("ba9876543210.frames", "0123456789ab.log"):
        own.write_bytes((kept.folder / other).read_bytes())
        kept._snapshots.pop("0123456789ab", None)
        assert kept.snapshots("0123456789ab").numbers() == set()
        kept.snapshots("0123456789ab").add(FRAME | {"number": 1}, draws)
        kept.snapshots("0123456789ab").close()
        assert [snapshot["number"] for snapshot in kept.snapshots("0123456789ab").between(1, 9)] == [1]


def test_a_folder_of_an_earlier_version_is_refused(tmp_path):
    from dowsax.console.store import Store

    (tmp_path / "console.db").touch()
    with pytest.raises(ValueError, match=r"earlier version: give another folder, .* `dowsax recover`"):
        Store(tmp_path)


def test_damaged_snapshots_are_missing_and_the_others_are_not(kept):
    """Read as they are, and mended when the next one is kept."""
    from dowsax.console.snapshots import ParticleSamples

    snapshots, draws = kept.snapshots("0123456789ab"), ParticleSamples.single((1.0, 2.0))
    for number in range(1, 6):
        snapshots.add(FRAME | {"number": number}, draws)
    snapshots.close()
    path = kept.folder / "0123456789ab.frames"
    data = path.read_bytes()
    lines = data.split(b"\n")
    path.write_bytes(data.replace(lines[3], b"#" * len(lines[3])))
    kept._snapshots.clear()
    damaged = kept.snapshots("0123456789ab")
    assert damaged.numbers() == {1, 2, 4, 5}
    assert damaged.get(3) is None
    assert [snapshot["number"] for snapshot in damaged.between(1, 9)] == [1, 2, 4, 5]
    damaged.add(FRAME | {"number": 6}, draws)
    assert damaged.numbers() == {1, 2, 4, 5, 6}
    damaged.close()
    kept._snapshots.clear()
    assert [snapshot["number"] for snapshot in kept.snapshots("0123456789ab").between(1, 9)] == [
        1,
        2,
        4,
        5,
        6,
    ]


def test_a_folder_has_one_console(kept):
    from dowsax.console.store import Store

    with pytest.raises(ValueError, match="in use by another console"):
        Store(kept.folder)
