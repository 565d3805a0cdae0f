"""`dowsax serve`: the mission console in the browser."""

from pathlib import Path

from dowsax.cli.console import say
from dowsax.console.serve import door_of
from dowsax.console.serve import serve as serve_console
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
        A site file: a real mission is begun there, unless the folder has one at this site already.
    host
        The address to listen on. Any other than loopback needs a token, which is made and printed.
    port
        0 for any that is free.
    missions
        The folder in which missions are kept; made where there is none. After a restart all go on.
    token
        What clients must show, at least 16 characters, instead of one that is made.
    """
    text = None
    if site is not None:
        text = read_site(site).text
    serve_console(door_of(host, port, token), missions, say, text, None if site is None else site.absolute())
