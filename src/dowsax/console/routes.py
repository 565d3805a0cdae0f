"""The addresses of the console; what each takes and gives is described in /api/openapi.json."""

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response

from dowsax import __version__
from dowsax.console import views
from dowsax.console.answers import (
    FieldAnswer,
    FrameAnswer,
    HealthAnswer,
    ItemAnswer,
    MissionAnswer,
    SteeredAnswer,
    SurveyAnswer,
    TakenAnswer,
    TruthAnswer,
    described,
    told,
)
from dowsax.console.choices import choices as known
from dowsax.console.choices import understood
from dowsax.console.exports import exported, found_by, readings_of
from dowsax.console.hosted import Hosted, Over
from dowsax.console.records import REAL
from dowsax.console.schemas import SITE_LENGTH, ControlBody, CorrectionBody, MissionBody, ReadingBody
from dowsax.console.service import Console, Unknown
from dowsax.console.surveys import take_survey
from dowsax.mission.requests import Request as ReadingRequest
from dowsax.mission.requests import request_of
from dowsax.site import new_site

_ERROR = {
    "description": "One line that says what to do.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
        }
    },
}
_ERRORS: dict[int | str, dict[str, Any]] = dict.fromkeys((400, 401, 404, 409, 422, 429, 503), _ERROR)
MAX_SNAPSHOTS = 2000
"""In one answer."""

MissionId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Count = Annotated[int, Query(ge=1, le=10_000_000)]
Number = Annotated[int, Path(ge=1, le=10_000_000)]
Reason = Annotated[str, Query(max_length=500)]


def router(console: Console) -> APIRouter:
    """All but the sockets."""
    routes = APIRouter(prefix="/api", responses=_ERRORS)
    _add_lists(routes, console)
    _add_sites(routes)
    _add_missions(routes, console)
    _add_frames(routes, console)
    _add_actions(routes, console)
    return routes


def _add_lists(routes: APIRouter, console: Console) -> None:
    """What is answered at once, however soon after the start."""

    @routes.get("/health", **described(HealthAnswer))
    async def health() -> Response:
        """Whether the console is there, and for how long [s]."""
        uptime = round(time.monotonic() - console.begun, 1)
        known = {"version": __version__, "missions": len(console.missions)}
        return told(known | {"uptime": uptime})

    @routes.get("/missions", **described(list[ItemAnswer]))
    async def missions() -> Response:
        """All missions, the newest first."""
        return told(views.listed(console))


def _add_sites(routes: APIRouter) -> None:
    @routes.get("/choices")
    async def choices() -> dict[str, Any]:
        """What a mission can be begun with."""
        return await asyncio.to_thread(known)

    @routes.get("/site/new", response_class=PlainTextResponse)
    async def site_new(kind: Annotated[str, Query(max_length=40)] = "gas-plume") -> PlainTextResponse:
        """A site file to start from, with every key explained."""
        return PlainTextResponse(await asyncio.to_thread(new_site, kind))

    @routes.post("/site/check", openapi_extra=_body_of("text/plain"))
    async def site_check(request: Request) -> dict[str, Any]:
        """What is understood of a site file."""
        return await asyncio.to_thread(understood, _text(await request.body(), SITE_LENGTH))


def _add_missions(routes: APIRouter, console: Console) -> None:
    @routes.post("/missions", **described(MissionAnswer, 201))
    async def begin(body: MissionBody) -> Response:
        """Begin a mission, simulated or real. It says `preparing` while its filter is compiled."""
        return told(await views.whole(console, await console.create(body)), 201)

    @routes.get("/missions/{id}", **described(MissionAnswer))
    async def mission(id: MissionId) -> Response:
        """All there is to know of a mission."""
        return told(await views.whole(console, console.mission(id)))

    @routes.delete("/missions/{id}", status_code=204, response_class=Response)
    async def delete(id: MissionId) -> Response:
        """End a mission and forget it, with all its readings: nothing of it is left."""
        await console.delete(console.find(id))
        return Response(status_code=204)

    @routes.get("/missions/{id}/export")
    async def export(id: MissionId, to: Literal["geojson", "kml", "qgc", "csv", "html"]) -> Response:
        """What the mission has found so far, as a file."""
        hosted = console.mission(id)
        name, site = hosted.record.name, hosted.record.site
        if hosted.readings == 0:
            raise Over("The mission has no readings yet: there is nothing to export.")
        if to == "csv":
            log = console.store.log_path(id)
            made = await console.do(hosted, lambda _: readings_of(log, id, site))
        else:
            found = await console.do(
                hosted, lambda generation: found_by(hosted.do_prepare(generation), name, site), is_long=True
            )
            made = await console.aside(f"{id} export", lambda: exported(found, to, id, site))
        headers = {"content-disposition": f'attachment; filename="{made.name}"'}
        return Response(made.text.encode(), media_type=made.media_type, headers=headers)


