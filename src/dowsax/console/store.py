"""The folder of missions: for each a log, a file of snapshots and, where it has one, its feed.

The log is the only file that matters: it has the record of the mission, its readings and its events. Lost
snapshots are built again from it.
"""

import fcntl
import hashlib
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from dowsax.console.pictures import Picture
from dowsax.console.records import REAL, Feed, MissionRecord, read_record
from dowsax.console.snapshots import SnapshotFile
from dowsax.files import replace_file, write_through
from dowsax.journal import LOCK_FILE, Journal, read, sync_folder
from dowsax.mission.log import Header, MissionLog

_LOG, _SNAPSHOTS, _FEED, _PICTURE, _DELETED = ".log", ".frames", ".feed", ".picture", ".deleted"
_ID = re.compile("[0-9a-f]{12}")
_FEED_KIND = "feed"


class Store:
    """An open folder of missions. Thread-safe; one program at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._lock_file = (folder / LOCK_FILE).open("w")
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / "console.db").exists():
                raise ValueError(
                    f"{folder} was written by an earlier version: give another folder, and convert the logs "
                    "that you need with `dowsax recover`."
                )
        except OSError:
            self._lock_file.close()
            raise ValueError(
                f"{folder} is in use by another console: end it, or give another folder."
            ) from None
        except ValueError:
            self._lock_file.close()
            raise
        self._snapshots: dict[str, SnapshotFile] = {}
        for mark in folder.glob(f"*{_DELETED}"):
            if _ID.fullmatch(mark.stem):
                self._remove_files(mark.stem, _site_in_mark(mark))

    def close(self) -> None:
        for snapshots in self._snapshots.values():
            snapshots.close()
        self._lock_file.close()

    def ids(self) -> list[str]:
        """Return the ids of all missions, also of those with damaged logs."""
        return sorted(path.stem for path in self.folder.glob(f"*{_LOG}") if _ID.fullmatch(path.stem))

    def log_path(self, mission: str) -> Path:
        """Return the path of the log of a mission."""
        return self.folder / f"{mission}{_LOG}"

    def picture_path(self, mission: str) -> Path:
        """Return the path of the picture behind the map of a mission."""
        return self.folder / f"{mission}{_PICTURE}"

    def snapshots(self, mission: str) -> SnapshotFile:
        """Return the snapshots of a mission."""
        path = self.folder / f"{mission}{_SNAPSHOTS}"
        return self._snapshots.setdefault(mission, SnapshotFile(path, mission))

    def site_path(self, record: MissionRecord) -> Path:
        """Return the path of the copy of the site file, for rehearsals; equal missions share one."""
        digest = hashlib.sha256(record.site.encode()).hexdigest()[:16]
        return self.folder / "sites" / f"{digest}-{record.policy}.toml"

    def write_site(self, record: MissionRecord) -> None:
        """Write the site file of a real mission, unless it exists or the disk is full."""
        path = self.site_path(record)
        if record.type != REAL or path.is_file():
            return
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            with replace_file(path) as partial:
                partial.write_text(record.site, encoding="utf-8", newline="\n")

    def add(self, record: MissionRecord, header: Header, picture: Picture | None = None) -> None:
        """Add a mission; it is on the disk when this returns."""
        try:
            if picture is not None:
                write_through(self.picture_path(record.id), picture.data)
            if record.feed is not None:
                self.write_feed(record.id, record.feed)
            MissionLog.create(self.log_path(record.id), header).close()
        except OSError:
            # A mission that was written in part must not appear at the next start.
            self._remove_files(record.id, "")
            raise

    def write_feed(self, mission: str, feed: Feed) -> None:
        """Write the feed of a mission; it is on the disk when this returns."""
        path = self.folder / f"{mission}{_FEED}"
        # It may hold a password.
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        Journal.create(path, _FEED_KIND, {"mission": mission} | feed.to_json()).close()

    def feed(self, mission: str) -> Feed | None:
        """Read the feed of a mission; `None` where it has none, a ValueError where the file is damaged."""
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

    def delete(self, mission: str, record: MissionRecord | None) -> None:
        """Delete a mission; nothing of it is on the disk when this returns.

        A program that is killed in between leaves the mission whole, or a mark by which the next start
        deletes it.
        """
        site = "" if record is None else self.site_path(record).name
        mark = self.folder / f"{mission}{_DELETED}"
        try:
            write_through(mark, site.encode())
            sync_folder(mark)
            self._remove_files(mission, site)
        except OSError:
            # The mission continues: the mark would delete it at the next start.
            if self.log_path(mission).exists():
                _remove(mark)
            raise

    def _remove_files(self, mission: str, site: str) -> None:
        """Remove the files of a mission, and its site file unless another mission uses it."""
        if mission in self._snapshots:
            self._snapshots.pop(mission).close()
        mark = self.folder / f"{mission}{_DELETED}"
        # The log first: without it there is no mission.
        _remove(self.log_path(mission))
        for path in self.folder.glob(f"{mission}.*"):
            if path != mark:
                _remove(path)
        # A damaged mark may name anything: only existing site files are removed.
        for file in (self.folder / "sites").glob("*.toml"):
            if file.name == site and site not in self._sites_in_use():
                _remove(file)
                _remove(file.with_suffix(".rehearsal.json"))
        _remove(mark)
        sync_folder(mark)

    def _sites_in_use(self) -> set[str]:
        """Return the names of the site files of all missions with readable logs."""
        names = set()
        for mission in self.ids():
            with suppress(ValueError, OSError):
                record = read_record(MissionLog.open(self.log_path(mission)).header, None, mission)
                names.add(self.site_path(record).name)
        return names


def _site_in_mark(mark: Path) -> str:
    """Read the name of the site file in the mark of a deleted mission; empty where it is unreadable."""
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
