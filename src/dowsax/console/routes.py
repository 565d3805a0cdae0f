"""The routes of the API; /api/openapi.json describes them."""

import asyncio
import time
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from dowsax import __version__
from dowsax.console import views
from dowsax.console.bodies import (
    ControlBody,
    CorrectionBody,
    MissionBody,
    ReadingBody,
    RestorationBody,
)
from dowsax.console.errors import DESCRIBED_ERRORS
from dowsax.console.exports import export_findings, export_readings, mission_findings
from dowsax.console.mission_host import Conflict, MissionHost
from dowsax.console.records import REAL
from dowsax.console.schemas import (
    ControlAnswer,
    FieldAnswer,
    HealthAnswer,
    MissionAnswer,
    MissionItemAnswer,
    ReadingResultAnswer,
    SnapshotAnswer,
    SurveyAnswer,
    TruthAnswer,
    describe,
)
from dowsax.console.service import Console, NotFound
from dowsax.console.site_routes import add_site_routes, describe_body, picture_response, read_upload
from dowsax.console.surveys import add_survey
from dowsax.mission.messages import Request as ReadingRequest
from dowsax.mission.messages import parse_request
from dowsax.site.searcher import MAX_NAME_LENGTH

MAX_SNAPSHOTS, MAX_FULL_SNAPSHOTS = 2000, 50
"""In one answer, without and with particles."""

MissionId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Count = Annotated[int, Query(ge=1, le=10_000_000)]
Number = Annotated[int, Path(ge=1, le=10_000_000)]
Reason = Annotated[str, Query(max_length=500)]


def router(console: Console) -> APIRouter:
    """Return all routes except the websockets."""
    routes = APIRouter(prefix="/api", responses=DESCRIBED_ERRORS)
    _add_lists(routes, console)
    add_site_routes(routes, console)
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


def _add_missions(routes: APIRouter, console: Console) -> None:
    @routes.post("/missions", **describe(MissionAnswer, 201))
    async def create(body: MissionBody) -> Response:
        """Create a mission, simulated or real. Its status is `preparing` while its filter is compiled."""
        return JSONResponse(await views.mission_details(console, await console.create(body)), 201)

    @routes.get("/missions/{id}", **describe(MissionAnswer))
    async def mission(id: MissionId) -> Response:
        """Return everything about a mission."""
        return JSONResponse(await views.mission_details(console, console.mission(id)))

    @routes.get("/missions/{id}/picture", response_class=Response)
    async def picture(id: MissionId) -> Response:
        """Return the picture behind the map."""
        path = console.store.picture_path(console.find(id).id)
        return picture_response(await asyncio.to_thread(_read_picture, path))

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
            work = lambda _: export_readings(log, id, site)  # noqa: E731
            made = await console.look(host, f"csv {host.steps}", work, is_long=False)
        else:
            work = lambda generation: mission_findings(host.do_prepare(generation), name, site)  # noqa: E731
            findings = await console.look(host, f"findings {host.steps}", work)
            made = await console.do_aside(
                f"{id} export",
                lambda: export_findings(findings, to, id, site, searcher),
                f"{to} {host.steps} {searcher}",
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
        return JSONResponse(_require_found(await console.look(host, f"field {at}", work, is_kept=True)))


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

    @routes.post("/missions/{id}/readings/{number}/restore", **describe(ReadingResultAnswer))
    async def restore(id: MissionId, number: Number, body: RestorationBody) -> Response:
        """Undo a withdrawal or a correction of a reading. The belief is computed again."""
        keys = {"restore": True, "number": number, "as_of": body.as_of, "reason": body.reason}
        return await _answer(console, id, parse_request(keys))

    @routes.post("/missions/{id}/survey", openapi_extra=describe_body("text/csv"), **describe(SurveyAnswer))
    async def survey(id: MissionId, request: Request, confirm: bool = False) -> Response:
        """Add the rows of a CSV file, the body or `file` of a form; `confirm` implausible values."""
        host = _require_real(console.mission(id))
        return JSONResponse(await add_survey(console, host, *await read_upload(request), confirm))

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


def _read_picture(path: FilePath) -> bytes:
    if not path.is_file():
        raise NotFound("The mission has no picture behind its map.")
    return path.read_bytes()


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
