"""Sites in the console: every kind has a text to start from, and what would take too much is refused."""

import asyncio

import pytest

HUGE = {
    "particles": "[search]\nparticles = 30000\n",
    "directions": "[step]\ndirections = 100\n",
    "names": f"[sensor]\nnames = {[str(number) for number in range(40)]}\n",
    "points": f"[step]\npoints = {[[number, 1] for number in range(1200)]}\n",
}
AREA = '[area]\nlow = [0, 0]\nhigh = [25, 25]\n[field]\nkind = "temperature"\n'


def check(client, text):
    return client.post("/api/site/check", content=text.encode(), headers={"content-type": "text/plain"})


def test_every_kind_has_a_site_to_start_from(client):
    kinds = [kind["name"] for kind in client.get("/api/choices").json()["kinds"]]
    assert len(kinds) == 11
    for kind in kinds:
        text = client.get(f"/api/site/new?kind={kind}").text
        answer = check(client, text)
        assert answer.status_code == 200, answer.text
        assert answer.json()["kind"] == kind
        assert answer.json()["area"] == [[0.0, 0.0], [200.0, 150.0]]
    assert client.get("/api/site/new?kind=other").status_code == 422


def test_a_mistake_is_named_with_its_line(client):
    answer = check(client, AREA + "[budget]\nreading = 3\n")
    assert answer.status_code == 422
    assert "did you mean 'readings'?" in answer.json()["error"]


@pytest.mark.parametrize("what", HUGE)
def test_what_would_take_too_much_is_refused(client, what):
    for answer in (
        check(client, AREA + HUGE[what]),
        client.post("/api/missions", json={"type": "real", "site": AREA + HUGE[what]}),
    ):
        assert answer.status_code == 422
        assert what in answer.json()["error"]


@pytest.mark.parametrize("text", ["a = " + "[" * 20_000, "a." * 20_000 + "a = 1", "a = " + "9" * 50_000])
def test_shapes_that_no_parser_should_see_are_refused(client, text):
    answer = check(client, text)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("site.toml, line 1: ")


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
def test_what_cannot_be_begun_says_why(client, body, words):
    before = len(client.get("/api/missions").json())
    answer = client.post("/api/missions", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert len(client.get("/api/missions").json()) == before


def test_policies_for_the_site_are_those_that_can_be_chosen(client):
    """Every choice that is told can advise in the benchmark's square, and none has to know the truth."""
    from dowsax.mission.plan import Plan
    from dowsax.mission.policy_adapter import guide_for
    from dowsax.site import parse_site

    plan = Plan.of(parse_site(AREA + "[step]\nlength = 1.0\ndirections = 4\n"))
    names = [policy["name"] for policy in client.get("/api/choices").json()["policies"]]
    assert "straight" not in names
    assert [guide_for(plan.model, plan.reach, name).name for name in names] == names


def test_equal_sites_share_what_they_can(site_text):
    """Whatever their names, starts and budgets; and not where the field is another."""
    from dowsax.console.workshop import Workshop

    workshop = Workshop()
    _, one, guide = workshop.planned(site_text(seed=1), "greedy")
    _, other, same = workshop.planned(site_text(seed=2, readings=7).replace("Simulated", "Other"), "greedy")
    assert guide is same
    assert one.model is other.model
    assert one.start != other.start
    assert other.budget.readings == 7
    _, third, _ = workshop.planned(site_text().replace('"temperature"', '"gas"'), "greedy")
    assert third.model != one.model


def test_a_site_that_is_served_has_one_mission_however_often_it_is(tmp_path, site_text, monkeypatch):
    """Begun at the first start, and found there at the next."""
    from dowsax.console.service import Console

    # That its filter is compiled is not needed here.
    monkeypatch.setattr(Console, "prepare", lambda console, hosted: None)

    async def started():
        console = Console(tmp_path, site=site_text())
        await console.start()
        while not console.missions:
            await asyncio.sleep(0.01)
        found = list(console.missions)
        await console.stop()
        return found

    first = asyncio.run(started())
    assert len(first) == 1
    assert asyncio.run(started()) == first
