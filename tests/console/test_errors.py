"""Refused requests: a status code and one line that names the key."""

import pytest

NONE = "0" * 12


def asked(client, mission, case):
    method, path, body = {
        "unknown mission": ("GET", f"/missions/{NONE}", None),
        "unknown reading": ("GET", f"/missions/{mission}/snapshots/99", None),
        "no steps of a real mission": ("POST", f"/missions/{mission}/control", {"action": "step"}),
        "outside": ("POST", f"/missions/{mission}/readings", {"position": [1e6, 0], "value": 1}),
        "no value": ("POST", f"/missions/{mission}/readings", {"position": [1, 1]}),
    }[case]
    return client.request(method, f"/api{path}", json=body)


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("unknown mission", 404),
        ("unknown reading", 404),
        ("no steps of a real mission", 409),
        ("outside", 422),
        ("no value", 422),
    ],
)
def test_a_refused_request_has_a_status_code_and_a_reason(begin, client, case, status):
    answer = asked(client, begin()["id"], case)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_a_malformed_request_has_its_own_status_code(client):
    broken = client.post("/api/missions", content=b"{", headers={"content-type": "application/json"})
    assert broken.status_code == 400
    assert client.post("/api/missions", content=b" " * 70_000).status_code == 413
    assert client.get("/api/missions", headers={"host": "elsewhere.example"}).status_code == 421


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"type": "simulated", "seed": -1}, "`seed` must be >= 0."),
        ({"type": "simulated", "seed": 2**31}, "`seed` must be < 2147483648."),
        ({"type": "simulated", "seed": 1.5}, "`seed` must be a whole number."),
        ({"type": "simulated", "seed": "many"}, "`seed` must be a whole number."),
        ({"type": "simulated", "speed": 51}, "`speed` must be <= 50."),
        ({"type": "simulated", "name": "x" * 81}, "`name` must have at most 80 letters."),
        ({"type": "simulated", "name": "a\x01b"}, "`name` has characters that cannot be shown."),
        ({"type": "both"}, "`type` must be 'simulated' or 'real'."),
        ({}, "`type` is missing."),
        ({"type": "real", "colour": 1}, "`colour` is not known here: leave it out."),
        ({"type": "real", "mqtt": {}}, "`mqtt.url` is missing."),
        ([], "The body must be an object."),
    ],
)
def test_a_wrong_body_gets_the_reason(client, body, words):
    answer = client.post("/api/missions", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"] == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"position": [1, 1]}, "`value` is missing."),
        ({"position": [1], "value": 1}, "`position.1` is missing."),
        ({"position": [1, 1, 1], "value": 1}, "`position` must have at most 2 entries."),
        ({"position": [1, 1], "value": "much"}, "`value` must be a number."),
        ({"position": [1, 1], "value": 1e16}, "`value` must be <= 1e+15."),
        ({"latitude": 91, "longitude": 1, "value": 1}, "`latitude` must be <= 90."),
        ({"position": [1, 1], "value": 1, "time": []}, "`time` must be a number."),
    ],
)
def test_a_wrong_reading_names_its_key(begin, client, body, words):
    answer = client.post(f"/api/missions/{begin()['id']}/readings", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"] == words
