"""The console without its network: missions begun, read, stepped, watched and exported, many at once."""

import asyncio
import gc
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowsax.console.beginnings import begin, require_own_topics
from dowsax.console.feed import listen
from dowsax.console.hosted import SEARCHING, Hosted, Over
from dowsax.console.hub import Hub
from dowsax.console.places import Places
from dowsax.console.recall import recall, require_whole
from dowsax.console.records import DAMAGED, PREPARING, Feed, unreadable
from dowsax.console.scheduler import Full, Scheduler
from dowsax.console.schemas import MissionBody
from dowsax.console.store import Store, record_in
from dowsax.console.workshop import Workshop
from dowsax.mission.log import MissionLog

MOST_MISSIONS = 1000
MOST_IN_MEMORY = 128
"""Missions whose advisors are kept; the others make theirs again when they need them."""
_MAPS = Path("/proc/self/maps")
_MOST_MAPS = 40_000
"""Of the 65,530 memory maps that Linux allows a process; every compiled function holds dozens of them."""


class Unknown(LookupError):
    """There is no such mission."""


class Console:
    """All missions of a folder. Its methods are for the thread of the event loop."""

    def __init__(
        self, folder: Path, workers: int | None = None, site: str | None = None, file: str | None = None
    ) -> None:
        """`site` is the text of a site file at which a mission is begun, and `file` where that file is."""
        self.store = Store(folder)
        # One more than there are cores, as each waits for the disk now and then.
        self.scheduler = Scheduler(quick=workers or 1 + max(2, os.cpu_count() or 2))
        self.hub = Hub()
        self.places = Places(self.store)
        self.workshop = Workshop()
        self.begun = time.monotonic()
        self._site, self._file = site, file
        self.missions: dict[str, Hosted] = {}
        self._generation = 0
        self._turn = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[tuple[str, str], asyncio.Task] = {}
        self._adding = asyncio.Lock()

    async def start(self) -> None:
        """List what there is; nothing of it runs yet but what listens to a feed."""
        self._loop = asyncio.get_running_loop()
        for hosted in sorted(map(self._recalled, self.store.ids()), key=lambda one: one.record.created):
            self.missions[hosted.id] = hosted
            if hosted.status == DAMAGED:
                continue
            self.store.keep_site(hosted.record)
            self._listen(hosted)
            if hosted.status == PREPARING:
                # It has no readings yet.
                self.prepare(hosted)
        if self._site not in (None, *(hosted.record.site for hosted in self.missions.values())):
            self._keep(("", "site"), self.create(MissionBody(type="real", site=self._site), self._file))

    def _recalled(self, id: str) -> Hosted:
        """A mission of an earlier time, as its log has it; damaged where that cannot be read."""
        path, record, why = self.store.log_path(id), None, ""
        try:
            feed = self.store.feed(id)
        except ValueError as error:
            feed, why = None, str(error)
        try:
            record = record_in(MissionLog.open(path).header, feed, id)
            recalled = recall(path, feed)
            require_whole(recalled, self.store.frames(id).numbers(), path)
        except (ValueError, OSError) as error:
            hosted = Hosted(record or unreadable(id, path), self.store, self.workshop, self._publish)
            hosted.damage(" ".join(str(error).split()))
            return hosted
        if self._site == record.site:
            record = replace(record, file=self._file)
        hosted = Hosted(record, self.store, self.workshop, self._publish, recalled)
        hosted.alarm = why
        return hosted

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await asyncio.to_thread(self.scheduler.close)
        for hosted in self.missions.values():
            hosted.release()
        self.store.close()

    def find(self, id: str) -> Hosted:
        """A mission of the list, also one that is damaged."""
        if id not in self.missions:
            raise Unknown("There is no such mission: see the list of missions.")
        return self.missions[id]

    def mission(self, id: str) -> Hosted:
        """A mission that can be worked with."""
        hosted = self.find(id)
        _require_usable(hosted)
        return hosted

    async def create(self, body: MissionBody, file: str | None = None) -> Hosted:
        """Begin a mission. It is kept when this returns, and gets ready by and by.

        `file` is the site file on this machine, where it is one of those who started the console.
        """
        if len(self.missions) >= MOST_MISSIONS:
            raise Full(f"There are {MOST_MISSIONS} missions: begin a console in another folder.")
        record, header = await asyncio.to_thread(begin, body, self.workshop, file)
        hosted = Hosted(record, self.store, self.workshop, self._publish)
        async with self._adding:
            if record.feed is not None:
                require_own_topics(record.feed, self._feeds())
            await asyncio.to_thread(self.store.add, record, header)
            await asyncio.to_thread(self.store.keep_site, record)
            self.missions[record.id] = hosted
        self._publish(hosted, "mission", None)
        self.prepare(hosted)
        self._listen(hosted)
        return hosted

    async def delete(self, hosted: Hosted) -> None:
        """End a mission and forget it: nothing of it is left when this returns. Once begun it is done."""
        hosted.gone = True
        self.missions.pop(hosted.id, None)
        await asyncio.shield(self._keep((hosted.id, "delete"), self._deleted(hosted)))

    async def _deleted(self, hosted: Hosted) -> None:
        hosted.running = False
        others = [self._tasks[key] for key in ((hosted.id, "run"), (hosted.id, "feed")) if key in self._tasks]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._publish(hosted, "mission", None)

        def forget() -> None:
            hosted.release()
            self.store.delete(hosted.id, None if hosted.status == DAMAGED else hosted.record)
            self.places.forget(hosted.id)

        try:
            # After what is under way; what waits is given up.
            await asyncio.wrap_future(self.scheduler.submit(hosted.id, forget, limited=False))
        except OSError:
            hosted.gone = False
            self.missions[hosted.id] = hosted
            self._listen(hosted)
            self._publish(hosted, "mission", None)
            raise

    def prepare(self, hosted: Hosted) -> None:
        """Get a mission ready, when its turn comes."""
        self.submit(hosted, hosted.do_prepare, limited=False)

    def submit(
        self, hosted: Hosted, work: Callable[[int], Any], limited: bool = True, is_long: bool = False
    ) -> Future:
        """Have something done for a mission on another thread; its future. Any thread may ask.

        `work` is given the generation of compiled functions.
        """
        self._turn += 1
        hosted.used = self._turn
        _require_usable(hosted)

        def waits() -> bool:
            return not hosted.gone and (is_long or bool(hosted.waits_for(self._generation)))

        def done() -> Any:
            _require_usable(hosted)
            was_long = waits()
            try:
                return work(self._generation)
            finally:
                hosted.settle()
                if was_long:
                    self._tidy()

        hosted.announce(self._generation)
        return self.scheduler.submit(hosted.id, done, waits, limited)

    async def do(
        self, hosted: Hosted, work: Callable[[int], Any], limited: bool = True, is_long: bool = False
    ) -> Any:
        """Have something done, and wait for it. What was begun is done to its end, whoever waits for it."""
        return await outlive(self.submit(hosted, work, limited, is_long))

    async def aside(self, lane: str, work: Callable[[], Any]) -> Any:
        """Have something long done that needs no advisor, while the mission goes on."""
        return await outlive(self.scheduler.submit(lane, work, lambda: True))

    async def step(self, hosted: Hosted) -> dict[str, Any]:
        return await self.do(hosted, hosted.do_step)

    def run(self, hosted: Hosted) -> None:
        """Let a simulated mission go on by itself."""
        if hosted.running:
            return
        if hosted.status not in (SEARCHING, PREPARING):
            raise Over(f"The search is over: {hosted.status}.")
        hosted.running = True
        hosted.changed()
        self._keep((hosted.id, "run"), self._running(hosted))

    def pause(self, hosted: Hosted) -> None:
        hosted.running = False
        hosted.changed()

    async def reveal(self, hosted: Hosted) -> dict[str, Any]:
        """The truth of a simulation that has ended."""
        if not hosted.is_simulated:
            raise Over("Only a simulated mission has a truth to reveal.")
        if hosted.status in (SEARCHING, PREPARING):
            raise Over("The search is going on: the truth is revealed when it has ended.")
        truth = await asyncio.to_thread(hosted.truth)
        if truth is None:
            raise Over("The mission was never made ready: there is no truth.")
        if not hosted.revealed:
            await asyncio.to_thread(hosted.reveal)
            hosted.changed()
        return truth

    async def _running(self, hosted: Hosted) -> None:
        try:
            while hosted.running:
                began = time.monotonic()
                if not await self._stepped(hosted):
                    break
                # A pause is not waited out.
                while hosted.running and (left := began + 1 / hosted.speed - time.monotonic()) > 0:
                    await asyncio.sleep(min(left, 0.25))
        finally:
            hosted.running = False
            hosted.changed()

    async def _stepped(self, hosted: Hosted) -> bool:
        """One step of a mission that runs; whether there may be another."""
        try:
            frame = await self.step(hosted)
        except Full:
            await asyncio.sleep(0.5)
            return True
        except (Over, ValueError, OSError) as error:
            hosted.note("paused", f"The simulation was paused: {error}")
            return False
        return frame["next"] is not None

    def _feeds(self) -> list[Feed]:
        """Those of all missions that have one."""
        records = (hosted.record for hosted in self.missions.values())
        return [record.feed for record in records if record.feed is not None]

    def _listen(self, hosted: Hosted) -> None:
        """Take the readings of its feed, where a mission has one."""
        if hosted.record.feed is not None:
            self._keep((hosted.id, "feed"), listen(self, hosted))

    def _keep(self, name: tuple[str, str], work) -> asyncio.Task:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[name] = task
        task.add_done_callback(lambda ended: self._ended(name, ended))
        return task

    def _ended(self, name: tuple[str, str], task: asyncio.Task) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if not task.cancelled() and task.exception() is not None:
            assert self._loop is not None
            self._loop.call_exception_handler({"message": f"{name} ended", "exception": task.exception()})

    def _publish(self, hosted: Hosted, what: str, event: dict[str, str] | None) -> None:
        """From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.hub.publish, hosted.id, what, event)

    def _tidy(self) -> None:
        """Keep memory and memory maps within bounds; on the thread of a piece of work that was long."""
        kept = sorted(
            (one for one in self.missions.copy().values() if one.in_memory), key=lambda one: one.used
        )
        for hosted in kept[: max(0, len(kept) - MOST_IN_MEMORY)]:
            if not self.scheduler.waiting(hosted.id):
                self.scheduler.submit(hosted.id, hosted.release, limited=False)
        if _MAPS.exists() and _MAPS.read_bytes().count(b"\n") > _MOST_MAPS:
            self.scheduler.alone(self._forget_compiled)

    def _forget_compiled(self) -> None:
        """Let all compiled functions go; those that are needed are read from the cache on the disk."""
        import jax

        jax.clear_caches()
        gc.collect()
        self._generation += 1


async def outlive(future: Future) -> Any:
    """Wait for work that is done to its end, whoever waits for it."""
    work = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_ended_unawaited)
        raise


def _ended_unawaited(work: asyncio.Future) -> None:
    """Report an error that nobody waits for any longer; a refusal, or a mission that is gone, is none."""
    error = None if work.cancelled() else work.exception()
    if error is not None and not isinstance(error, Unknown | Over | ValueError):
        work.get_loop().call_exception_handler({"message": "Work has failed", "exception": error})


def _require_usable(hosted: Hosted) -> None:
    if hosted.gone:
        raise Unknown("The mission was deleted.")
    if hosted.status == DAMAGED:
        raise Over(hosted.message)
