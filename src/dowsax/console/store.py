"""What the console keeps of each mission: a log, a file of frames and, where it has one, its feed.

The log is all that counts: it has what the mission was begun with, its readings and what happened to it.
Frames are made again from it where they are lost.
"""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from dowsax.console.frame_file import FrameFile
from dowsax.console.records import REAL, Feed, Record
from dowsax.files import replace_file, write_through
from dowsax.journal import HELD, Journal, read, sync_folder
from dowsax.mission.log import Header, MissionLog

_LOG, _FRAMES, _FEED, _DELETED = ".log", ".frames", ".feed", ".deleted"
_ID = re.compile("[0-9a-f]{12}")
_FEED_KIND = "feed"


class Store:
    """An open folder of missions. Any thread may use it; one program at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._held = (folder / HELD).open("w")
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / "console.db").exists():
                raise ValueError(
                    f"{folder} was written by an earlier version: give another folder, and convert the logs "
                    "that you need with `dowsax recover`."
                )
        except OSError:
            self._held.close()
            raise ValueError(
                f"{folder} is in use by another console: end it, or give another folder."
            ) from None
        except ValueError:
            self._held.close()
            raise
        self._frames: dict[str, FrameFile] = {}
        for mark in folder.glob(f"*{_DELETED}"):
            if _ID.fullmatch(mark.stem):
                self._remove_files(mark.stem, _named_site(mark))

    def close(self) -> None:
        for frames in self._frames.values():
            frames.close()
        self._held.close()

    def ids(self) -> list[str]:
        """The missions of the folder, whether their logs can be read or not."""
        return sorted(path.stem for path in self.folder.glob(f"*{_LOG}") if _ID.fullmatch(path.stem))

    def log_path(self, mission: str) -> Path:
        """Where the log of a mission is."""
        return self.folder / f"{mission}{_LOG}"

    def frames(self, mission: str) -> FrameFile:
        """The frames of a mission."""
        return self._frames.setdefault(mission, FrameFile(self.folder / f"{mission}{_FRAMES}", mission))

    def site_path(self, record: Record) -> Path:
        """Where the site file of a mission is, for those who rehearse it; missions of a kind share one."""
        digest = hashlib.sha256(record.site.encode()).hexdigest()[:16]
        return self.folder / "sites" / f"{digest}-{record.policy}.toml"

    def keep_site(self, record: Record) -> None:
        """Write the site file of a real mission, unless it is there or the disk does not take it."""
        path = self.site_path(record)
        if record.type != REAL or path.is_file():
            return
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            with replace_file(path) as partial:
                partial.write_text(record.site, encoding="utf-8", newline="\n")

    def add(self, record: Record, header: Header) -> None:
        """Keep a new mission; on the disk when this returns. Its log holds the header and the record."""
        try:
            if record.feed is not None:
                self.keep_feed(record.id, record.feed)
            MissionLog.create(self.log_path(record.id), header).close()
        except OSError:
            # What could not be kept as a whole must not be a mission after the next start.
            self._remove_files(record.id, "")
            raise

    def keep_feed(self, mission: str, feed: Feed) -> None:
        """Keep where the readings of a mission come from; on the disk when this returns."""
        path = self.folder / f"{mission}{_FEED}"
        # It may hold a password.
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        Journal.create(path, _FEED_KIND, {"mission": mission} | feed.to_json()).close()

    def feed(self, mission: str) -> Feed | None:
        """Where the readings of a mission come from; a ValueError where that cannot be read any more."""
        path = self.folder / f"{mission}{_FEED}"
        if not path.exists():
            return None
        try:
            (entry,) = read(path)
            body = entry.body
            if body.pop("mission") == mission:
                return Feed(**body)
        except (ValueError, TypeError, KeyError, OSError):
            pass
        raise ValueError(
            f"The address of the feed cannot be read, as {path} is damaged: begin a mission with it again."
        )

    def delete(self, mission: str, record: Record | None) -> None:
        """Forget a mission; nothing of it is on the disk when this returns.

        Ended in the middle, it is either there as it was, or gone when the folder is opened again.
        """
        site = "" if record is None else self.site_path(record).name
        mark = self.folder / f"{mission}{_DELETED}"
        try:
            write_through(mark, site.encode())
            sync_folder(mark)
            self._remove_files(mission, site)
        except OSError:
            # The mission goes on: a mark would have it removed at the next start, with all its readings.
            if self.log_path(mission).exists():
                _remove(mark)
            raise

    def _remove_files(self, mission: str, site: str) -> None:
        """What is kept of a mission, and its site file unless another mission has the same."""
        if mission in self._frames:
            self._frames.pop(mission).close()
        mark = self.folder / f"{mission}{_DELETED}"
        # Before all else, as without it there is no mission.
        _remove(self.log_path(mission))
        for path in self.folder.glob(f"{mission}.*"):
            if path != mark:
                _remove(path)
        # A mark that is damaged may name anything: only what is there is removed.
        for file in (self.folder / "sites").glob("*.toml"):
            if file.name == site and site not in self._sites_in_use():
                _remove(file)
                _remove(file.with_suffix(".rehearsal.json"))
        _remove(mark)
        sync_folder(mark)

    def _sites_in_use(self) -> set[str]:
        """The names of the site files of all missions whose logs can be read."""
        return {self.site_path(record).name for record in self._readable_records()}

    def _readable_records(self) -> Iterator[Record]:
        for mission in self.ids():
            with suppress(ValueError, OSError):
                yield record_in(MissionLog.open(self.log_path(mission)).header, None, mission)


def header_of(record: Record, preset: str, versions: dict[str, str]) -> Header:
    """What the log of a mission begins with."""
    about: dict[str, Any] = {"mission": record.to_json()}
    return Header(record.site, record.seed, record.policy, preset, versions, about)


def record_in(header: Header, feed: Feed | None, mission: str) -> Record:
    """The mission that a log was begun for, or a ValueError where that is not the one of this id."""
    body = header.about.get("mission")
    if body is None:
        raise ValueError("The log is not that of a mission of a console: it has no name.")
    if body["id"] != mission:
        raise ValueError(
            f"The log of mission {mission} is that of {body['id']}: put its own in its place, or delete it."
        )
    return Record.from_json(body, header, feed)


def _named_site(mark: Path) -> str:
    """The name of the site file in a mark that a mission is deleted; none where it cannot be read."""
    try:
        return mark.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _remove(path: Path) -> None:
    """Remove a file, or a folder that is in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