def _add_frames(routes: APIRouter, console: Console) -> None:
    @routes.get("/missions/{id}/frames", **described(list[FrameAnswer]))
    async def frames(
        id: MissionId, first: Count = 1, last: Count | None = None, full: bool = False
    ) -> Response:
        """The frames from `first` to `last`; with particles and regions where `full` says so."""
        hosted = console.mission(id)
        most = 50 if full else MAX_SNAPSHOTS
        end = min(first + most - 1, hosted.steps if last is None else last, hosted.steps)
        if not full:
            return told(await asyncio.to_thread(console.store.frames(id).between, first, end))
        numbers = range(first, end + 1)
        found = [await views.frame(console, hosted, number) for number in numbers]
        return told([frame for frame in found if frame is not None])

    @routes.get("/missions/{id}/frames/{number}", **described(FrameAnswer))
    async def frame(id: MissionId, number: Number) -> Response:
        """The frame of one reading, with particles and regions."""
        return told(_found(await views.frame(console, console.mission(id), number)))

    @routes.get("/missions/{id}/field", **described(FieldAnswer))
    async def field(id: MissionId, number: Count | None = None) -> Response:
        """The readings that are expected under the belief after a reading (default: the newest)."""
        hosted = console.mission(id)
        at = number or hosted.steps
        if at > hosted.steps:
            raise Unknown(_NO_READING)
        work = lambda generation: hosted.do_expect(generation, at)  # noqa: E731
        return told(_found(await console.do(hosted, work, is_long=True)))


def _add_actions(routes: APIRouter, console: Console) -> None:
    @routes.post("/missions/{id}/readings", **described(TakenAnswer))
    async def read(id: MissionId, body: ReadingBody) -> Response:
        """Take in a reading. The answer is acknowledgement: the reading is on the disk."""
        request = request_of(body.to_keys() | {"confirm": body.confirm})
        return await _answered(console, id, request)

    @routes.patch("/missions/{id}/readings/{number}", **described(TakenAnswer))
    async def correct(id: MissionId, number: Number, body: CorrectionBody) -> Response:
        """Correct a reading: belief and advice are as if it had been sent right. Give what was wrong."""
        keys = body.to_keys() | {"correct": True, "number": number, "reason": body.reason}
        return await _answered(console, id, request_of(keys | {"confirm": body.confirm}))

    @routes.delete("/missions/{id}/readings/{number}", **described(TakenAnswer))
    async def withdraw(id: MissionId, number: Number, reason: Reason = "") -> Response:
        """Withdraw a reading: belief and advice are those of the mission without it; the log keeps it."""
        keys = {"withdraw": True, "number": number, "reason": reason}
        return await _answered(console, id, request_of(keys))

    @routes.post("/missions/{id}/survey", openapi_extra=_body_of("text/csv"), **described(SurveyAnswer))
    async def survey(id: MissionId, request: Request, confirm: bool = False) -> Response:
        """Take in the rows of a CSV file, as the body or as `file` of a form; `confirm` odd values."""
        hosted = _real(console.mission(id))
        return told(await take_survey(console, hosted, *await _uploaded(request), confirm))

    @routes.post("/missions/{id}/control", **described(SteeredAnswer))
    async def control(id: MissionId, body: ControlBody) -> Response:
        """Let a simulated mission run, pause, take one step, or set its speed."""
        hosted = console.mission(id)
        if not hosted.is_simulated:
            raise Over("Only a simulated mission can be steered: send readings to a real one.")
        if body.speed is not None:
            hosted.speed = body.speed
            hosted.changed()
        if body.action == "run":
            console.run(hosted)
        elif body.action == "pause":
            console.pause(hosted)
        elif body.action == "step":
            await console.step(hosted)
        return told(views.item(hosted) | {"speed": hosted.speed})

    @routes.post("/missions/{id}/reveal", **described(TruthAnswer))
    async def reveal(id: MissionId) -> Response:
        """The true source of a simulated mission that has ended."""
        return told(await console.reveal(console.mission(id)))


_NO_READING = "There is no reading of this number: see how many the mission has."


def _found(thing: Any) -> Any:
    if thing is None:
        raise Unknown(_NO_READING)
    return thing


async def _answered(console: Console, id: str, request: "ReadingRequest") -> Response:
    """Have a mission do what is asked for, and tell its advice and the frame."""
    hosted = _real(console.mission(id))
    advice, frame = await console.do(hosted, lambda generation: hosted.do_answer(generation, request))
    return told({"advice": advice.to_json(), "frame": frame})


def _real(hosted: Hosted) -> Hosted:
    if hosted.record.type != REAL:
        raise Over("Readings of a simulated mission come from the simulation: step it, or let it run.")
    return hosted


def _text(data: bytes, most: int) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("The body is not text in UTF-8: save the file as UTF-8.") from None
    if len(text) > most:
        raise ValueError(f"The site file has more than {most} letters: shorten it.")
    return text


async def _uploaded(request: Request) -> tuple[bytes, str]:
    """The file that was sent, and what it is called; as the body it has no name."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await request.body(), ""
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if file is None or isinstance(file, str):
            raise ValueError("The form has no `file`: choose one.")
        return await file.read(), file.filename or ""


def _body_of(media_type: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": {"type": "string"}}}}}
