"""Readings that are left out and count again over the API; what a page needs to know of the site."""

import pytest


@pytest.fixture(scope="module")
def corrected(begin, client):
    """A mission with two readings, of which the second was left out, restored, corrected, and put back."""
    path = f"/api/missions/{begin()['id']}"
    for place, value in (((5.0, 5.0), 0.4), ((9.0, 8.0), 1.2)):
        client.post(f"{path}/readings", json={"position": list(place), "value": value})
    client.delete(f"{path}/readings/2?reason=wet")
    client.post(f"{path}/readings/2/restore", json={"reason": "dry"})
    client.patch(f"{path}/readings/2", json={"value": 1.3})
    answer = client.post(f"{path}/readings/2/restore", json={"as_of": 2})
    assert answer.status_code == 200, answer.text
    return path


def test_a_reading_that_is_restored_counts_as_if_nothing_had_happened(corrected, client):
    snapshots = client.get(f"{corrected}/snapshots").json()
    values = [snapshot["reading"] and snapshot["reading"]["value"] for snapshot in snapshots]
    assert values == [0.4, 1.2, None, 1.2, 1.3, 1.2]
    assert [snapshot["corrects"] for snapshot in snapshots] == [None, None, 2, 2, 2, 2]
    for number in (3, 5):
        assert snapshots[number]["estimate"] == snapshots[1]["estimate"]
        assert snapshots[number]["why"] == f"Reading 2 was restored. {snapshots[1]['why']}"
    mission = client.get(corrected).json()
    assert mission["readings"] == 2
    texts = [event["text"] for event in mission["events"]]
    assert "Reading 2 was restored: dry" in texts
    assert "Reading 2 was corrected." in texts
    assert not mission["preparing"]


def test_a_restoration_needs_a_version_that_there_was(corrected, client):
    for body, words in (
        ({"as_of": 1}, "did not exist after step 1"),
        ({}, "Reading 2 counts: give `as_of`"),
        ({"value": 3}, "`value` is not known here"),
    ):
        answer = client.post(f"{corrected}/readings/2/restore", json=body)
        assert answer.status_code == 422
        assert words in answer.json()["error"]
    assert client.post(f"{corrected}/readings/9/restore", json={}).status_code == 422


def test_a_page_is_told_what_a_reading_needs_at_the_site():
    """Heights above ground, the level of the ground, and whether wind is carried over."""
    from made_heights import HEIGHTS, MODEL, tall_site

    from dowsax.console.sites import facts_of
    from dowsax.mission.plan import Plan

    plan = Plan.of(tall_site(), MODEL)
    facts = facts_of(tall_site(), plan, plan.site_policy(None))
    assert facts["heights"] == list(HEIGHTS)
    assert facts["ground"] == 0.0
    assert (facts["holds_wind"], facts["gas"]) == (False, None)
    assert "altitude" in facts["measures"]


def test_a_mission_of_an_earlier_version_has_what_a_page_needs(corrected, client):
    mission = client.get(corrected).json()
    assert mission["max_wind_age"] == 600
    assert mission["heights"] == []
    assert {name: units[0]["size"] for name, units in mission["units"].items()} == {
        "length": 1.0,
        "speed": 1.0,
        "value": 1.0,
    }
