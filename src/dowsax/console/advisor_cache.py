"""Builds advisors: missions at equal sites share models, policies and compiled functions."""

import json
import threading
import tomllib
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path

from dowsax.console.records import SIMULATED, MissionRecord
from dowsax.console.sites import read_limited
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SitePolicy
from dowsax.mission.stop_statistics import describe_stops
from dowsax.site import Site, parse_site
from dowsax.world import benchmark_model

_CACHE_SIZE = 64
_IRRELEVANT_KEYS = ("name", "map", "start", "budget", "columns", "rows")
"""Keys of a site on which neither its model nor its policy depends."""


@dataclass
class _Shared:
    """What missions at equal sites share."""

    policy: SitePolicy
    compiled: int = -1
    """The generation of compiled functions in which everything was compiled."""


class AdvisorCache:
    """Thread-safe; one thread compiles at a time."""

    def __init__(self) -> None:
        self._shared: OrderedDict[tuple[str, bool, str | None], _Shared] = OrderedDict()
        self._lock = threading.Lock()
        self._compile_lock = threading.Lock()

    def plan_site(
        self, text: str, policy: str | None, simulated: bool = False
    ) -> tuple[Site, Plan, SitePolicy]:
        """Parse a site and build its plan and policy, or a ValueError in one line.

        A simulated mission always has the benchmark's own model.
        """
        site = read_limited(text)
        shared = self._get(site, policy, simulated)
        return site, Plan.of(site, shared.policy.model), shared.policy

    def build_advisor(self, record: MissionRecord, log: MissionLog, generation: int, file: Path) -> Advisor:
        """Build the advisor of a mission with all its readings, and compile everything.

        `file` is the site file, next to which there may be a rehearsal.
        """
        site = parse_site(record.site)
        shared = self._get(site, record.policy, record.type == SIMULATED)
        plan = Plan.of(site, shared.policy.model)
        if record.type != SIMULATED:
            plan = replace(plan, file=str(file))
        with self._compile_lock:
            if shared.compiled != generation:
                Advisor(plan, shared.policy, record.seed)
                shared.compiled = generation
        advisor = Advisor(plan, shared.policy, record.seed, log, warm_up=False)
        advisor.false_stops = describe_stops(advisor.plan, advisor.policy.name)
        return advisor

    def warm_up(self, advisor: Advisor) -> None:
        """Compile what an advisor needs again, after all compiled functions were dropped."""
        with self._compile_lock:
            advisor.warm_up()

    def _get(self, site: Site, policy: str | None, simulated: bool) -> _Shared:
        key = _key_of(site.text), simulated, policy
        with self._lock:
            if key not in self._shared:
                plan = Plan.of(site, benchmark_model(site.kind) if simulated else None)
                shared = _Shared(plan.site_policy(policy))
                # Also under the name of the chosen policy, which the record has.
                self._shared[key] = self._shared[(*key[:2], shared.policy.name)] = shared
            self._shared.move_to_end(key)
            while len(self._shared) > _CACHE_SIZE:
                self._shared.popitem(last=False)
            return self._shared[key]


def _key_of(text: str) -> str:
    """Return the part of a site file on which model and policy depend."""
    table = {name: part for name, part in tomllib.loads(text).items() if name not in _IRRELEVANT_KEYS}
    return json.dumps(table, sort_keys=True, default=str)
