"""The routes of the API; /api/openapi.json describes them."""

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from dowsax import __version__
from dowsax.console import views
from dowsax.console.create_mission import choices
from dowsax.console.exports import export_findings, export_readings, mission_findings
from dowsax.console.mission_host import Conflict, MissionHost
from dowsax.console.records import REAL
from dowsax.console.schemas import (
    MAX_SITE_LENGTH,
    ControlAnswer,
    ControlBody,
    CorrectionBody,
    FieldAnswer,
    HealthAnswer,
    MissionAnswer,
    MissionBody,
    MissionItemAnswer,
    ReadingBody,
    ReadingResultAnswer,
    SnapshotAnswer,
    SurveyAnswer,
    TruthAnswer,
    describe,
)
from dowsax.console.service import Console, NotFound
from dowsax.console.sites import check_site
from dowsax.console.surveys import add_survey
from dowsax.mission.messages import Request as ReadingRequest
from dowsax.mission.messages import parse_request
from dowsax.site import new_site
from dowsax.site.searcher import MAX_NAME_LENGTH

_ERROR = {
    "description": "One line that says what to do.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
        }
    },
}
_ERRORS: dict[int | str, dict[str, Any]] = dict.fromkeys((400, 401, 404, 409, 422, 429, 503), _ERROR)
MAX_SNAPSHOTS, MAX_FULL_SNAPSHOTS = 2000, 50
"""In one answer, without and with particles."""

MissionId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Count = Annotated[int, Query(ge=1, le=10_000_000)]
Number = Annotated[int, Path(ge=1, le=10_000_000)]
Reason = Annotated[str, Query(max_length=500)]


def router(console: Console) -> APIRouter:
    """Return all routes except the websockets."""
    routes = APIRouter(prefix="/api", responses=_ERRORS)
    _add_lists(routes, console)
    _add_sites(routes)
    _add_missions(routes, console)
    _add_snapshots(routes, console)
    _add_actions(routes, console)
    return routes


def _add_lists(routes: APIRouter, console: Console) -> None:
    @routes.get("/health", **describe(HealthAnswer))
    async def health() -> Response:
        """Return the version, the number of missions and the uptime [s]."""
        uptime = round(time.monotonic() - console.started, 1)
        return JSONResponse({"version": __version__, "missions": len(console.missions), "uptime": uptime})

    @routes.get("/missions", **describe(list[MissionItemAnswer]))
    async def missions() -> Response:
        """List all missions, the newest first."""
        return JSONResponse(views.mission_list(console))


def _add_sites(routes: APIRouter) -> None:
    @routes.get("/choices", name="choices")
    async def list_choices() -> dict[str, Any]:
        """List the fields, policies, scenarios and kinds of site for a new mission."""
        return await asyncio.to_thread(choices)

    @routes.get("/site/new", response_class=PlainTextResponse)
    async def site_new(kind: Annotated[str, Query(max_length=40)] = "gas-plume") -> PlainTextResponse:
        """Return a site file to start from, with every key explained."""
        return PlainTextResponse(await asyncio.to_thread(new_site, kind))

    @routes.post("/site/check", openapi_extra=_describe_body("text/plain"))
    async def site_check(request: Request) -> dict[str, Any]:
        """Check a site file, and describe it."""
        return await asyncio.to_thread(check_site, _text(await request.body(), MAX_SITE_LENGTH))


def _add_missions(routes: APIRouter, console: Console) -> None:
    @routes.post("/missions", **describe(MissionAnswer, 201))
    async def create(body: MissionBody) -> Response:
        """Create a mission, simulated or real. Its status is `preparing` while its filter is compiled."""
        return JSONResponse(await views.mission_details(console, await console.create(body)), 201)

    @routes.get("/missions/{id}", **describe(MissionAnswer))
    async def mission(id: MissionId) -> Response:
        """Return everything about a mission."""
        return JSONResponse(await views.mission_details(console, console.mission(id)))

    @routes.delete("/missions/{id}", status_code=204, response_class=Response)
    async def delete(id: MissionId) -> Response:
        """Delete a mission for good, with all its readings."""
        await console.delete(console.find(id))
        return Response(status_code=204)

    @routes.get("/missions/{id}/export")
    async def export(
        id: MissionId,
        to: Literal["geojson", "kml", "qgc", "csv", "html"],
        searcher: Annotated[str | None, Query(max_length=MAX_NAME_LENGTH)] = None,
    ) -> Response:
        """Export the findings so far as a file; a qgc plan of several searchers is that of one of them."""
        host = console.mission(id)
        name, site = host.record.name, host.record.site
        if host.readings == 0:
            raise Conflict("The mission has no readings yet: there is nothing to export.")
        if to == "csv":
            log = console.store.log_path(id)
            made = await console.do(host, lambda _: export_readings(log, id, site))
        else:
            work = lambda generation: mission_findings(host.do_prepare(generation), name, site)  # noqa: E731
            findings = await console.do(host, work, is_long=True)
            made = await console.do_aside(
                f"{id} export", lambda: export_findings(findings, to, id, site, searcher)
            )
        headers = {"content-disposition": f'attachment; filename="{made.name}"'}
        return Response(made.text.encode(), media_type=made.media_type, headers=headers)


