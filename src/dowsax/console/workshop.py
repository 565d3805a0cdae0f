"""Where advisors are made: missions at equal sites share models, policies and all that is compiled."""

import json
import threading
import tomllib
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path

from dowsax.console.records import SIMULATED, Record
from dowsax.console.sites import read_limited
from dowsax.console.stops import said_again
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.mission.plan import Plan
from dowsax.mission.policy_adapter import Guide, guide_for
from dowsax.site import Site, parse_site
from dowsax.world import benchmark_model

_KEPT = 64
_OWN = ("name", "start", "budget", "columns", "rows")
"""What a site may say that neither its model nor its guide depends on."""


@dataclass
class _Bench:
    """What missions at equal sites share."""

    guide: "Guide"
    compiled: int = -1
    """The generation of compiled functions in which all an answer needs was compiled."""


class Workshop:
    """Any thread may ask; what has to be compiled is compiled by one at a time."""

    def __init__(self) -> None:
        self._benches: OrderedDict[tuple[str, bool, str | None], _Bench] = OrderedDict()
        self._lock = threading.Lock()
        self._compiling = threading.Lock()

    def planned(
        self, text: str, policy: str | None, simulated: bool = False
    ) -> tuple["Site", "Plan", "Guide"]:
        """A site as it is understood, or a ValueError in one line.

        A simulated mission has the benchmark's own model, whether its site says where sources lie or not.
        """
        site = read_limited(text)
        bench = self._bench(site, policy, simulated)
        return site, Plan.of(site, bench.guide.model), bench.guide

    def advisor(self, record: "Record", log: "MissionLog", generation: int, file: Path) -> "Advisor":
        """The advisor of a mission with all its readings taken in, and nothing left to compile.

        `file` is the site file, next to which a rehearsal may be.
        """
        site = parse_site(record.site)
        bench = self._bench(site, record.policy, record.type == SIMULATED)
        plan = Plan.of(site, bench.guide.model)
        if record.type != SIMULATED:
            plan = replace(plan, file=str(file))
        with self._compiling:
            if bench.compiled != generation:
                Advisor(plan, bench.guide, record.seed)
                bench.compiled = generation
        advisor = Advisor(plan, bench.guide, record.seed, log, warm_up=False)
        advisor.false_stops = said_again(advisor)
        return advisor

    def warm(self, advisor: "Advisor") -> None:
        """Compile once more what an advisor needs, after all that was compiled has been let go."""
        with self._compiling:
            advisor.warm_up()

    def _bench(self, site: "Site", policy: str | None, simulated: bool) -> _Bench:

        key = _essence(site.text), simulated, policy
        with self._lock:
            if key not in self._benches:
                plan = Plan.of(site, benchmark_model(site.kind) if simulated else None)
                bench = _Bench(guide_for(plan.model, plan.reach, policy))
                # Also by the name that a mission keeps.
                self._benches[key] = self._benches[(*key[:2], bench.guide.name)] = bench
            self._benches.move_to_end(key)
            while len(self._benches) > _KEPT:
                self._benches.popitem(last=False)
            return self._benches[key]


def _essence(text: str) -> str:
    """What a model and a guide depend on, the same for sites that differ in anything else."""
    table = {name: part for name, part in tomllib.loads(text).items() if name not in _OWN}
    return json.dumps(table, sort_keys=True, default=str)
