"""The routes that say who asks, and by which the owner manages the links for others."""

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response

from dowsax.console.access_control import AccessSettings, Visitor
from dowsax.console.bodies import LinkBody
from dowsax.console.errors import DESCRIBED_ERRORS
from dowsax.console.links import Links
from dowsax.console.schemas import AccessAnswer, LinkAnswer, describe
from dowsax.console.service import NotFound

LinkId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]


def router(access: AccessSettings, links: Links) -> APIRouter:
    """Return the routes. The access control refuses those of links to all but the owner."""
    routes = APIRouter(prefix="/api", responses=DESCRIBED_ERRORS)

    @routes.get("/access", **describe(AccessAnswer))
    async def who(request: Request) -> Response:
        """Return the role of who asks."""
        visitor: Visitor = request.scope["visitor"]
        name = "" if visitor.link is None else visitor.link.name
        return JSONResponse({"role": visitor.role, "name": name, "is_open": access.token is None})

    @routes.get("/links", **describe(list[LinkAnswer]))
    async def all_links() -> Response:
        """List the links that are in force."""
        return JSONResponse([asdict(link) for link in links.all])

    @routes.post("/links", **describe(LinkAnswer, 201))
    async def create(body: LinkBody) -> Response:
        """Create a link with a token of its own."""
        return JSONResponse(asdict(await asyncio.to_thread(links.create, body.role, body.name)), 201)

    @routes.delete("/links/{id}", status_code=204, response_class=Response)
    async def revoke(id: LinkId) -> Response:
        """Revoke a link at once: its requests are refused, and its sockets closed."""
        if not await asyncio.to_thread(links.revoke, id):
            raise NotFound("There is no such link: see the list of links.")
        return Response(status_code=204)

    return routes
