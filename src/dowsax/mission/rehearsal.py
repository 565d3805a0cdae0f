"""Rehearsals: simulated missions of a site, in a file next to the site file."""

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from dowsax.mission.advice import FOUND, read_status
from dowsax.version import versions

FORMAT = 2
_RATES = ("stopped", "false_stops", "covered", "cannot_tell", "found_nothing")


@dataclass(frozen=True)
class Rate:
    """A count of cases, and the 95 % interval of its share."""

    count: int
    of: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (0 <= self.count <= self.of and 0 <= self.low <= self.high <= 1):
            raise ValueError(f"`count` must be from 0 to `of`, and the interval within [0, 1]; got {self}.")

    @property
    def share(self) -> float | None:
        """`None` without any case."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> list[float] | None:
        """`None` without any case."""
        return [self.low, self.high] if self.of else None

    def words(self) -> str:
        """Return text such as "4 of 130: 3.1 % [1.2, 7.6]"."""
        return f"{self.count} of {self.of}{self.percent}"

    @property
    def percent(self) -> str:
        """The share and its interval as text; empty without any case."""
        if self.of == 0:
            return ""
        return f": {100 * self.count / self.of:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"


@dataclass(frozen=True)
class SimulatedMission:
    """The end of one simulated mission."""

    status: str
    """`found`, `inconclusive`, or `searching` where it was stopped early."""
    source: tuple[float, float] | None
    """[m], its position at the end; `None` where there was no source."""
    estimate: tuple[float, float] | None
    """[m]; `None` where no reading was accepted."""
    error: float | None
    """[m], between the two."""
    region: float | None
    """[m], the radius of the disc about the estimate that holds 95 %."""
    readings: int
    distance: float
    """[m], from the start."""
    time: float
    """[s], from the start."""

    @property
    def found(self) -> bool:
        return self.status == FOUND

    def wrong(self, radius: float) -> bool:
        """Whether it ended with a source found that was further off than this [m]."""
        return self.found and (self.error is None or self.error > radius)

    @property
    def covered(self) -> bool:
        """Whether the region holds the source."""
        return self.error is not None and self.region is not None and self.error <= self.region


@dataclass(frozen=True)
class Rehearsal:
    """Simulated missions of one site by one policy and one filter, with their rates."""

    site: str
    """The fingerprint of the site file."""
    name: str
    policy: str
    preset: str
    """The filter, as `filter_name` writes it."""
    version: str
    """Of dowsax."""
    seed: int
    speed: float
    """[m/s], between readings."""
    radius: float
    """[m], of the stop rule."""
    probability: float
    """Of the stop rule."""
    assumed: tuple[str, ...]
    """Assumptions beyond the site file, a sentence each."""
    stopped: Rate
    """Missions with a source that ended with `found`."""
    false_stops: Rate
    """Stops at which the source was further off than the radius."""
    covered: Rate
    """Missions with a source whose 95 % region held it at the end."""
    cannot_tell: Rate
    """Missions with a source that ended with `inconclusive`."""
    found_nothing: Rate
    """Missions without a source that ended with `found`."""
    missions: tuple[SimulatedMission, ...]
    searchers: int = 1

    @property
    def with_source(self) -> int:
        return self.stopped.of

    def sentence(self) -> str:
        """Say how often a stop was wrong."""
        wrong, number = self.false_stops, self.with_source
        sentence = f"in {number} rehearsal{'' if number == 1 else 's'} of this site, "
        if wrong.of == 0:
            sentence += "none stopped, so that it is not known how often a stop is wrong"
        else:
            were = "was" if wrong.count == 1 else "were"
            sentence += f"{wrong.count} of {wrong.of} stops {were} wrong{wrong.percent}"
        nothing = self.found_nothing
        if nothing.of == 0:
            return sentence
        return f"{sentence}; of {nothing.of} without a source {nothing.count} stopped"

    def survey_sentence(self) -> str:
        """Say how often the region held the source, for a survey, which reads elsewhere than a mission."""
        return (
            f"In {self.with_source} rehearsals of missions at this site, the 95 % region held the source in "
            f"{self.covered.count}{self.covered.percent}; a survey by other ways may do better or worse."
        )

    def numbers(self) -> dict[str, Any]:
        """Return the numbers for programs: rates with 95 % intervals, and medians of missions that found.

        `missions` are those with a source. Rates and medians are of these, but for `found_without_source`.
        """
        rates = {
            "found": self.stopped,
            "wrong_given_found": self.false_stops,
            "covered95": self.covered,
            "inconclusive": self.cannot_tell,
            "found_without_source": self.found_nothing,
        }
        stops = [one for one in self.missions if one.source is not None and one.found]
        medians = {
            f"{name}_median": median(getattr(one, name) for one in stops) if stops else None
            for name in ("readings", "distance", "time")
        }
        return {
            "policy": self.policy,
            "searchers": self.searchers,
            "missions": self.with_source,
            "missions_without_source": self.found_nothing.of,
            **{name: rate.share for name, rate in rates.items()},
            **{f"{name}_interval": rate.interval for name, rate in rates.items()},
            **medians,
        }

    def differences(self, text: str, preset: str, policy: str | None) -> tuple[str, ...]:
        """Name what differs from this site and filter; empty where nothing does. `None`: any policy."""
        here = {
            "site file": (self.site, fingerprint(text)),
            "policy": (self.policy, policy or self.policy),
            "filter": (self.preset, preset),
            "version of dowsax": (self.version, versions()["dowsax"]),
        }
        return tuple(name for name, (had, has) in here.items() if had != has)


def filter_name(preset: str, num_particles: int) -> str:
    """Return the name of a filter."""
    return f"{preset}, {num_particles} particles"


def find_rehearsal(
    file: str | None, text: str, preset: str, policy: str | None = None
) -> tuple[Rehearsal | None, str]:
    """Return the rehearsal next to a site file, if it is of this text, filter and policy (`None`: any).

    Otherwise return why it does not apply, as the end of a sentence; empty where there is no rehearsal.
    """
    path = None if file is None else rehearsal_path(file)
    if path is None or not path.is_file():
        return None, ""
    try:
        rehearsal = read_rehearsal(path)
    except ValueError:
        return None, f" ({path} holds no rehearsal that can be read)"
    other = rehearsal.differences(text, preset, policy)
    return (None, f" ({path} is of another {' and '.join(other)})") if other else (rehearsal, "")


def rehearsal_command(file: str, policy: str | None = None) -> str:
    """Return the command that rehearses a site file."""
    return shlex.join(["dowsax", "rehearse", file, *([] if policy is None else ["--policy", policy])])


def fingerprint(text: str) -> str:
    """Return a hash of a site file."""
    return hashlib.sha256(text.encode()).hexdigest()


def rehearsal_path(site: Path | str) -> Path:
    """Return the path of the rehearsal of a site file: `site.rehearsal.json` next to `site.toml`."""
    return Path(site).with_suffix(".rehearsal.json")


def rehearsal_text(rehearsal: Rehearsal) -> str:
    """Return the content of its file: one JSON object."""
    return json.dumps({"format": FORMAT, **asdict(rehearsal)}, allow_nan=False) + "\n"


def read_rehearsal(path: Path) -> Rehearsal:
    """Read a rehearsal; a ValueError in one line for any other file."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body.pop("format") != FORMAT:
            raise ValueError("another format")
        return _parse(body)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            f"{path} holds no rehearsal that this version of dowsax reads: rehearse the site again."
        ) from None


def _parse(body: dict[str, Any]) -> Rehearsal:
    body = {"searchers": 1} | body
    if body.keys() != {item.name for item in fields(Rehearsal)}:
        raise ValueError("other keys")
    parts: dict[str, Any] = {name: Rate(**body[name]) for name in _RATES}
    missions = tuple(map(_read_mission, body["missions"]))
    return Rehearsal(**(body | parts | {"assumed": tuple(body["assumed"]), "missions": missions}))


def _read_mission(row: dict[str, Any]) -> SimulatedMission:
    parts: dict[str, Any] = {name: _pair(row[name]) for name in ("source", "estimate")}
    parts["status"] = read_status(row["status"])
    return SimulatedMission(**(row | parts))


def _pair(place: list | None) -> tuple[float, float] | None:
    return None if place is None else (float(place[0]), float(place[1]))
