"""A mission that is deleted is gone: from the answers, from memory and from the disk; the others are not."""

import asyncio
import gc
import shutil
import threading
from concurrent.futures import Future

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

HOME = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/api"
BODY = {"position": [5.0, 5.0], "value": 0.4}


@pytest.fixture
def console(client):
    return client.app.state.console


def on_disk(folder, words):
    """The files of a folder that hold these words anywhere."""
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def test_nothing_of_it_is_left(begin, client, console, site_text):
    """Neither name nor site nor password is in any file, also not in pages that the database has let go."""
    kept = begin(name="kept-by-me")["id"]
    site = site_text(seed=5).replace("Simulated temperature", "secret-yard")
    feed = {"url": "mqtt://user:hidden-word@127.0.0.1:1"}
    mission = begin(name="secret-name", site=site, mqtt=feed)["id"]
    for number in range(3):
        answer = client.post(f"/api/missions/{mission}/readings", json=BODY | {"id": f"secret-{number}"})
        assert answer.status_code == 200
    assert on_disk(console.store.folder, "secret-yard")
    assert client.delete(f"/api/missions/{mission}").status_code == 204
    for words in ("secret-name", "secret-yard", "hidden-word", "secret-1"):
        assert on_disk(console.store.folder, words) == []
    assert not [path for path in console.store.folder.iterdir() if mission in path.name]
    assert on_disk(console.store.folder, "kept-by-me")
    for path in ("", "/snapshots", "/snapshots/1", "/field", "/export?to=csv"):
        assert client.get(f"/api/missions/{mission}{path}").status_code == 404
    assert client.post(f"/api/missions/{mission}/readings", json=BODY).status_code == 404
    assert client.delete(f"/api/missions/{mission}").status_code == 404
    listed = {item["id"] for item in client.get("/api/missions").json()}
    assert kept in listed
    assert mission not in listed
    assert not [key for key in console._tasks if key[0] == mission]


def test_one_that_runs_is_stopped_first(begin, client, console):
    """No step comes after, and the threads are free for others."""
    mission = begin(type="simulated", seed=21, speed=50.0)["id"]
    client.post(f"/api/missions/{mission}/control", json={"action": "run"})
    host = console.missions[mission]
    assert client.delete(f"/api/missions/{mission}").status_code == 204
    assert (host.running, host.in_memory) == (False, False)
    assert console.scheduler.num_waiting(mission) == 0
    assert not console.store.log_path(mission).exists()
    other = begin()["id"]
    assert client.post(f"/api/missions/{other}/readings", json=BODY).status_code == 200


def test_waiting_requests_learn_that_the_mission_is_deleted(begin, client, console):
    """What is under way is done to its end; readings that wait are refused, so none is lost in silence."""
    from concurrent.futures import ThreadPoolExecutor

    mission = begin()["id"]
    gate = threading.Event()
    console.scheduler.submit(mission, lambda: gate.wait(60))
    with ThreadPoolExecutor(4) as pool:
        path = f"/api/missions/{mission}"
        readings = [pool.submit(client.post, f"{path}/readings", json=BODY) for _ in range(3)]
        while console.scheduler.num_waiting(mission) < 3:
            threading.Event().wait(0.01)
        deleted = pool.submit(client.delete, path)
        while mission in console.missions:
            threading.Event().wait(0.01)
        gate.set()
        assert deleted.result(60).status_code == 204
        answers = [reading.result(60) for reading in readings]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert "deleted" in answers[0].json()["error"]


def test_sockets_report_a_deletion(begin, client):
    mission = begin()["id"]
    with (
        client.websocket_connect(f"{LIVE}/missions/{mission}/live") as socket,
        client.websocket_connect(f"{LIVE}/live") as listing,
    ):
        assert socket.receive_json()["type"] == "mission"
        assert mission in {item["id"] for item in listing.receive_json()["missions"]}
        client.delete(f"/api/missions/{mission}")
        with pytest.raises(WebSocketDisconnect) as closed:
            list(iter(socket.receive_json, None))
        assert closed.value.code == 4404
        while mission in {item["id"] for item in listing.receive_json()["missions"]}:
            pass


def test_others_may_not(begin, client, console):
    """Neither another site's page nor one without the token; the mission is as it was."""
    from dowsax.console.access_control import AccessSettings
    from dowsax.console.app import build

    path = f"/api/missions/{begin()['id']}"
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.delete(path, headers=headers).status_code == 403
    locked = TestClient(build(console, AccessSettings(token="correct-horse-battery")), base_url=HOME)
    for headers in ({}, {"authorization": "Bearer wrong-horse-battery"}):
        assert locked.delete(path, headers=headers).status_code == 401
    assert client.get(path).status_code == 200


def test_a_site_is_there_as_long_as_a_mission_has_it(begin, client, console, site_text):
    site = site_text(seed=6).replace("Simulated temperature", "shared-yard")
    one, other = begin(site=site), begin(site=site)
    file = console.store.site_path(console.missions[one["id"]].record)
    rehearsal = file.with_suffix(".rehearsal.json")
    rehearsal.write_text("{}")
    client.delete(f"/api/missions/{one['id']}")
    assert file.is_file()
    assert rehearsal.is_file()
    client.delete(f"/api/missions/{other['id']}")
    assert not file.exists()
    assert not rehearsal.exists()


def test_a_disk_that_does_not_take_it_leaves_the_mission_as_it_was(begin, client, console, monkeypatch):
    from dowsax.journal import NotRecorded

    mission = begin()["id"]

    def full(*_):
        raise NotRecorded("The disk does not take it: make room.")

    with monkeypatch.context() as patched:
        patched.setattr(console.store, "delete", full)
        patched.setattr(console._loop, "call_exception_handler", lambda context: None)
        assert client.delete(f"/api/missions/{mission}").status_code == 503
    assert client.post(f"/api/missions/{mission}/readings", json=BODY).status_code == 200


def test_a_deletion_that_was_broken_off_is_completed(begin, client, console, monkeypatch, tmp_path):
    """The program ends before the files are removed: they are when the folder is opened again."""
    from dowsax.console.store import Store

    mission = begin(name="half-gone")["id"]
    client.post(f"/api/missions/{mission}/readings", json=BODY)
    folder = tmp_path / "copy"
    shutil.copytree(console.store.folder, folder)
    record = console.missions[mission].record
    with monkeypatch.context() as patched:
        patched.setattr(Store, "_remove_files", lambda *_: None)
        store = Store(folder)
        store.delete(mission, record)
        store.close()
    assert store.log_path(mission).is_file()
    again = Store(folder)
    assert mission not in again.ids()
    assert [path for path in folder.rglob("*") if mission in path.name] == []
    again.close()


async def reported_of(error):
    """What the event loop reports when work fails for which nobody waits any longer."""
    from dowsax.console.service import wait_for

    reports, future = [], Future()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
    waiting = asyncio.create_task(wait_for(future))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    future.set_exception(error)
    await asyncio.sleep(0.01)
    gc.collect()
    return [report["exception"] for report in reports]


def test_work_of_a_deleted_mission_ends_without_a_report():
    """As when a feed is stopped that waits for its filter; what nobody foresaw is reported all the same."""
    from dowsax.console.service import NotFound

    assert asyncio.run(reported_of(NotFound("The mission was deleted."))) == []
    failure = ZeroDivisionError()
    assert asyncio.run(reported_of(failure)) == [failure]
