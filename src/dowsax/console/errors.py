"""Every error as one line that says what to do, and never more than that."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dowsax.console.hosted import Over
from dowsax.console.scheduler import Full
from dowsax.console.service import Unknown
from dowsax.journal import NotRecorded
from dowsax.mission.questions import CONFIRM, Doubted

_LONGEST = 500
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known here: leave it out",
    "greater_than": "is above {gt}",
    "greater_than_equal": "is {ge} or more",
    "less_than": "is below {lt}",
    "less_than_equal": "is {le} or less",
    "int_type": "is a whole number",
    "int_parsing": "is a whole number",
    "int_parsing_size": "is a whole number of fewer digits",
    "int_from_float": "is a whole number",
    "float_type": "is a number",
    "float_parsing": "is a number",
    "finite_number": "is a finite number",
    "bool_parsing": "is true or false",
    "string_type": "is a text",
    "string_too_long": "has {max_length} letters at the most",
    "string_too_short": "has {min_length} letters at least",
    "string_pattern_mismatch": "is not spelled as these are: {pattern}",
    "literal_error": "is one of {expected}",
    "model_attributes_type": "is an object",
    "dict_type": "is an object",
    "tuple_type": "is a list",
    "too_long": "has too many entries: {max_length} at the most",
    "value_error": "{error}",
}
"""What is wrong, by the type that pydantic gives it."""


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
    app.add_exception_handler(Doubted, _doubted)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def _answering(status: int):
    async def answer(request: Request, error: Exception) -> JSONResponse:
        return refusal(status, str(error))

    return answer


async def _doubted(request: Request, error: Exception) -> JSONResponse:
    """A reading that counts once it is confirmed: the answer says so."""
    return JSONResponse({"error": _one_line(str(error)), CONFIRM: False}, 422)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return refusal(400, "The body is not JSON: send an object such as the documentation shows.")
    where = ".".join(str(part) for part in first["loc"] if _is_name(part))
    words = _WORDS.get(first["type"], "is not as it should be: {msg}").format(**_facts(first))
    return refusal(422, f"`{where}` {words}." if where else f"The body {words}.")


def _is_name(part: str | int) -> bool:
    """Whether a part of a place is a key, and not where it stands or which of several types was tried."""
    if isinstance(part, int):
        return True
    return part.isidentifier() and part not in ("body", "query", "path", "float", "str", "int")


def _facts(fault: dict[str, Any]) -> dict[str, str]:
    """What is said of a fault; numbers without needless figures."""
    said = {
        name: f"{fact:g}" if isinstance(fact, float) else str(fact)
        for name, fact in fault.get("ctx", {}).items()
    }
    return {"msg": fault["msg"]} | said


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {404: "There is nothing at this address.", 405: "This address is not asked that way."}
    return refusal(error.status_code, known.get(error.status_code, str(error.detail)))


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    return refusal(500, "Something went wrong in the console: its own log says what.")


def _one_line(words: str) -> str:
    line = " ".join(words.split()).encode("utf-8", "replace").decode()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
