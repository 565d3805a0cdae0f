"""The console as a web application: API, page and access control."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from dowsax import __version__
from dowsax.console import link_routes, live, routes
from dowsax.console.access_control import AccessControl, AccessSettings
from dowsax.console.errors import add_handlers
from dowsax.console.links import FILE, Links
from dowsax.console.service import Console

STATIC = Path(__file__).parent / "static"


def build(console: Console, access: AccessSettings, links: Links | None = None) -> FastAPI:
    """Build the application for the missions of a console.

    `links` are those of its folder (default: read from there).
    """
    links = Links(console.store.folder / FILE) if links is None else links

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await console.start()
        yield
        await console.stop()

    app = FastAPI(
        title="dowsax console",
        version=__version__,
        description="Searches for a hidden source: start, watch, steer and export them.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        middleware=[Middleware(AccessControl, settings=access, links=links)],
    )
    app.state.console = console
    add_handlers(app)
    app.include_router(routes.router(console))
    app.include_router(link_routes.router(access, links))
    app.include_router(live.router(console))
    app.mount("/", StaticFiles(directory=STATIC, html=True), name="page")
    return app
