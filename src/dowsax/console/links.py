"""Links that the owner of a console gives to others: for the crew, and to read only.

Each has a token of its own, so that one can be revoked without the others. They are in a file that only its
owner can read, and outlive a restart.
"""

import hmac
import json
import os
import secrets
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from dowsax.files import replace_file
from dowsax.journal import sync_folder
from dowsax.mission.log import now

OWNER, OPERATOR, READER = "owner", "operator", "reader"
"""Roles: who may do all, who may not manage links, and who may only look."""
MAX_LINKS = 50
FILE = "links.json"
_FIRST = ((OPERATOR, "The crew"), (READER, "The office"))


@dataclass(frozen=True)
class Link:
    """The right to use the console in a role, for those who have its token."""

    id: str
    role: str
    name: str
    """For whom it is."""
    token: str
    created: str


class Links:
    """The links of a folder of missions. Thread-safe."""

    def __init__(self, path: Path) -> None:
        """A ValueError says what to do about a file that cannot be read."""
        self._path = path
        self._lock = threading.Lock()
        self._links = _read(path) if path.exists() else ()

    @property
    def all(self) -> tuple[Link, ...]:
        """In the order of their creation."""
        return self._links

    def find(self, token: str) -> Link | None:
        """Return the link with a token. The time it takes tells nothing about any token."""
        given = token.encode("utf-8", "replace")
        found = None
        for link in self._links:
            # Every link is compared, also after one is found.
            if hmac.compare_digest(given, link.token.encode()):
                found = link
        return found

    def create(self, role: str, name: str) -> Link:
        """Create a link; it is on the disk when this returns."""
        if role not in (OPERATOR, READER):
            raise ValueError(f"`role` must be {OPERATOR} or {READER}; got {role!r}.")
        with self._lock:
            if len(self._links) >= MAX_LINKS:
                raise ValueError(f"There are {MAX_LINKS} links: revoke one first.")
            link = Link(secrets.token_hex(6), role, name, secrets.token_urlsafe(24), now())
            self._store((*self._links, link))
            return link

    def create_first(self) -> None:
        """Create one link of each role, unless the folder has ever had any."""
        if not self._path.exists():
            for role, name in _FIRST:
                self.create(role, name)

    def revoke(self, id: str) -> bool:
        """Revoke a link at once; return whether there was one."""
        with self._lock:
            left = tuple(link for link in self._links if link.id != id)
            if len(left) == len(self._links):
                return False
            self._store(left)
            return True

    def _store(self, links: tuple[Link, ...]) -> None:
        """Write the file, then count what it says."""
        text = json.dumps([asdict(link) for link in links], indent=1)
        with replace_file(self._path) as partial:
            handle = os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        sync_folder(self._path)
        self._links = links


def _read(path: Path) -> tuple[Link, ...]:
    try:
        links = tuple(Link(**body) for body in json.loads(path.read_text(encoding="utf-8")))
        if all(link.role in (OPERATOR, READER) and len(link.token) >= 16 for link in links):
            return links
    except (OSError, ValueError, TypeError):
        pass
    raise ValueError(f"{path} cannot be read: remove it, which revokes all links, and create new ones.")
