"""Missions over the API: what is answered is what the advisor says, and nothing is told too early."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

PLACES = [(2.0, 2.0), (5.0, 4.0), (9.0, 8.0), (12.0, 9.0), (14.0, 12.0)]
VALUES = [0.1, 0.3, 1.2, 2.5, 1.9]


def send(client, mission, place, value, **more):
    body = {"position": list(place), "value": value, **more}
    return client.post(f"/api/missions/{mission}/readings", json=body)


@pytest.fixture(scope="module")
def ended(begin, client, wait_until):
    """A simulated mission that has run to its end."""
    mission = begin(type="simulated", seed=11, speed=50.0, name="run <b>me</b>")
    started = client.post(f"/api/missions/{mission['id']}/control", json={"action": "run"})
    assert started.json()["running"]
    return wait_until(mission["id"], lambda now: now["status"] in ("found", "inconclusive"))


@pytest.fixture(scope="module")
def fed(begin, client):
    """A real mission with five readings, and the answers to them."""
    mission = begin(name="five")
    answers = [
        send(client, mission["id"], *pair, id=str(pair[1])) for pair in zip(PLACES, VALUES, strict=True)
    ]
    assert all(answer.status_code == 200 for answer in answers)
    return mission["id"], [answer.json() for answer in answers]


def test_answers_are_those_of_an_advisor_of_ones_own(fed, site_text):
    """Same site, policy and seed, without any console: the same advice to the last bit."""
    from dowsax.mission.advisor import Advisor
    from dowsax.site import parse_site

    advisor = Advisor(parse_site(site_text()), "greedy", 3)
    for count, (place, value) in enumerate(zip(PLACES, VALUES, strict=True)):
        expected = advisor.observe(place, value, id=str(value))
        # Through JSON, which has lists for tuples.
        assert fed[1][count]["advice"] == json.loads(json.dumps(expected.to_json()))


def test_snapshots_follow_the_path(fed, client):
    """Numbers from 1 on, the positions as sent, and a path that is as long as its legs."""
    snapshots = client.get(f"/api/missions/{fed[0]}/snapshots").json()
    assert [snapshot["number"] for snapshot in snapshots] == [1, 2, 3, 4, 5]
    assert [tuple(snapshot["reading"]["position"]) for snapshot in snapshots] == PLACES
    start = client.get(f"/api/missions/{fed[0]}").json()["start"]
    legs = [math.dist(*leg) for leg in zip([start, *PLACES], PLACES, strict=False)]
    assert [snapshot["path_length"] for snapshot in snapshots] == pytest.approx(np.cumsum(legs))
    assert snapshots == [answer["snapshot"] for answer in fed[1]]


def test_a_full_snapshot_has_samples_of_the_belief(fed, client):
    """Their mean is the estimate to what 400 evenly drawn ones can be off, and the regions hold them."""
    snapshot = client.get(f"/api/missions/{fed[0]}/snapshots/5").json()
    draws = np.array(snapshot["particles"])
    assert draws.shape == (400, 2)
    # Systematic draws miss a weight by at most one draw each: 64 particles at most 20 m off the mean.
    assert np.abs(draws.mean(axis=0) - snapshot["estimate"]["mean"][:2]).max() < 64 / 400 * 20
    assert np.ptp(draws) > 0
    sizes = {name: sum(_area(rings) for rings in region) for name, region in snapshot["regions"].items()}
    assert 0 < sizes["50"] < sizes["95"] <= 25.0**2


def _area(rings):
    """Of a polygon with holes, by the shoelace formula."""
    total = 0.0
    for ring in rings:
        x, y = np.array(ring).T
        total += 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return total


def test_a_range_of_snapshots_can_be_requested(fed, client):
    numbers = lambda query: [  # noqa: E731
        snapshot["number"] for snapshot in client.get(f"/api/missions/{fed[0]}/snapshots{query}").json()
    ]
    assert numbers("?first=2&last=3") == [2, 3]
    assert numbers("?first=4") == [4, 5]
    assert numbers("?first=9") == []
    whole = client.get(f"/api/missions/{fed[0]}/snapshots?first=5&full=1").json()
    assert whole == [client.get(f"/api/missions/{fed[0]}/snapshots/5").json()]
    assert client.get(f"/api/missions/{fed[0]}/snapshots/6").status_code == 404


def test_the_expected_field_is_the_mean_of_readings_under_the_belief(fed, client):
    """At every cell, against a loop over the draws without noise: 10 % noise over 100 draws, five errors."""
    import jax
    import jax.numpy as jnp

    from dowsax.types import Station
    from dowsax.world import benchmark_model

    mission = fed[0]
    field = client.get(f"/api/missions/{mission}/field?number=5").json()
    values = np.array(field["values"]).reshape(field["rows"], field["columns"])
    draws = client.portal.call(lambda: client.app.state.console.store.snapshots(mission).get(5)[1]).thetas[
        ::4
    ]
    intensity = jax.vmap(benchmark_model("temperature").intensity, in_axes=(0, None))
    width = 25.0 / field["columns"]
    for row, column in ((0, 0), (10, 30), (30, 10), (24, 24)):
        place = jnp.array([(column + 0.5) * width, (row + 0.5) * width])
        there = np.asarray(intensity(jnp.asarray(draws), Station(place)), np.float64)
        noise = np.sqrt(np.sum((0.01 + 0.1 * there) ** 2)) / len(there)
        assert values[row, column] == pytest.approx(there.mean(), abs=5 * noise)


def test_the_same_id_counts_once(fed, client):
    """The answer of the first time, and no reading more; another reading by that id is refused."""
    again = send(client, fed[0], PLACES[1], VALUES[1], id=str(VALUES[1]))
    assert again.json() == fed[1][1]
    assert client.get(f"/api/missions/{fed[0]}").json()["readings"] == 5
    other = send(client, fed[0], PLACES[1], 7.0, id=str(VALUES[1]))
    assert other.status_code == 422
    assert "was given to another reading" in other.json()["error"]


def test_a_refusal_is_answered_and_noted(begin, client):
    mission = begin()["id"]
    answer = send(client, mission, (99.0, 2.0), 1.0)
    assert answer.status_code == 422
    assert "outside the area" in answer.json()["error"]
    body = client.get(f"/api/missions/{mission}").json()
    assert body["readings"] == 0
    assert [event["kind"] for event in body["events"]] == ["refused"]


def test_degrees_go_in_and_out(begin, client, site_text):
    """A millimetre there and back, where the site has an origin."""
    from dowsax.geo.local import LocalCoordinates

    mission = begin(site=site_text(origin=(52.1, 5.1)))
    assert mission["geographic"]
    latitude, longitude = LocalCoordinates((52.1, 5.1)).to_degrees([(4.0, 6.0)])[0]
    body = {"latitude": float(latitude), "longitude": float(longitude), "value": 0.5}
    snapshot = client.post(f"/api/missions/{mission['id']}/readings", json=body).json()["snapshot"]
    assert snapshot["reading"]["position"] == pytest.approx([4.0, 6.0], abs=1e-3)
    assert snapshot["degrees"]["reading"] == pytest.approx([latitude, longitude], abs=1e-8)


def test_a_simulation_goes_where_it_is_advised(ended, client):
    """It starts at the start, and each further reading is where the snapshot before it said."""
    snapshots = client.get(f"/api/missions/{ended['id']}/snapshots").json()
    assert len(snapshots) == ended["readings"] == ended["snapshots"]
    assert snapshots[0]["reading"]["position"] == ended["start"]
    for before, after in pairwise(snapshots):
        assert after["reading"]["position"] == before["next"]
    assert snapshots[-1]["next"] is None
    assert not client.get(f"/api/missions/{ended['id']}").json()["running"]


def test_the_same_seed_is_the_same_search(ended, begin, client):
    """Step by step by hand, as it was when it ran by itself."""
    again = begin(type="simulated", seed=11)["id"]
    steps = min(4, ended["readings"])
    for _ in range(steps):
        assert client.post(f"/api/missions/{again}/control", json={"action": "step"}).status_code == 200
    timeless = lambda snapshot: {name: value for name, value in snapshot.items() if name != "time"}  # noqa: E731
    one, other = (
        client.get(f"/api/missions/{id}/snapshots?last={steps}").json() for id in (ended["id"], again)
    )
    assert list(map(timeless, one)) == list(map(timeless, other))


def test_the_truth_is_revealed_only_at_the_end(ended, begin, client):
    searching = begin(type="simulated", seed=12)["id"]
    client.post(f"/api/missions/{searching}/control", json={"action": "step"})
    refused = client.post(f"/api/missions/{searching}/reveal")
    assert refused.status_code == 409
    assert "truth" not in client.get(f"/api/missions/{searching}").json()
    assert "truth" not in client.get(f"/api/missions/{ended['id']}").json()
    truth = client.post(f"/api/missions/{ended['id']}/reveal").json()
    # Where the benchmark's sources are.
    assert all(5 <= number <= 20 for number in truth["position"])
    assert truth["position"] == [truth["theta"]["x"], truth["theta"]["y"]]
    assert client.get(f"/api/missions/{ended['id']}").json()["truth"] == truth


def test_what_is_over_does_not_go_on(ended, client):
    for action in ("run", "step"):
        answer = client.post(f"/api/missions/{ended['id']}/control", json={"action": action})
        assert answer.status_code == 409
        assert "over" in answer.json()["error"]


def test_types_are_not_mixed(ended, fed, client):
    """No readings for a simulation, no steps and no truth of a real mission."""
    assert send(client, ended["id"], (2.0, 2.0), 1.0).status_code == 409
    assert (
        client.post(f"/api/missions/{ended['id']}/survey", content=b"x,y,value\n1,1,1\n").status_code == 409
    )
    assert client.post(f"/api/missions/{fed[0]}/control", json={"action": "step"}).status_code == 409
    assert client.post(f"/api/missions/{fed[0]}/reveal").status_code == 409


def test_a_pause_holds(begin, client):
    """No reading comes after a pause is answered but the one under way."""
    mission = begin(type="simulated", seed=13, speed=50.0)["id"]
    client.post(f"/api/missions/{mission}/control", json={"action": "run"})
    client.post(f"/api/missions/{mission}/control", json={"action": "pause"})
    client.post(f"/api/missions/{mission}/control", json={"action": "step"})
    settled = client.get(f"/api/missions/{mission}").json()
    assert not settled["running"]
    again = client.get(f"/api/missions/{mission}").json()
    assert again["readings"] == settled["readings"]


def test_exports_are_files(fed, client):
    """Each by its own type and name; KML needs degrees and says so."""
    for to, kind in (("geojson", "geo+json"), ("csv", "text/csv"), ("html", "text/html")):
        answer = client.get(f"/api/missions/{fed[0]}/export?to={to}")
        assert answer.status_code == 200
        assert kind in answer.headers["content-type"]
        assert answer.headers["content-disposition"].startswith('attachment; filename="dowsax-')
    table = client.get(f"/api/missions/{fed[0]}/export?to=csv").text.splitlines()
    assert len(table) == 1 + len(PLACES)
    assert client.get(f"/api/missions/{fed[0]}/export?to=kml").status_code == 422
    assert client.get(f"/api/missions/{fed[0]}/export?to=../../etc/passwd").status_code == 422


def test_a_name_is_text_wherever_it_is_shown(ended, client):
    """As it was given in JSON, and with its marks escaped in a report."""
    assert ended["name"] == "run <b>me</b>"
    report = client.get(f"/api/missions/{ended['id']}/export?to=html").text
    assert "<b>me</b>" not in report
    assert "run &lt;b&gt;me&lt;/b&gt;" in report


def test_an_export_without_readings_is_refused(begin, client):
    answer = client.get(f"/api/missions/{begin()['id']}/export?to=csv")
    assert answer.status_code == 409
    assert "no readings yet" in answer.json()["error"]


def test_the_list_has_every_mission_newest_first(fed, ended, client):
    missions = client.get("/api/missions").json()
    assert {fed[0], ended["id"]} <= {mission["id"] for mission in missions}
    created = [mission["created"] for mission in missions]
    assert created == sorted(created, reverse=True)
    assert client.get("/api/health").json()["missions"] == len(missions)
    five = next(mission for mission in missions if mission["id"] == fed[0])
    assert (five["snapshots"], five["has_feed"]) == (5, False)


def test_answers_are_as_they_are_described(fed, ended, client):
    """Every key that is given is in the OpenAPI description, and every one that is promised is given."""
    from pydantic import TypeAdapter

    from dowsax.console import schemas

    snapshot = client.get(f"/api/missions/{fed[0]}/snapshots/5").json()
    promised = {
        schemas.HealthAnswer: [client.get("/api/health").json()],
        schemas.MissionItemAnswer: client.get("/api/missions").json(),
        schemas.MissionAnswer: [client.get(f"/api/missions/{id}").json() for id in (fed[0], ended["id"])],
        schemas.SnapshotAnswer: [snapshot, *client.get(f"/api/missions/{fed[0]}/snapshots").json()],
        schemas.FieldAnswer: [client.get(f"/api/missions/{fed[0]}/field").json()],
        schemas.ReadingResultAnswer: fed[1],
    }
    for model, bodies in promised.items():
        TypeAdapter(list[model]).validate_python(bodies)
    paths = client.get("/api/openapi.json").json()["paths"]
    schema = paths["/api/missions/{id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["$ref"].endswith("MissionAnswer")
