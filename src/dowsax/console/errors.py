"""Every error as a status code and one line that says what to do."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from dowsax.console.mission_host import Conflict
from dowsax.console.scheduler import QueueFull
from dowsax.console.service import NotFound
from dowsax.journal import NotRecorded
from dowsax.mission.checks import CONFIRM, NeedsConfirmation

_ERROR = {
    "description": "One line that says what to do.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
        }
    },
}
DESCRIBED_ERRORS: dict[int | str, dict[str, Any]] = dict.fromkeys(
    (400, 401, 403, 404, 409, 422, 429, 503), _ERROR
)
"""In the description of every route."""
_MAX_LENGTH = 500
_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not known here: leave it out",
    "greater_than": "must be > {gt}",
    "greater_than_equal": "must be >= {ge}",
    "less_than": "must be < {lt}",
    "less_than_equal": "must be <= {le}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "string_too_long": "must have at most {max_length} letters",
    "string_too_short": "must have at least {min_length} letters",
    "string_pattern_mismatch": "must match {pattern}",
    "literal_error": "must be {expected}",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "tuple_type": "must be a list",
    "too_long": "must have at most {max_length} entries",
    "value_error": "{error}",
}
"""What must hold, by pydantic's type of error."""


def error_response(status: int, message: str) -> JSONResponse:
    headers = {"retry-after": "1"} if status in (429, 503) else None
    return JSONResponse({"error": _one_line(message)}, status, headers)


def add_handlers(app: FastAPI) -> None:
    """Answer known errors with their status code; all others with a line that reveals nothing."""
    statuses: dict[type[Exception], int] = {
        NotFound: 404,
        Conflict: 409,
        QueueFull: 429,
        NotRecorded: 503,
        ValueError: 422,
    }
    for kind, status in statuses.items():
        app.add_exception_handler(kind, _handler(status))
    app.add_exception_handler(NeedsConfirmation, _handle_needs_confirmation)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http)
    app.add_exception_handler(Exception, _handle_unexpected)


def _handler(status: int):
    async def handle(request: Request, error: Exception) -> JSONResponse:
        return error_response(status, str(error))

    return handle


async def _handle_needs_confirmation(request: Request, error: Exception) -> JSONResponse:
    """Say that the reading counts once it is confirmed."""
    return JSONResponse({"error": _one_line(str(error)), CONFIRM: False}, 422)


async def _handle_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return error_response(400, "The body is not JSON: send an object such as the documentation shows.")
    where = ".".join(str(part) for part in first["loc"] if _is_name(part))
    message = _MESSAGES.get(first["type"], "is not valid: {msg}").format(**_context(first))
    return error_response(422, f"`{where}` {message}." if where else f"The body {message}.")


def _is_name(part: str | int) -> bool:
    """Whether a part of a location is a key, and not the part of the request or a type that was tried."""
    if isinstance(part, int):
        return True
    return part.isidentifier() and part not in ("body", "query", "path", "float", "str", "int")


def _context(fault: dict[str, Any]) -> dict[str, str]:
    """Return the values for a message, numbers in short form."""
    context = {
        name: f"{fact:g}" if isinstance(fact, float) else str(fact)
        for name, fact in fault.get("ctx", {}).items()
    }
    return {"msg": fault["msg"]} | context


async def _handle_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known = {404: "There is nothing at this address.", 405: "This method is not allowed at this address."}
    return error_response(error.status_code, known.get(error.status_code, str(error.detail)))


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    return error_response(500, "Something went wrong in the console: its own log says what.")


def _one_line(message: str) -> str:
    line = " ".join(message.split()).encode("utf-8", "replace").decode()
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
