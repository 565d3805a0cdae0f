"""A console that runs for long: what it keeps in memory is bounded, and nothing is lost by that."""

import asyncio

import pytest
from made_disks import largest_file

BODIES = [{"position": [2.0 + count, 3.0], "value": 0.4 + 0.1 * count} for count in range(4)]


def read(client, mission, body):
    answer = client.post(f"/api/missions/{mission}/readings", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["advice"]


@pytest.fixture
def console(client):
    return client.app.state.console


def test_missions_beyond_the_limit_are_released_and_restored(begin, client, console, monkeypatch):
    """With room for one, two missions take turns; both are advised as one that never had to go."""
    from dowsax.console import service

    kept = begin()["id"]
    expected = [read(client, kept, body) for body in BODIES[:2]]
    monkeypatch.setattr(service, "MAX_IN_MEMORY", 1)
    one, other = begin()["id"], begin()["id"]
    told = {one: [], other: []}
    for body in BODIES[:2]:
        for mission in (one, other):
            console.missions[mission].release()
            told[mission].append(read(client, mission, body))
    assert told == {one: expected, other: expected}
    # The last long piece of work has let the others go, each in its own turn.
    for mission in console.missions:
        console.scheduler.submit(mission, lambda: None).result(30)
    assert sum(host.in_memory for host in console.missions.values()) == 1


@pytest.mark.slow
def test_compiled_functions_are_dropped_before_memory_maps_run_out(begin, client, console, monkeypatch):
    """After that all is compiled once more, and the advice is the same."""
    from dowsax.console import service

    kept, mission = begin()["id"], begin()["id"]
    expected = [read(client, kept, body) for body in BODIES[:2]]
    first = read(client, mission, BODIES[0])
    generation = console._generation
    monkeypatch.setattr(service, "_MAX_MEMORY_MAPS", 0)
    assert client.get(f"/api/missions/{mission}/export?to=geojson").status_code == 200
    monkeypatch.undo()
    assert console._generation == generation + 1
    assert [first, read(client, mission, BODIES[1])] == expected


def test_a_full_queue_is_reported_and_no_accepted_job_is_lost(begin, client, console):
    """While a mission is busy, so many wait and the next is asked to come later; then all are answered."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    mission = begin()["id"]
    gate = threading.Event()
    console.scheduler.submit(mission, lambda: gate.wait(60))
    bodies = [{"position": [2.0, 3.0], "value": 0.5, "id": str(count)} for count in range(70)]
    with ThreadPoolExecutor(70) as pool:
        path = f"/api/missions/{mission}/readings"
        futures = [pool.submit(client.post, path, json=body) for body in bodies]
        while sum(future.done() for future in futures) < 6:
            threading.Event().wait(0.01)
        gate.set()
        answers = [future.result(120) for future in futures]
    codes = [answer.status_code for answer in answers]
    assert sorted(set(codes)) == [200, 429]
    assert codes.count(429) == 6
    assert all("more slowly" in answer.json()["error"] for answer in answers if answer.status_code == 429)
    assert client.get(f"/api/missions/{mission}").json()["readings"] == codes.count(200)


def test_who_only_looks_keeps_nobody_from_adding_readings(begin, client, console):
    """While a mission is busy, many ask for its fields and files, and for itself: a reading is accepted."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    mission = begin()["id"]
    for body in BODIES[:3]:
        read(client, mission, body)
    gate = threading.Event()
    console.scheduler.submit(mission, lambda: gate.wait(60))
    for _ in range(70):
        client.portal.call(console.prepare, console.missions[mission])
    assert console.scheduler.num_waiting(mission) == 1
    paths = [f"field?number={number}" for number in (1, 2, 3)] + ["export?to=csv", "export?to=geojson"]
    with ThreadPoolExecutor(76) as pool:
        looks = [pool.submit(client.get, f"/api/missions/{mission}/{path}") for path in 15 * paths]
        while console.scheduler.num_waiting(mission) < 1 + len(paths):
            threading.Event().wait(0.01)
        reading = pool.submit(client.post, f"/api/missions/{mission}/readings", json=BODIES[3])
        while console.scheduler.num_waiting(mission) < 2 + len(paths):
            threading.Event().wait(0.01)
        gate.set()
        assert reading.result(60).status_code == 200
        assert {look.result(120).status_code for look in looks} == {200}


def test_a_field_is_computed_once(begin, client, console, monkeypatch):
    """It never changes: who asks again gets the same, and another step has another."""
    from dowsax.console import mission_host

    mission, usual, computed = begin()["id"], mission_host.expected_field, []
    for body in BODIES[:2]:
        read(client, mission, body)
    monkeypatch.setattr(
        mission_host, "expected_field", lambda *given: computed.append(given) or usual(*given)
    )
    get = lambda path: client.get(f"/api/missions/{mission}/field{path}").json()  # noqa: E731
    assert get("") == get("?number=2") == get("")
    assert len(computed) == 1
    assert get("?number=1") != get("")
    assert len(computed) == 2


def test_a_mission_that_waits_holds_up_no_other(begin, client, console):
    """One mission is busy for as long as it likes; another is advised meanwhile."""
    import threading

    busy, other = begin()["id"], begin()["id"]
    gate = threading.Event()
    waiting = console.scheduler.submit(busy, lambda: gate.wait(60))
    read(client, other, BODIES[0])
    assert not waiting.done()
    gate.set()
    waiting.result(30)


def test_a_full_disk_is_reported_and_the_reading_counts_once(begin, client, console):
    """Neither log nor snapshot is written: sent again by its id when there is room, it is taken in once."""
    mission, body = begin()["id"], BODIES[0] | {"id": "one"}
    with largest_file(console.store.log_path(mission).stat().st_size + 100):
        answer = client.post(f"/api/missions/{mission}/readings", json=body)
        assert answer.status_code == 503
        assert "Make room" in answer.json()["error"]
    again = client.post(f"/api/missions/{mission}/readings", json=body)
    assert again.status_code == 200
    assert again.json()["advice"]["number"] == 1
    console.missions[mission].release()
    assert read(client, mission, BODIES[1])["number"] == 2
    numbers = [snapshot["number"] for snapshot in client.get(f"/api/missions/{mission}/snapshots").json()]
    assert numbers == [1, 2]


def test_a_note_that_cannot_be_kept_does_not_undo_what_is_recorded(begin, client, monkeypatch):
    """The correction is in the log: it is acknowledged, and what happened is told all the same."""
    from dowsax.journal import Journal, NotRecorded

    mission = begin()["id"]
    for body in BODIES[:2]:
        read(client, mission, body)
    usual = Journal.append

    def full(journal, kind, *rest, **more):
        if kind == "note":
            raise NotRecorded("The disk is full.")
        return usual(journal, kind, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", full)
        answer = client.delete(f"/api/missions/{mission}/readings/1")
    assert answer.status_code == 200, answer.text
    shown = client.get(f"/api/missions/{mission}").json()
    assert (shown["readings"], shown["events"][-1]["text"]) == (1, "Reading 1 was withdrawn.")


def test_a_snapshot_that_cannot_be_stored_is_built_again(begin, client, console, monkeypatch):
    """The reading is in the log: it is acknowledged, and its snapshot comes from there."""
    from dowsax.journal import Journal, NotRecorded

    mission = begin()["id"]
    usual = Journal.append

    def full(journal, kind, *rest, **more):
        if kind == "frame":
            raise NotRecorded("The disk is full.")
        return usual(journal, kind, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", full)
        assert read(client, mission, BODIES[0])["number"] == 1
    assert client.get(f"/api/missions/{mission}/snapshots").json() == []
    console.missions[mission].release()
    assert read(client, mission, BODIES[1])["number"] == 2
    snapshots = client.get(f"/api/missions/{mission}/snapshots").json()
    assert [snapshot["number"] for snapshot in snapshots] == [1, 2]


def test_a_site_that_is_served_has_one_mission_however_often_it_is(tmp_path, site_text, monkeypatch):
    """Begun at the first start, and found there at the next."""
    from dowsax.console.service import Console

    # That its filter is compiled is not needed here.
    monkeypatch.setattr(Console, "prepare", lambda console, host: None)

    async def started():
        console = Console(tmp_path, site=site_text())
        await console.start()
        async with asyncio.timeout(60):
            while not console.missions:
                await asyncio.sleep(0.01)
        found = list(console.missions)
        await console.stop()
        return found

    first = asyncio.run(started())
    assert len(first) == 1
    assert asyncio.run(started()) == first
