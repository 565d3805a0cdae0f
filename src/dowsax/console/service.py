"""The console without its network: all missions of a folder."""

import asyncio
import gc
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowsax.console.advisor_cache import AdvisorCache
from dowsax.console.bodies import MissionBody
from dowsax.console.broadcast import Broadcaster
from dowsax.console.create_mission import create_record, require_own_topics
from dowsax.console.feed import listen
from dowsax.console.mission_host import Conflict, MissionHost
from dowsax.console.pictures import UploadedPictures
from dowsax.console.records import (
    DAMAGED,
    PREPARING,
    Feed,
    read_logged_mission,
    read_record,
    unreadable_record,
)
from dowsax.console.scheduler import QueueFull, Scheduler
from dowsax.console.shared_work import SharedWork
from dowsax.console.snapshots import SnapshotCache
from dowsax.console.store import Store
from dowsax.mission.advice import SEARCHING
from dowsax.mission.log import MissionLog

MAX_MISSIONS = 1000
MAX_IN_MEMORY = 128
"""Missions whose advisors stay in memory; the others are built again when they are needed."""
_MEMORY_MAPS = Path("/proc/self/maps")
_MAX_MEMORY_MAPS = 40_000
"""Of the 65,530 that Linux allows a process; every compiled function holds dozens of them."""


class NotFound(LookupError):
    """There is no such mission, or no such reading."""


