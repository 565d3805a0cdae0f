"""A mission of several searchers in the console: whose readings are whose, and a plan for each."""

import pytest

TEAM = """
[[searcher]]
name = "anna"
start = [2.0, 3.0]
[[searcher]]
name = "ben"
start = [8.0, 3.0]
"""


@pytest.fixture
def mission(client, site_text, wait_until):
    body = {"type": "real", "policy": "location-gain", "seed": 3, "site": site_text() + TEAM}
    begun = client.post("/api/missions", json=body).json()
    return wait_until(begun["id"], lambda now: now["status"] == "searching")


def test_readings_and_snapshots_say_whose_they_are(client, mission):
    assert [one["name"] for one in mission["searchers"]] == ["anna", "ben"]
    assert len({one["colour"] for one in mission["searchers"]}) == 2
    address = f"/api/missions/{mission['id']}"
    refused = client.post(f"{address}/readings", json={"position": [2.0, 3.0], "value": 0.5})
    assert "say whose reading it is, anna, ben" in refused.text
    for one in mission["searchers"]:
        body = {"position": one["start"], "value": 0.5, "searcher": one["name"], "id": "1"}
        answer = client.post(f"{address}/readings", json=body).json()
        assert answer["snapshot"]["searcher"] == one["name"]
        assert answer["snapshot"]["reading"]["searcher"] == one["name"]
    features = client.get(f"{address}/export", params={"to": "geojson"}).json()["features"]
    readings = [one["properties"] for one in features if one["properties"]["what"] == "reading"]
    assert [one["searcher"] for one in readings] == ["anna", "ben"]
    whole = client.get(f"{address}/export", params={"to": "qgc"})
    assert "give `searcher`, one of anna, ben" in whole.text or "latitude" in whole.text
