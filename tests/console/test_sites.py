"""Sites in the console: every kind has a text to start from, and what would take too much is refused."""

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
    assert len(kinds) == 12
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
