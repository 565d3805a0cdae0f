"""The console as a web application: its addresses, its page, and the guard before both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from dowsax import __version__
from dowsax.console import live, routes
from dowsax.console.errors import add_handlers
from dowsax.console.guard import Door, Guard
from dowsax.console.service import Console

STATIC = Path(__file__).parent / "static"


def build(console: Console, door: Door) -> FastAPI:
    """The application for the missions of a console."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await console.start()
        yield
        await console.stop()

    app = FastAPI(
        title="dowsax console",
        version=__version__,
        description="Searches for a hidden source: begun, watched, steered and exported.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        middleware=[Middleware(Guard, door=door)],
    )
    app.state.console = console
    add_handlers(app)
    app.include_router(routes.router(console))
    app.include_router(live.router(console))
    app.mount("/", StaticFiles(directory=STATIC, html=True), name="page")
    return app
