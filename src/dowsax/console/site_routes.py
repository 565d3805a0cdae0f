"""The routes about sites that are no missions yet: site files, and pictures to show behind their maps."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from dowsax.console.bodies import MAX_SITE_LENGTH
from dowsax.console.create_mission import choices
from dowsax.console.pictures import media_type, read_picture
from dowsax.console.schemas import describe
from dowsax.console.service import Console
from dowsax.console.site_form import plain_shapes, read_form, start_form, write_form
from dowsax.console.site_schemas import SiteFormAnswer, SiteFormBody, UploadAnswer
from dowsax.console.sites import check_site
from dowsax.site import new_site

PictureId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]


def describe_body(media_type: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": {"type": "string"}}}}}


def add_site_routes(routes: APIRouter, console: Console) -> None:
    """Add the routes."""
    _add_pictures(routes, console)

    @routes.get("/choices", name="choices")
    async def list_choices() -> dict[str, Any]:
        """List the fields, policies, scenarios and kinds of site for a new mission."""
        return await asyncio.to_thread(choices)

    @routes.get("/site/new", response_class=PlainTextResponse)
    async def site_new(kind: Annotated[str, Query(max_length=40)] = "gas-plume") -> PlainTextResponse:
        """Return a site file to start from, with every key explained."""
        return PlainTextResponse(await asyncio.to_thread(new_site, kind))

    @routes.post("/site/check", openapi_extra=describe_body("text/plain"))
    async def site_check(request: Request) -> dict[str, Any]:
        """Check a site file, and describe it."""
        return await asyncio.to_thread(check_site, _text(await request.body(), MAX_SITE_LENGTH))

    @routes.post("/site/form", **describe(SiteFormAnswer))
    async def site_form(body: SiteFormBody) -> Response:
        """Return the form of a site file, after what is drawn and filled in is written into it."""
        return JSONResponse(await asyncio.to_thread(_form_of, body))


def _form_of(body: SiteFormBody) -> dict[str, Any]:
    """Return a new form, that of a text, or that of a text with what the form has."""
    if body.text is None:
        return start_form(body.kind)
    if body.values is None or body.shapes is None:
        return read_form(body.text)
    return write_form(body.text, body.values, plain_shapes(body.shapes.model_dump()))


def _add_pictures(routes: APIRouter, console: Console) -> None:
    @routes.post(
        "/pictures", openapi_extra=describe_body("application/octet-stream"), **describe(UploadAnswer, 201)
    )
    async def upload(request: Request) -> Response:
        """Upload a picture to show behind the map: PNG, JPEG or GeoTIFF, the body or `file` of a form."""
        data, name = await read_upload(request)

        def work() -> dict[str, Any]:
            picture = read_picture(data, name or "The picture")
            corners = None if picture.corners is None else picture.corners.tolist()
            size = {"width": picture.width, "height": picture.height}
            return {"id": console.uploads.add(picture), **size, "corners": corners}

        return JSONResponse(await console.do_aside("pictures", work), 201)

    @routes.get("/pictures/{picture}", response_class=Response)
    async def uploaded(picture: PictureId) -> Response:
        """Return an uploaded picture as it is stored."""
        return picture_response((await asyncio.to_thread(console.uploads.get, picture)).data)


def picture_response(data: bytes) -> Response:
    return Response(data, media_type=media_type(data), headers={"cache-control": "private, max-age=86400"})


def _text(data: bytes, most: int) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("The body is not text in UTF-8: save the file as UTF-8.") from None
    if len(text) > most:
        raise ValueError(f"The site file has more than {most} letters: shorten it.")
    return text


async def read_upload(request: Request) -> tuple[bytes, str]:
    """Return the uploaded file and its name; a plain body has no name."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await request.body(), ""
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if file is None or isinstance(file, str):
            raise ValueError("The form has no `file`: choose one.")
        return await file.read(), file.filename or ""