def _add_snapshots(routes: APIRouter, console: Console) -> None:
    @routes.get("/missions/{id}/snapshots", **describe(list[SnapshotAnswer]))
    async def snapshots(
        id: MissionId, first: Count = 1, last: Count | None = None, full: bool = False
    ) -> Response:
        """Return the snapshots from `first` to `last`; with particles and regions where `full` is true."""
        host = console.mission(id)
        most = MAX_FULL_SNAPSHOTS if full else MAX_SNAPSHOTS
        end = min(first + most - 1, host.steps if last is None else last, host.steps)
        if not full:
            return JSONResponse(await asyncio.to_thread(console.store.snapshots(id).between, first, end))
        numbers = range(first, end + 1)
        found = [await views.snapshot(console, host, number) for number in numbers]
        return JSONResponse([snapshot for snapshot in found if snapshot is not None])

    @routes.get("/missions/{id}/snapshots/{number}", **describe(SnapshotAnswer))
    async def snapshot(id: MissionId, number: Number) -> Response:
        """Return the snapshot of one step, with particles and regions."""
        return JSONResponse(_require_found(await views.snapshot(console, console.mission(id), number)))

    @routes.get("/missions/{id}/field", **describe(FieldAnswer))
    async def field(id: MissionId, number: Count | None = None) -> Response:
        """Return the expected readings under the belief after a step (default: the newest)."""
        host = console.mission(id)
        at = number or host.steps
        if at > host.steps:
            raise NotFound(_NO_READING)
        work = lambda generation: host.do_expected_field(generation, at)  # noqa: E731
        return JSONResponse(_require_found(await console.do(host, work, is_long=True)))


def _add_actions(routes: APIRouter, console: Console) -> None:
    @routes.post("/missions/{id}/readings", **describe(ReadingResultAnswer))
    async def read(id: MissionId, body: ReadingBody) -> Response:
        """Add a reading. The answer is its acknowledgement: the reading is on the disk."""
        request = parse_request(body.to_keys() | {"confirm": body.confirm})
        return await _answer(console, id, request)

    @routes.patch("/missions/{id}/readings/{number}", **describe(ReadingResultAnswer))
    async def correct(id: MissionId, number: Number, body: CorrectionBody) -> Response:
        """Correct a reading; only the given keys change. The belief is computed again."""
        keys = body.to_keys() | {"correct": True, "number": number, "reason": body.reason}
        return await _answer(console, id, parse_request(keys | {"confirm": body.confirm}))

    @routes.delete("/missions/{id}/readings/{number}", **describe(ReadingResultAnswer))
    async def withdraw(id: MissionId, number: Number, reason: Reason = "") -> Response:
        """Withdraw a reading; the log keeps it. The belief is computed again."""
        keys = {"withdraw": True, "number": number, "reason": reason}
        return await _answer(console, id, parse_request(keys))

    @routes.post("/missions/{id}/survey", openapi_extra=_describe_body("text/csv"), **describe(SurveyAnswer))
    async def survey(id: MissionId, request: Request, confirm: bool = False) -> Response:
        """Add the rows of a CSV file, the body or `file` of a form; `confirm` implausible values."""
        host = _require_real(console.mission(id))
        return JSONResponse(await add_survey(console, host, *await _read_upload(request), confirm))

    @routes.post("/missions/{id}/control", **describe(ControlAnswer))
    async def control(id: MissionId, body: ControlBody) -> Response:
        """Run, pause or step a simulated mission, or set its speed."""
        host = console.mission(id)
        if not host.is_simulated:
            raise Conflict("Only a simulated mission can be steered: send readings to a real one.")
        if body.speed is not None:
            host.speed = body.speed
            host.publish_change()
        if body.action == "run":
            console.run(host)
        elif body.action == "pause":
            console.pause(host)
        elif body.action == "step":
            await console.step(host)
        return JSONResponse(views.list_item(host) | {"speed": host.speed})

    @routes.post("/missions/{id}/reveal", **describe(TruthAnswer))
    async def reveal(id: MissionId) -> Response:
        """Reveal the true source of a simulated mission that has ended."""
        return JSONResponse(await console.reveal(console.mission(id)))


_NO_READING = "There is no reading of this number: see how many the mission has."


def _require_found(thing: Any) -> Any:
    if thing is None:
        raise NotFound(_NO_READING)
    return thing


async def _answer(console: Console, id: str, request: ReadingRequest) -> Response:
    """Carry out a request, and return its advice and snapshot."""
    host = _require_real(console.mission(id))
    advice, snapshot = await console.do(host, lambda generation: host.do_answer(generation, request))
    return JSONResponse({"advice": advice.to_json(), "snapshot": snapshot})


def _require_real(host: MissionHost) -> MissionHost:
    if host.record.type != REAL:
        raise Conflict("Readings of a simulated mission come from the simulation: step it, or let it run.")
    return host


def _text(data: bytes, most: int) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("The body is not text in UTF-8: save the file as UTF-8.") from None
    if len(text) > most:
        raise ValueError(f"The site file has more than {most} letters: shorten it.")
    return text


async def _read_upload(request: Request) -> tuple[bytes, str]:
    """Return the uploaded file and its name; a plain body has no name."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await request.body(), ""
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if file is None or isinstance(file, str):
            raise ValueError("The form has no `file`: choose one.")
        return await file.read(), file.filename or ""


def _describe_body(media_type: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": {"type": "string"}}}}}
