"""`dowsax serve`: the mission console in the browser."""

from pathlib import Path

from dowsax.cli.console import say
from dowsax.console.server import access_settings
from dowsax.console.server import serve as serve_console
from dowsax.site import read_site


def serve(
    *,
    site: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    missions: Path = Path("missions"),
    token: str | None = None,
) -> None:
    """Open the mission console: a page to watch and steer searches, and the API behind it.

    Parameters
    ----------
    site
        A site file: starts a real mission there, unless the folder has one at this site already.
    host
        The address to listen on. Any address but loopback needs a token, which is made and printed.
    port
        The port to listen on; 0 for any free one.
    missions
        The folder of missions; created if missing. After a restart all missions continue.
    token
        The token that clients must show, at least 16 characters (default: made at random).
    """
    access = access_settings(host, port, token)
    if site is None:
        serve_console(access, missions, say)
    else:
        serve_console(access, missions, say, read_site(site).text, site.absolute())
