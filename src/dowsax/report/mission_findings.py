"""The findings of a mission, with the belief of its advisor."""

import jax
import numpy as np

from dowsax.inference import Posterior
from dowsax.inference.posterior import Trace
from dowsax.inference.sources import publish
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.decision import time_order
from dowsax.mission.seen_walls import seen_walls
from dowsax.report.findings import TRACK_COLOURS, Findings, Rule, Track, prior_interval, regions_of
from dowsax.site.obstacles import Obstacle
from dowsax.site.site import Site
from dowsax.survey.reading import Reading
from dowsax.survey.repeats import is_track


def findings_of(advisor: Advisor, site: Site, policy: str) -> Findings:
    """Return what a mission by this policy has found so far; its waypoint is the next place to read at."""
    plan, readings, advice = advisor.plan, advisor.readings, advisor.latest
    if advice is None:
        raise ValueError("The mission has no readings yet: there is nothing to export.")
    posterior, team = posterior_of(advisor), tracks_of(advisor)
    next_position, far_end = advice.next_position, advice.next_far_end
    check = advisor.state.reversed_wind.check
    area = (np.array(site.low), np.array(site.high))
    names = ("time", "altitude", "wind", "dwell")
    time, altitude, wind, dwell = (_column(readings, name) for name in names)
    return Findings(
        name=plan.name,
        posterior=posterior,
        regions=regions_of(posterior, (np.array(site.source_area[0]), np.array(site.source_area[1]))),
        positions=np.array([reading.position for reading in readings]),
        far_ends=_far_ends(readings),
        values=np.array([reading.value for reading in readings]),
        unit=plan.unit,
        kind=plan.kind,
        coordinates=plan.coordinates,
        area=area,
        geofence=site.geofence,
        no_go=site.no_go,
        obstacles=(*site.obstacles, *(Obstacle(wall, "seen wall") for wall in seen_walls(plan, readings))),
        time=time,
        altitude=altitude if "altitude" in plan.stations.names else None,
        wind=wind if "wind" in plan.stations.names else None,
        dwell=dwell if "dwell" in plan.stations.names else None,
        has_track=is_track(
            np.array([reading.position for reading in readings if reading.far_end is None]),
            len({reading.sensor for reading in readings}),
        ),
        evidence=advice.evidence,
        rule=Rule(plan.radius, plan.probability),
        prior_interval=prior_interval(plan.model, posterior),
        waypoints=_waypoints(advice, team),
        next_way=np.reshape(() if team else advice.next_way, (-1, 2)),
        next_height=None if team else advice.next_height,
        later=() if team else advice.ahead[1:],
        team=team,
        next_path=None if next_position is None or far_end is None else np.array([next_position, far_end]),
        caution=" ".join(
            filter(None, [check.message if check.is_reversed else "", posterior.describe_excess_noise()])
        ),
        outcome=advice.status,
        flight=site.flight,
        notes=(advice.why,),
        settings={
            "field": plan.kind,
            "unit": plan.unit,
            "preset": plan.preset_name,
            "particles": plan.preset.config.num_particles,
            "policy": policy,
            "found within [m]": plan.radius,
        },
        seed=advisor.seed,
    )


def tracks_of(advisor: Advisor) -> tuple[Track, ...]:
    """Return the way of each of several searchers that have read, and where it was sent last."""
    owners = {reading.searcher for reading in advisor.readings}
    names = [name for name in advisor.plan.searchers if name in owners]
    return tuple(_track_of(advisor, name, list(advisor.plan.searchers).index(name)) for name in names)


def _track_of(advisor: Advisor, name: str, number: int) -> Track:
    readings, advice = advisor.readings, advisor.assigned.get(name)
    order = [at for at in time_order(readings) if readings[at].searcher == name]
    places = np.array([readings[at].position for at in order])
    return Track(
        name,
        places,
        places[-1:],
        waypoints=_places_ahead(advice),
        next_way=np.reshape(() if advice is None else advice.next_way, (-1, 2)),
        numbers=np.array(order),
        colour=TRACK_COLOURS[number % len(TRACK_COLOURS)],
        geofence=advisor.plan.for_searcher(name).reach.bounds.geofence,
        next_height=None if advice is None else advice.next_height,
        later=() if advice is None else advice.ahead[1:],
    )


def _waypoints(advice: Advice, team: tuple[Track, ...]) -> np.ndarray:
    """Return where to read next (m, 2) [m], of all searchers; nobody goes to a path."""
    if team:
        return np.concatenate([track.waypoints for track in team])
    return np.zeros((0, 2)) if advice.next_far_end else _places_ahead(advice)


def _places_ahead(advice: Advice | None) -> np.ndarray:
    """Return where to read next (m, 2) [m], in turn; none where nothing is left to read."""
    if advice is None or advice.next_position is None:
        return np.zeros((0, 2))
    return np.array([advice.next_position, *(leg.position for leg in advice.ahead[1:])])


def posterior_of(advisor: Advisor) -> Posterior:
    """Return the reported belief as a posterior, with its trace over the readings."""
    belief, readings = advisor.reported_belief, advisor.readings
    digests = [advisor.state.digest(number) for number in range(1, len(readings) + 1)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *digests)
    weights = np.exp(np.asarray(belief.log_weights, np.float64))
    posterior = Posterior(
        parameters=advisor.plan.model.prior.parameters,
        samples=np.asarray(belief.particles, np.float64),
        weights=weights / weights.sum(),
        places=np.mean([(reading.position, reading.far_end or reading.position) for reading in readings], 1),
        readings=np.array([reading.value for reading in readings]),
        log_evidence=np.asarray(belief.log_evidence, np.float64),
        fit=np.asarray(digests[-1].fit, np.float64),
        trace=Trace(
            stacked.mean,
            stacked.std,
            stacked.radius,
            stacked.ess,
            stacked.stages,
            stacked.acceptance_rate,
            stacked.evaluations,
        ),
        position_columns=belief.position_columns,
        usual_noise=advisor.plan.usual_noise,
    )
    return publish(posterior, advisor.plan.model.prior)


def _far_ends(readings: tuple[Reading, ...]) -> np.ndarray | None:
    """Return the other ends (k, 2) [m] of paths, and the positions of readings at points."""
    if all(reading.far_end is None for reading in readings):
        return None
    return np.array([reading.far_end or reading.position for reading in readings])


def _column(readings: tuple[Reading, ...], name: str) -> np.ndarray | None:
    """Return one entry for each reading, or `None` where any has none."""
    column = [getattr(reading, name) for reading in readings]
    return None if any(entry is None for entry in column) else np.array(column, np.float64)
