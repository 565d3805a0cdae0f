"""A mission whose answers are changed on their way, so that a page sees any site without compiling it."""

import json
from typing import Any

from playwright.sync_api import Error


def change_answers(
    page: Any, mission: str, facts: dict[str, Any], snapshots: dict[int, dict[str, Any]]
) -> None:
    """Change the facts of a mission and some of its snapshots, by their numbers; its socket is silent."""

    def changed(snapshot: dict[str, Any] | None) -> dict[str, Any] | None:
        if snapshot is None:
            return None
        own = dict(snapshots.get(snapshot["number"], {}))
        reading = own.pop("reading", {})
        return snapshot | own | {"reading": snapshot["reading"] and snapshot["reading"] | reading}

    def answer(route: Any) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        try:
            body = route.fetch().json()
        except Error:
            # The test is over.
            return
        if isinstance(body, list):
            body = [changed(one) for one in body]
        elif "particles" in body and "area" not in body:
            body = changed(body)
        else:
            body = body | facts | {"latest": changed(body["latest"])}
        route.fulfill(body=json.dumps(body), content_type="application/json")

    page.route(f"**/api/missions/{mission}", answer)
    page.route(f"**/api/missions/{mission}/snapshots*", answer)
    page.route(f"**/api/missions/{mission}/snapshots/*", answer)
    page.route_web_socket("**/live", lambda socket: None)
