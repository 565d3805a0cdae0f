"""Search problems of a user's own: one in a Python file, or the one that a site file describes."""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from dowsax.envs import SearchProblem
from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem
from dowsax.mission.site_policy import oracle_policy
from dowsax.policies import Oracle, Policy, policy_named
from dowsax.policies.catalogue import ORACLE
from dowsax.site import read_site

_MODULE_PREFIX = "dowsax_problem_"
SITE_SUFFIX = ".toml"


@runtime_checkable
class ProblemSource(Protocol):
    """Where a search problem comes from."""

    @property
    def name(self) -> str:
        """A short name, which can be part of the name of a file."""
        ...

    @property
    def text(self) -> str:
        """The text of the file."""
        ...

    def build(self, policy: str | None = None) -> tuple[SearchProblem, Policy | Oracle | None]:
        """Return the problem, and the policy of this name; `None` without a name."""
        ...


@dataclass(frozen=True)
class ProblemFile:
    """A Python file, and the name in it of a `SearchProblem` or of a function that returns one."""

    path: Path
    attribute: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.path.stem}-{self.attribute}"

    def build(self, policy: str | None = None) -> tuple[SearchProblem, Policy | Oracle | None]:
        """Return the problem and the policy, which chooses among the candidates of the problem."""
        problem = _problem_in(self)
        if policy is None:
            return problem, None
        return problem, policy_named(policy)(problem.model, problem.actions, float(problem.success_radius))


@dataclass(frozen=True)
class SiteFile:
    """A site file. The policy decides whether candidates are the steps of the site or places near and far."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.stem

    def build(self, policy: str | None = None) -> tuple[SearchProblem, Policy | Oracle | None]:
        """Return the problem of the site and the policy, as rehearsals have them."""
        plan = _plan(self)
        is_oracle = policy == ORACLE
        chosen = oracle_policy(plan.model, plan.reach, plan.radius) if is_oracle else plan.site_policy(policy)
        # The filter without a source only decides whether there is one.
        problem = replace(build_problem(plan, chosen), null=None)
        return problem, None if policy is None else chosen.policy


def open_problem(reference: str) -> ProblemSource:
    """Return the source of a problem: `file.py:name`, or the path of a site file that ends in .toml."""
    if reference.endswith(SITE_SUFFIX):
        path = Path(reference)
        return SiteFile(path, _read(path))
    file, colon, attribute = reference.rpartition(":")
    if not colon or not file.endswith(".py") or not attribute.isidentifier():
        raise ValueError(
            f"A problem is a Python file and a name in it, as in problems.py:leak; got {reference!r}."
        )
    return ProblemFile(Path(file), attribute, _read(Path(file)))


def own_problem(field: Sequence[str] | None, problem: str | None, site: Path | None) -> str | None:
    """Return the reference of the problem that options name; `None` where they name fields or nothing."""
    if [field, problem, site].count(None) < 2:
        raise ValueError("Give only one of fields, --problem file.py:name and --site site.toml.")
    if site is not None and site.suffix != SITE_SUFFIX:
        raise ValueError(f"A site file ends in {SITE_SUFFIX}; got {site}.")
    return problem if site is None else str(site)


def digest_of(source: ProblemSource) -> str:
    """Return sixteen letters that differ between problems whose file or name differs."""
    return hashlib.sha256(f"{source.name}\n{source.text}".encode()).hexdigest()[:16]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8.") from None


@lru_cache(maxsize=8)
def _plan(source: SiteFile) -> Plan:
    return Plan.of(read_site(source.path))


@lru_cache(maxsize=8)
def _problem_in(source: ProblemFile) -> SearchProblem:
    """Run the file, and return the problem of this name."""
    path, name = source.path, source.attribute
    module = _run_file(path)
    if not hasattr(module, name):
        known = [word for word, held in vars(module).items() if isinstance(held, SearchProblem)]
        hint = f"; its problems are {', '.join(known)}" if known else ""
        raise ValueError(f"{path} has no {name!r}{hint}.")
    found = getattr(module, name)
    if not isinstance(found, SearchProblem) and callable(found):
        found = _explained(path, found)
    if not isinstance(found, SearchProblem):
        raise ValueError(
            f"{name!r} in {path} must be a dowsax.envs.SearchProblem, or a function without arguments that "
            f"returns one; got {type(found).__name__}."
        )
    return found


def _run_file(path: Path) -> ModuleType:
    """Run a Python file as a module. What lies next to it can be imported."""
    spec = importlib.util.spec_from_file_location(f"{_MODULE_PREFIX}{path.stem}", path)
    assert spec is not None
    loader = spec.loader
    assert loader is not None
    module = importlib.util.module_from_spec(spec)
    # Under its name, as classes look up the module that they are in.
    sys.modules[spec.name] = module
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)
    try:
        _explained(path, lambda: loader.exec_module(module))
    finally:
        sys.path.remove(folder)
    return module


def _explained(path: Path, call: Callable[[], Any]) -> Any:
    """Call a function of a user's file; an exception becomes a ValueError that names the line."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).resolve() == path.resolve()
        ]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        where = f"{path}, line {line}" if line is not None else str(path)
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"{where}: {type(error).__name__}: {said}".rstrip(": ")) from error
