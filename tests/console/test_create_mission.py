"""Creation of missions: what is refused, and the policies to choose from."""

import pytest

AREA = '[area]\nlow = [0, 0]\nhigh = [25, 25]\n[field]\nkind = "temperature"\n'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"type": "real"}, "`site` is missing"),
        ({"type": "real", "site": AREA, "field": "gas"}, "`field` is not for a real mission"),
        ({"type": "simulated", "site": AREA}, "`site` is not for a simulated mission"),
        ({"type": "simulated", "field": "water"}, "Unknown field"),
        ({"type": "simulated", "scenario": "prior-star"}, "Unknown scenario"),
        ({"type": "simulated", "policy": "/etc/passwd"}, "Unknown policy"),
        ({"type": "simulated", "policy": "../w.safetensors"}, "Unknown policy"),
        ({"type": "simulated", "name": "x" * 81}, "`name`"),
        ({"type": "simulated", "seed": -1}, "`seed`"),
        ({"type": "simulated", "speed": 1e9}, "`speed`"),
        ({"type": "other"}, "`type`"),
        ({"type": "real", "site": AREA, "mqtt": {"url": "http://host:80"}}, "Not an address of a broker"),
        ({"type": "real", "site": AREA, "mqtt": {"url": "mqtt://h:1", "readings": "a/#"}}, "wildcards"),
    ],
)
def test_an_impossible_mission_gets_the_reason(client, body, words):
    before = len(client.get("/api/missions").json())
    answer = client.post("/api/missions", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert len(client.get("/api/missions").json()) == before


@pytest.mark.slow
def test_policies_for_the_site_are_those_that_can_be_chosen(client):
    """Every choice that is told can advise in the benchmark's square, and none has to know the truth."""
    from dowsax.mission.plan import Plan
    from dowsax.mission.site_policy import build_site_policy
    from dowsax.site import parse_site

    plan = Plan.of(parse_site(AREA + "[step]\nlength = 1.0\ndirections = 4\n"))
    names = [policy["name"] for policy in client.get("/api/choices").json()["policies"]]
    assert "straight" not in names
    assert [build_site_policy(plan.model, plan.reach, name).name for name in names] == names
