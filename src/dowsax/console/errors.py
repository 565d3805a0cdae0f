"""Every error as one line that says what to do, and never more than that."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dowsax.console.hosted import Over
from dowsax.console.scheduler import Full
from dowsax.console.service import Unknown
from dowsax.mission.log import NotRecorded

_LONGEST = 500


def refusal(status: int, words: str) -> JSONResponse:
    headers = {"retry-after": "1"} if status in (429, 503) else None
    return JSONResponse({"error": _one_line(words)}, status, headers)


def add_handlers(app: FastAPI) -> None:
    """Have errors of the console answered with their status; all others by a line that tells nothing."""
    statuses: dict[type[Exception], int] = {
        Unknown: 404,
        Over: 409,
        Full: 429,
        NotRecorded: 503,
        ValueError: 422,
    }
    for kind, status in statuses.items():
        app.add_exception_handler(kind, _answering(status))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def _answering(status: int):
    async def answer(request: Request, error: Exception) -> JSONResponse:
        return refusal(status, str(error))

    return answer


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    words = str(first["msg"])
    if first["type"] == "json_invalid":
        return refusal(400, "The body is not JSON: send an object such as the documentation shows.")
    return refusal(422, f"`{where}`: {words}." if where else f"{words}.")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {404: "There is nothing at this address.", 405: "This address is not asked that way."}
    return refusal(error.status_code, known.get(error.status_code, str(error.detail)))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    return refusal(500, "Something went wrong in the console: its own log says what.")


def _one_line(words: str) -> str:
    line = " ".join(words.split()).encode("utf-8", "replace").decode()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
