"""Whatever is sent, the console answers, and never that something went wrong inside it.

Bodies are made from its own OpenAPI description. JSON, bytes and files of any kind, by the thousand, are in
`tests/benchmarks/test_fuzz.py`.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_bodies import bodies

# Threads of the console may use it while a body is being made.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
JSON = {"content-type": "application/json"}
CALM = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def targets(begin):
    """A real and a simulated mission to send things to."""
    return begin()["id"], begin(type="simulated")["id"]


@pytest.fixture(scope="module")
def schemas(client):
    """By path, the bodies that the description asks for."""
    description = client.get("/api/openapi.json").json()
    found = {}
    for path, methods in description["paths"].items():
        content = methods.get("post", {}).get("requestBody", {}).get("content", {})
        if "application/json" in content:
            found[path] = bodies(content["application/json"]["schema"], description["components"]["schemas"])
    assert set(found) == {
        "/api/missions",
        "/api/missions/{id}/readings",
        "/api/missions/{id}/control",
        "/api/missions/{id}/readings/{number}/restore",
        "/api/links",
        "/api/site/form",
    }
    return found


def require_answer(answer):
    """No fault of its own, and where it refuses, one line that says why."""
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        error = answer.json()["error"]
        assert error
        assert "\n" not in error
        assert "Traceback" not in error


@pytest.mark.slow
@CALM
@given(data=st.data())
def test_bodies_that_fit_the_description_are_answered(client, targets, schemas, data):
    made = {path: data.draw(schema) for path, schema in schemas.items()}
    # A mission that is begun would be compiled: the field is one that is not there.
    made["/api/missions"]["field"] = "none"
    for path, body in made.items():
        for mission in targets:
            sent = json.dumps(body).encode()
            require_answer(client.post(path.format(id=mission, number=1), content=sent, headers=JSON))


@CALM
@given(text=st.text(max_size=30), number=st.integers() | st.text(max_size=8))
def test_any_address_is_answered(client, targets, text, number):
    from urllib.parse import quote

    word, count = quote(text, safe=""), quote(str(number), safe="")
    paths = (
        f"/api/missions/{word}",
        f"/api/missions/{word}/snapshots/1",
        f"/api/missions/{targets[0]}/snapshots/{count}",
        f"/api/missions/{targets[0]}/snapshots?first={count}&last={count}&full={word}",
        f"/api/missions/{targets[0]}/export?to={word}",
        f"/api/missions/{targets[0]}/field?number={count}",
        f"/api/site/new?kind={word}",
    )
    for path in paths:
        require_answer(client.get(path))
        # No such mission, whatever its name: of those that are there, none is deleted.
        require_answer(client.delete(path if word not in targets else "/api/missions/none"))


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/static/../../pyproject.toml",
        "/%2e%2e/%2e%2e/console/store.py",
        "/api/missions/..%2f..%2fconsole.db",
        "/console.db",
        "//etc/passwd",
        "/\x00",
    ],
)
def test_no_way_leads_out_of_the_page(client, path):
    from urllib.parse import quote

    assert client.get(quote(path, safe="/%")).status_code in (400, 404, 405)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[" * 60_000,
        b'{"value": ' + b"9" * 50_000 + b"}",
        b'{"value": 1e999, "position": [1, 1]}',
        b'{"value": NaN, "position": [1, 1]}',
        b'{"value": 1, "position": [1, 1], "id": "\\ud800"}',
        b'{"value": 1, "position": [1, 1], "sensor": "\\u0000"}',
        b'{"value": 1, "position": [1e308, 1]}',
        b'{"value": 1, "position": [1, 1], "id": "' + b"x" * 1000 + b'"}',
        b'{"value": 1, "position": [1, 1], "__proto__": 1}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_reading_is_refused(client, targets, body):
    answer = client.post(f"/api/missions/{targets[0]}/readings", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    require_answer(answer)
