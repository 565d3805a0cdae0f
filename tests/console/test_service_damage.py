"""Damaged files: the console starts with the missions that are whole and shows the others as damaged."""

import random
import shutil
from contextlib import closing

import pytest
from starlette.testclient import TestClient

HOME = "http://127.0.0.1:8000"
BODY = {"position": [5.0, 5.0], "value": 0.4}


@pytest.fixture
def folder(begin, client, tmp_path):
    """A copy of a folder with two missions of three readings, and their ids."""
    ids = [begin(name=name)["id"] for name in ("healthy", "hurt")]
    for id in ids:
        for number in range(3):
            body = BODY | {"value": 0.4 + number, "id": str(number)}
            assert client.post(f"/api/missions/{id}/readings", json=body).status_code == 200
    store = client.app.state.console.store
    made = tmp_path / "missions"
    made.mkdir()
    for id in ids:
        for path in store.folder.glob(f"{id}.*"):
            shutil.copy(path, made)
    return made, *ids


def opened(folder):
    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build
    from dowsax.console.service import Console

    return TestClient(build(Console(folder), AccessSettings()), base_url=HOME, raise_server_exceptions=False)


def listed(client):
    return {item["id"]: item for item in client.get("/api/missions").json()}


def spoil(path, at, with_=b"#"):
    data = path.read_bytes()
    path.write_bytes(data[:at] + with_ + data[at + len(with_) :])


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("where", ["beginning", "middle", "end", "empty", "cut", "text"])
def test_a_damaged_log_is_shown_and_does_not_affect_the_others(folder, where):
    """Wherever it is damaged: the mission is listed as damaged with what to do, and the other one goes on."""
    made, healthy, hurt = folder
    path = made / f"{hurt}.log"
    size = path.stat().st_size
    if where == "empty":
        path.write_bytes(b"")
    elif where == "cut":
        path.write_bytes(path.read_bytes()[: size - 3000])
    elif where == "text":
        path.write_bytes(b"some text\n" * 90)
    else:
        spoil(path, {"beginning": 60, "middle": size // 2, "end": size - 20}[where])
    with opened(made) as client:
        shown = listed(client)
        assert shown[hurt]["status"] == "damaged"
        assert shown[hurt]["message"]
        if where not in ("beginning", "empty", "text"):
            assert shown[hurt]["name"] == "hurt"
        assert shown[healthy]["status"] == "searching"
        assert client.post(f"/api/missions/{healthy}/readings", json=BODY).status_code == 200
        for method, address in (
            ("GET", ""),
            ("POST", "/readings"),
            ("GET", "/export?to=html"),
            ("GET", "/field"),
            ("DELETE", "/readings/1"),
        ):
            answer = client.request(method, f"/api/missions/{hurt}{address}", json=BODY)
            assert answer.status_code == 409, (address, answer.text)
            assert answer.json()["error"] == shown[hurt]["message"]
        assert client.delete(f"/api/missions/{hurt}").status_code == 204
        assert hurt not in listed(client)
    assert not list(made.glob(f"{hurt}*"))


@pytest.mark.parametrize("what", ["folder", "other"])
def test_something_else_in_the_place_of_a_log(folder, what):
    """A folder, or the log of another mission: it is shown as damaged, and goes when it is deleted."""
    made, healthy, hurt = folder
    path = made / f"{hurt}.log"
    path.unlink()
    if what == "folder":
        (path / "inside").mkdir(parents=True)
    else:
        shutil.copy(made / f"{healthy}.log", path)
    with opened(made) as client:
        shown = listed(client)
        assert shown[hurt]["status"] == "damaged"
        assert {"folder": "is a folder", "other": f"is that of {healthy}"}[what] in shown[hurt]["message"]
        assert (shown[healthy]["status"], shown[healthy]["readings"]) == ("searching", 3)
        assert client.delete(f"/api/missions/{hurt}").status_code == 204
    assert not list(made.glob(f"{hurt}*"))
    with opened(made) as client:
        assert list(listed(client)) == [healthy]


def test_a_recovered_log_goes_on(folder):
    """`dowsax recover --replace`: the mission is there again with what could be read."""
    from dowsax.cli import run

    made, _, hurt = folder
    path = made / f"{hurt}.log"
    line = next(line for line in path.read_bytes().split(b"\n") if b'"id":"1"' in line)
    spoil(path, path.read_bytes().index(line) + 50)
    assert run(["recover", str(path), "--replace"]) == 0
    with opened(made) as client:
        shown = listed(client)
        assert (shown[hurt]["status"], shown[hurt]["name"]) == ("searching", "hurt")
        assert shown[hurt]["readings"] == 2
        answer = client.post(f"/api/missions/{hurt}/readings", json=BODY | {"id": "new"})
        assert answer.json()["advice"]["number"] == 3
        snapshots = client.get(f"/api/missions/{hurt}/snapshots").json()
        assert [snapshot["reading"]["value"] for snapshot in snapshots] == [0.4, 2.4, 0.4]
    assert (made / f"{hurt}.log.damaged").is_file()


@pytest.mark.slow
def test_random_damage_of_any_file_never_keeps_the_console_from_starting(folder, tmp_path):
    """Log, snapshots and feed of one mission: it is as it was or shown as damaged, and the other goes on."""
    from dowsax.console.records import Feed
    from dowsax.console.store import Store

    made, healthy, hurt = folder
    with closing(Store(made)) as store:
        store.write_feed(hurt, Feed("mqtt://127.0.0.1:1", "a", "b"))
    dice = random.Random(4)
    for trial in range(30):
        copy = tmp_path / str(trial)
        shutil.copytree(made, copy)
        path = dice.choice(sorted(copy.glob(f"{hurt}.*")))
        data = path.read_bytes()
        at, size = dice.randrange(len(data)), dice.choice([1, 10, 300])
        filling = dice.choice([b"", b"\0" * size, dice.randbytes(size)])
        path.write_bytes(data[:at] + filling + data[at + size :])
        with opened(copy) as client:
            shown = listed(client)
            assert shown[healthy]["status"] == "searching"
            assert shown[hurt]["status"] in ("searching", "damaged", "preparing")
            if path.suffix != ".log":
                assert shown[hurt]["status"] == "searching"
                assert shown[hurt]["readings"] == 3
            if path.suffix == ".feed" and "cannot be read" not in shown[hurt]["alarm"]:
                assert client.get(f"/api/missions/{hurt}").status_code == 200
