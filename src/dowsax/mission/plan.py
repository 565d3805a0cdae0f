"""The plan of a mission, built from a site: model, action space, budget and stop rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, islice
from typing import Any

from dowsax.geo.local import LocalCoordinates
from dowsax.inference import PRESETS, Preset
from dowsax.inference.excess_noise import UsualNoise, usual_noise
from dowsax.mission.named_paths import with_ends
from dowsax.mission.reach import Level, Reach, Steps
from dowsax.mission.rehearsal import filter_name
from dowsax.mission.site_policy import SitePolicy, build_site_policy
from dowsax.mission.stations import FAR_END, SEARCHER, Stations, default_altitude, required_measurements
from dowsax.mission.weak_sources import PriorStrength, prior_strength
from dowsax.policies import Policy
from dowsax.site.kinds import KINDS
from dowsax.site.obstacles import Obstacle
from dowsax.site.read_searchers import bounds_of, heights_of, sensor_height
from dowsax.site.schema import Budget
from dowsax.site.searcher import Searcher
from dowsax.site.site import Site, build_model, simulated_background
from dowsax.survey.lint import min_reading
from dowsax.survey.reading import Reading
from dowsax.survey.reading_json import from_object, unknown_keys
from dowsax.world import POSITION_COLUMNS, Jump, Model
from dowsax.world.distributions import Uniform
from dowsax.world.earlier import remembering
from dowsax.world.kinds import KnownOrDistribution
from dowsax.world.sensors.rank import Rank
from dowsax.world.sensors.swaying_wind import sways

_WIND_PARAMETERS = ("ux", "uy")
"""Parameters that change with the wind."""
_JUMP_HAZARD = 0.01
"""The probability of a change at each reading."""


@dataclass(frozen=True)
class SearcherPlan:
    """What one of several searchers has in place of what the site has."""

    start: tuple[float, float] | None
    """[m]"""
    reach: Reach
    budget: Budget
    height: float | None
    """[m], of its sensor above ground."""

    @classmethod
    def of(cls, searcher: Searcher, site: Site, reach: Reach) -> "SearcherPlan":
        """Return a searcher of a site; `reach` is what one without anything of its own can reach."""
        start = searcher.start or site.start
        own = {name: getattr(searcher, name) for name in ("distance", "readings", "time")}
        given = {name: number for name, number in own.items() if number is not None}
        bounds, home = bounds_of(searcher, site), start if site.budget.return_ else None
        speed, heights = searcher.speed or reach.speed, heights_of(searcher, site)
        levels = reach.levels
        if searcher.geofence is not None or heights != reach.heights:
            levels = tuple(Level(height, bounds_of(searcher, site, height)) for height in heights)
        # What is the same is one object, so that it is compiled once.
        is_same = bounds is reach.bounds and levels is reach.levels
        if not is_same or (speed, home) != (reach.speed, reach.home):
            reach = replace(reach, bounds=bounds, speed=speed, home=home, levels=levels)
        return cls(start, reach, site.budget.model_copy(update=given), sensor_height(searcher, site))


@dataclass(frozen=True)
class Plan:
    """A site as the advisor needs it."""

    name: str
    kind: str
    unit: str
    coordinates: LocalCoordinates
    model: Model
    preset_name: str
    preset: Preset
    jump: Jump | None
    stations: Stations
    reach: Reach
    start: tuple[float, float] | None
    """[m], from where the distance is counted."""
    middle: tuple[float, float]
    """[m], an allowed place near the middle of the area."""
    budget: Budget
    radius: float
    """[m], of the stop rule: the source is within this distance of the mean"""
    probability: float
    """with this probability."""
    accepts_outside: bool
    """Whether readings outside the area are accepted."""
    text: str
    """The site file, or the repr of the site where there is none."""
    file: str | None = None
    """The path of the site file; `None` where there is none, or the model is not its own."""
    min_reading: float | None = None
    """In the unit of the readings: smaller values are refused. `None` where the background is not known."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Meanings of keys and columns, from `[columns]` of the site."""
    reading: str = "value"
    """What a reading is: a value, a hit or none ("binary"), or a place in their order ("rank")."""
    simulated: Mapping[str, KnownOrDistribution] = field(default_factory=dict)
    """What simulated missions have for quantities that real ones measure with each reading."""
    obstacles: tuple[Obstacle, ...] = ()
    """Of the site."""
    searchers: Mapping[str, SearcherPlan] = field(default_factory=dict)
    """Several searchers that share one belief, by name; empty where there is one without a name."""

    @cached_property
    def usual_noise(self) -> tuple[UsualNoise, ...]:
        """The inferred noise parameters, and what is usual of them."""
        return usual_noise(self.model.prior)

    @cached_property
    def strength(self) -> PriorStrength | None:
        """The strength of the source, where it is unknown and readings tell more than its order."""
        return prior_strength(self.model.prior) if self.reading == "value" else None

    @classmethod
    def of(cls, site: Site, model: Model | None = None) -> "Plan":
        """Build the plan of a site; `model` replaces the site's own."""
        file = site.file if site.text and model is None else None
        model = build_model(site) if model is None else model
        if model.position_columns != POSITION_COLUMNS:
            raise ValueError(
                "A mission at a site needs a model whose first two parameters are the position; other models "
                "are searched with `SearchProblem`."
            )
        search = site.search
        preset = _limit_work(_search_preset(site), model)
        points = site.step.points
        places = () if points is None else tuple((float(x), float(y)) for x, y in points)
        steps = None if places or site.paths else Steps(float(site.step_length), site.step.directions)
        usual_height = default_altitude(model) if site.sensor.height is None else site.sensor.height
        paths = tuple(
            path if path.height is not None else replace(path, height=usual_height) for path in site.paths
        )
        reach = Reach(
            site.bounds,
            site.area,
            steps,
            places,
            paths,
            site.step.speed,
            site.reading_time,
            site.step.shortest,
            site.step.longest,
            site.step.reading_interval,
            home=site.start if site.budget.return_ else None,
            sees_walls=site.sensor.range_directions is not None,
            levels=tuple(Level(height, site.bounds_at(height)) for height in site.heights),
        )
        measured = required_measurements(model)
        if "altitude" not in measured and (site.heights or any(one.heights for one in site.searchers)):
            raise ValueError(
                "The field of the model is the same at every height: leave `heights` out of [step] and "
                "[[searcher]]."
            )
        return cls(
            name=site.name,
            kind=site.kind,
            unit=site.unit,
            coordinates=site.coordinates,
            model=model,
            preset_name=site.preset,
            preset=preset,
            jump=_jump(model, site.preset, preset) if search.may_jump else None,
            stations=Stations(
                (
                    *measured,
                    *([FAR_END] if site.paths else []),
                    *([SEARCHER] if site.searchers else []),
                ),
                site.sensor,
                site.sensors,
                site.wind.missing == "interpolate",
                default_altitude(model),
                site.step.reading_interval,
                paths,
                tuple(one.name for one in site.searchers),
            ),
            reach=reach,
            start=site.start,
            middle=site.middle,
            budget=site.budget,
            radius=float(site.found_radius),
            probability=search.probability,
            accepts_outside=site.outside == "allow",
            text=site.text or repr(site),
            file=file,
            min_reading=min_reading(site),
            columns=site.columns,
            reading=site.sensor.reading,
            simulated={"background": simulated_background(site), "heading": Uniform(0.0, 360.0)},
            obstacles=site.obstacles,
            searchers={one.name: SearcherPlan.of(one, site, reach) for one in site.searchers},
        )

    def with_searchers(self, number: int) -> "Plan":
        """Return the plan of the first searchers of the site, or of more that have nothing of their own."""
        known = tuple(self.searchers)[:number]
        free = (str(index) for index in count(len(known) + 1) if str(index) not in self.searchers)
        names = (*known, *islice(free, number - len(known)))
        usual = SearcherPlan(self.start, self.reach, self.budget, self.stations.sensor.height)
        searchers = {name: self.searchers.get(name, usual) for name in names}
        if number == 1:
            alone = replace(self.stations, names=tuple(n for n in self.stations.names if n != SEARCHER))
            return replace(self, stations=alone, searchers={})._with_own(searchers[names[0]])
        measured = dict.fromkeys((*self.stations.names, SEARCHER))
        stations = replace(self.stations, names=tuple(measured), searchers=names)
        return replace(self, searchers=searchers, stations=stations)

    def with_speed(self, speed: float) -> "Plan":
        """Return the plan with this speed [m/s] between readings, for all searchers."""
        reach = replace(self.reach, speed=speed)
        searchers = {
            name: replace(one, reach=reach if one.reach is self.reach else replace(one.reach, speed=speed))
            for name, one in self.searchers.items()
        }
        return replace(self, reach=reach, searchers=searchers)

    def for_searcher(self, name: str | None) -> "Plan":
        """Return the plan of one of several searchers, or of the one without a name."""
        if name is None:
            return self
        return self._with_own(self.searchers[name])

    def _with_own(self, own: SearcherPlan) -> "Plan":
        sensor = self.stations.sensor.model_copy(update={"height": own.height})
        stations = replace(self.stations, sensor=sensor)
        return replace(self, start=own.start, reach=own.reach, budget=own.budget, stations=stations)

    @property
    def filter_name(self) -> str:
        """The preset and its number of particles, as text."""
        return filter_name(self.preset_name, self.preset.config.num_particles)

    def site_policy(self, policy: str | Policy | None = None) -> SitePolicy:
        """Return a policy of this site, by its name or as it is (default: the best one)."""
        return build_site_policy(self.model, self.reach, policy, self.radius)

    def parse_reading(self, body: dict[str, Any]) -> Reading:
        """Parse a reading from keys and values, or `Refused`."""
        dwell, area = self.stations.usual_dwell(moving=body.get("moving") is True), self.reach.area
        used = {"columns": self.columns, "quantities": self.stations.quantities}
        reading = from_object(self.with_ends(body), self.coordinates, self.unit, dwell, area=area, **used)
        reading = reading if self.searchers else replace(reading, searcher=None)
        return replace(reading, ranges=None) if self.stations.sensor.range_directions is None else reading

    def with_ends(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the keys of a reading with the ends of the listed path that it names, or `Refused`."""
        return with_ends(body, self.reach.paths, self.columns, self.stations.sensor.ground)

    def unused_keys(self, keys: dict[str, Any]) -> tuple[str, ...]:
        """Return the keys of a parsed reading that have no meaning here."""
        unused = unknown_keys(self.with_ends(keys), self.columns, self.stations.quantities)
        others = {SEARCHER: bool(self.searchers), "ranges": self.stations.sensor.range_directions is not None}
        return *unused, *(
            key for key in keys if not others.get(key.strip().lower(), True) and keys[key] is not None
        )

    def with_particles(self, num_particles: int) -> "Plan":
        return replace(self, preset=self.preset.with_particles(num_particles))


def search_filter_name(site: Site) -> str:
    """Return the name of the filter of missions at a site, as its rehearsals have it."""
    return filter_name(site.preset, _search_preset(site).config.num_particles)


def _search_preset(site: Site) -> Preset:
    """Return the preset with the particles of the site, then of its kind, then its own."""
    preset = PRESETS[site.preset]
    particles = site.search.particles or KINDS[site.kind].search_particles
    return preset if particles is None else preset.with_particles(particles)


def _limit_work(preset: Preset, model: Model) -> Preset:
    """Limit the work per reading where likelihoods are slow: an answer should take at most a second.

    Half of the moves, which bound the work with few readings, as the reversed wind is tracked, too.
    `python -m benchmarks.answers` measures it.
    """
    config = preset.config
    is_slow = sways(model.sensor) or isinstance(remembering(model.sensor), Rank)
    if config.max_terms is None or not is_slow:
        return preset
    return replace(preset, config=replace(config, max_moves=max(config.num_moves, config.max_moves // 2)))


def _jump(model: Model, preset_name: str, preset: Preset) -> Jump:
    """Return a jump that draws the position again, and the wind where it is inferred."""
    if not preset.follows_jumps:
        raise ValueError(
            f"The preset {preset_name!r} does not follow changes: choose another, or set may_jump = false."
        )
    winds = [
        column
        for column, parameter in enumerate(model.prior.parameters)
        if parameter.name in _WIND_PARAMETERS
    ]
    return Jump(hazard=_JUMP_HAZARD, columns=(0, 1, *winds))