class Console:
    """All missions of a folder. Its methods are for the thread of the event loop."""

    def __init__(
        self, folder: Path, workers: int | None = None, site: str | None = None, file: str | None = None
    ) -> None:
        """`site` is the text of a site file for which a mission is created, and `file` its path."""
        self.store = Store(folder)
        # One more than there are cores, as each waits for the disk now and then.
        self.scheduler = Scheduler(num_short=workers or 1 + max(2, os.cpu_count() or 2))
        self.broadcaster = Broadcaster()
        self.uploads = UploadedPictures(self.store.folder / "pictures")
        self.snapshot_cache = SnapshotCache(self.store.snapshots)
        self.advisor_cache = AdvisorCache()
        self._shared = SharedWork()
        self.started = time.monotonic()
        self._site, self._file = site, file
        self.missions: dict[str, MissionHost] = {}
        self._generation = 0
        self._requests = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[tuple[str, str], asyncio.Task] = {}
        self._create_lock = asyncio.Lock()

    async def start(self) -> None:
        """Load the missions of the folder; only feeds run at first."""
        self._loop = asyncio.get_running_loop()
        for host in sorted(map(self._load, self.store.ids()), key=lambda one: one.record.created):
            self.missions[host.id] = host
            if host.status == DAMAGED:
                continue
            self.store.write_site(host.record)
            self._listen(host)
            if host.status == PREPARING:
                # It has no readings yet.
                self.prepare(host)
        if self._site not in (None, *(host.record.site for host in self.missions.values())):
            self._start_task(("", "site"), self.create(MissionBody(type="real", site=self._site), self._file))

    def _load(self, id: str) -> MissionHost:
        """Load a mission from its log; it is damaged where that cannot be read."""
        path, record, alarm = self.store.log_path(id), None, ""
        try:
            feed = self.store.feed(id)
        except ValueError as error:
            feed, alarm = None, str(error)
        try:
            record = read_record(MissionLog.open(path).header, feed, id)
            logged = read_logged_mission(path, feed)
            logged.require_complete(self.store.snapshots(id).numbers(), path)
        except (ValueError, OSError) as error:
            record = record or unreadable_record(id, path)
            host = MissionHost(record, self.store, self.advisor_cache, self._publish)
            host.mark_damaged(" ".join(str(error).split()))
            return host
        if self._site == record.site:
            record = replace(record, file=self._file)
        host = MissionHost(record, self.store, self.advisor_cache, self._publish, logged)
        host.alarm = alarm
        return host

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await asyncio.to_thread(self.scheduler.close)
        for host in self.missions.values():
            host.release()
        self.store.close()

    def find(self, id: str) -> MissionHost:
        """Return a mission, also a damaged one."""
        if id not in self.missions:
            raise NotFound("There is no such mission: see the list of missions.")
        return self.missions[id]

    def mission(self, id: str) -> MissionHost:
        """Return a mission that is not damaged."""
        host = self.find(id)
        _require_usable(host)
        return host

    async def create(self, body: MissionBody, file: str | None = None) -> MissionHost:
        """Create a mission. It is on the disk when this returns, and is prepared after that.

        `file` is the path of its site file, where `dowsax serve --site` gave one.
        """
        if len(self.missions) >= MAX_MISSIONS:
            raise QueueFull(f"There are {MAX_MISSIONS} missions: start a console in another folder.")
        record, header, picture = await asyncio.to_thread(
            create_record, body, self.advisor_cache, file, self.uploads
        )
        host = MissionHost(record, self.store, self.advisor_cache, self._publish)
        async with self._create_lock:
            if record.feed is not None:
                require_own_topics(record.feed, self._feeds())
            await asyncio.to_thread(self.store.add, record, header, picture)
            await asyncio.to_thread(self.store.write_site, record)
            self.missions[record.id] = host
        host.publish_change()
        self.prepare(host)
        self._listen(host)
        return host

    async def delete(self, host: MissionHost) -> None:
        """Delete a mission; nothing of it is left when this returns. It cannot be cancelled."""
        host.is_deleted = True
        self.missions.pop(host.id, None)
        await asyncio.shield(self._start_task((host.id, "delete"), self._delete(host)))

    async def _delete(self, host: MissionHost) -> None:
        host.running = False
        others = [self._tasks[key] for key in ((host.id, "run"), (host.id, "feed")) if key in self._tasks]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        host.publish_change()

        def remove() -> None:
            host.release()
            self.store.delete(host.id, None if host.status == DAMAGED else host.record)
            self.snapshot_cache.forget(host.id)
            self._shared.forget(host.id)

        try:
            # After the running job; jobs that wait find the mission deleted.
            await asyncio.wrap_future(self.scheduler.submit(host.id, remove, limited=False))
        except OSError:
            host.is_deleted = False
            self.missions[host.id] = host
            self._listen(host)
            host.publish_change()
            raise

    def prepare(self, host: MissionHost) -> None:
        """Prepare a mission when its turn comes; once, however many ask for it meanwhile."""
        self._shared.get(
            host.id, "prepare", lambda: self.submit(host, host.do_prepare, limited=False, aside=True)
        )

    def submit(
        self,
        host: MissionHost,
        work: Callable[[int], Any],
        limited: bool = True,
        is_long: bool = False,
        aside: bool = False,
    ) -> Future:
        """Submit work for a mission to the scheduler; from any thread.

        `work` is called with the generation of compiled functions. It waits `aside` where it only looks.
        """
        self._requests += 1
        host.last_used = self._requests
        _require_usable(host)

        def takes_long() -> bool:
            return not host.is_deleted and (is_long or bool(host.waits_for(self._generation)))

        def run() -> Any:
            _require_usable(host)
            took_long = takes_long()
            try:
                return work(self._generation)
            finally:
                host.end_announcement()
                if took_long:
                    self._free_memory()

        host.announce(self._generation)
        return self.scheduler.submit(host.id, run, takes_long, limited, aside)

    async def do(self, host: MissionHost, work: Callable[[int], Any], limited: bool = True) -> Any:
        """Submit work and wait for it. Work that has started is finished, even if the caller is cancelled."""
        return await wait_for(self.submit(host, work, limited))

    async def look(
        self,
        host: MissionHost,
        name: str,
        work: Callable[[int], Any],
        is_long: bool = True,
        is_kept: bool = False,
    ) -> Any:
        """Return the result of work that only looks at a mission, done once for all who ask at once.

        A result that `is_kept` is not computed again for a while.
        """
        start = lambda: self.submit(host, work, is_long=is_long, aside=True)  # noqa: E731
        return await wait_for(self._shared.get(host.id, name, start, is_kept))

    async def do_aside(self, queue: str, work: Callable[[], Any], name: str | None = None) -> Any:
        """Do long work that needs no advisor, in a queue of its own; of a `name`, once for all who ask."""
        start = lambda: self.scheduler.submit(queue, work, lambda: True, aside=True)  # noqa: E731
        return await wait_for(start() if name is None else self._shared.get(queue, name, start))

    async def step(self, host: MissionHost) -> dict[str, Any]:
        return await self.do(host, host.do_step)

    def run(self, host: MissionHost) -> None:
        """Run a simulated mission."""
        if host.running:
            return
        if host.status not in (SEARCHING, PREPARING):
            raise Conflict(f"The search is over: {host.status}.")
        host.running = True
        host.publish_change()
        self._start_task((host.id, "run"), self._run(host))

    def pause(self, host: MissionHost) -> None:
        host.running = False
        host.publish_change()

    async def reveal(self, host: MissionHost) -> dict[str, Any]:
        """Return the truth of a simulation that has ended."""
        if not host.is_simulated:
            raise Conflict("Only a simulated mission has a truth to reveal.")
        if host.status in (SEARCHING, PREPARING):
            raise Conflict("The search is going on: the truth is revealed when it has ended.")
        truth = await asyncio.to_thread(host.truth)
        if truth is None:
            raise Conflict("The mission was never prepared: there is no truth.")
        if not host.is_revealed:
            await asyncio.to_thread(host.reveal)
            host.publish_change()
        return truth

    async def _run(self, host: MissionHost) -> None:
        try:
            while host.running:
                began = time.monotonic()
                if not await self._run_step(host):
                    break
                # In short sleeps, so that a pause takes effect at once.
                while host.running and (left := began + 1 / host.speed - time.monotonic()) > 0:
                    await asyncio.sleep(min(left, 0.25))
        finally:
            host.running = False
            host.publish_change()

    async def _run_step(self, host: MissionHost) -> bool:
        """Take one step of a running mission; return whether there may be another."""
        try:
            snapshot = await self.step(host)
        except QueueFull:
            await asyncio.sleep(0.5)
            return True
        except (Conflict, ValueError, OSError) as error:
            host.note("paused", f"The simulation was paused: {error}")
            return False
        return snapshot["status"] == SEARCHING

    def _feeds(self) -> list[Feed]:
        """Return the feeds of all missions."""
        records = (host.record for host in self.missions.values())
        return [record.feed for record in records if record.feed is not None]

    def _listen(self, host: MissionHost) -> None:
        """Start the feed of a mission, where it has one."""
        if host.record.feed is not None:
            self._start_task((host.id, "feed"), listen(self, host))

    def _start_task(self, name: tuple[str, str], work) -> asyncio.Task:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[name] = task
        task.add_done_callback(lambda ended: self._end_task(name, ended))
        return task

    def _end_task(self, name: tuple[str, str], task: asyncio.Task) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if not task.cancelled() and task.exception() is not None:
            assert self._loop is not None
            self._loop.call_exception_handler({"message": f"{name} ended", "exception": task.exception()})

    def _publish(self, host: MissionHost, what: str, event: dict[str, str] | None) -> None:
        """Publish a change; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.broadcaster.publish, host.id, what, event)

    def _free_memory(self) -> None:
        """Keep memory and memory maps within bounds; on the thread of a long job."""
        hosts = sorted(
            (one for one in self.missions.copy().values() if one.in_memory), key=lambda one: one.last_used
        )
        for host in hosts[: max(0, len(hosts) - MAX_IN_MEMORY)]:
            if not self.scheduler.num_waiting(host.id):
                self.scheduler.submit(host.id, host.release, limited=False)
        if _MEMORY_MAPS.exists() and _MEMORY_MAPS.read_bytes().count(b"\n") > _MAX_MEMORY_MAPS:
            self.scheduler.run_exclusively(self._clear_compiled)

    def _clear_compiled(self) -> None:
        """Drop all compiled functions; they are read again from the cache on the disk."""
        import jax

        jax.clear_caches()
        gc.collect()
        self._generation += 1


async def wait_for(future: Future) -> Any:
    """Wait for work that is finished even if the caller is cancelled."""
    work = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_report_error)
        raise


def _report_error(work: asyncio.Future) -> None:
    """Report an error of work that nobody waits for; a refusal or a deleted mission is no error."""
    error = None if work.cancelled() else work.exception()
    if error is not None and not isinstance(error, NotFound | Conflict | ValueError):
        work.get_loop().call_exception_handler({"message": "Work has failed", "exception": error})


def _require_usable(host: MissionHost) -> None:
    if host.is_deleted:
        raise NotFound("The mission was deleted.")
    if host.status == DAMAGED:
        raise Conflict(host.message)
