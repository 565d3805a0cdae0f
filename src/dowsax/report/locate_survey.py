"""From readings to findings: readings → problem → posterior → findings, one step after the other.

`locate_survey` does all of it for a survey of a site; `dowsax locate` runs the same steps.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dowsax.inference import Posterior
from dowsax.inference.evidence import compile_evidence, find_log_evidence
from dowsax.inference.locate import locate
from dowsax.inference.presets import PRESETS, default_preset
from dowsax.inference.redundancy import with_redundancy
from dowsax.mission.plan import search_filter_name
from dowsax.mission.rehearsal import filter_name, find_rehearsal, rehearsal_command
from dowsax.report.findings import MAX_LOG_EVIDENCE, Findings, Rule, as_box, prior_interval, regions_of
from dowsax.site.kinds import KINDS
from dowsax.site.site import Site, build_model
from dowsax.survey.lint import lint_times
from dowsax.survey.parallel import run_in_parallel
from dowsax.survey.repeats import add_up_counts, survey_has_track
from dowsax.survey.reversed_wind import WindCheck, check_wind
from dowsax.survey.survey import Survey
from dowsax.types import Station
from dowsax.world import MODALITIES, Model, UniformBox, benchmark_model, without_source
from dowsax.world.several_columns import numbers_of_sources

_MAX_NULL_PARTICLES = 512
"""Of the belief without a source, which has background and noise alone."""
_EVIDENCE_EFFORT = 0.25
"""Share of the moves' terms, of the belief in the reversed wind.

Nothing is reported of that belief, and its log evidence decides only whether it is 5 nats above the other
(`reversed_wind.MIN_LOG_ODDS`): a rougher one will do.
"""


@dataclass(frozen=True, eq=False)
class SurveyProblem:
    """The readings, the model that may explain them, and the filter."""

    survey: Survey
    stations: Station
    model: Model
    null_model: Model
    """Without a source, with the same background, noise and lag."""
    preset: str
    particles: int | None
    """`None` for the number of the preset."""
    seed: int
    name: str
    """Title of the findings."""
    kind: str
    """What was measured: a kind of site, or a benchmark field."""
    site: Site | None
    """`None` for a benchmark field."""
    has_track: bool = True
    """Whether one sensor moved from reading to reading of the file."""
    is_as_filed: bool = True
    """Whether the site has as many sources as its file says."""

    def run_filter(self, model: Model, stations: Station, **settings: Any) -> Posterior:
        """Return the posterior by this filter and seed."""
        filter_settings = {"preset": self.preset, "particles": self.particles, "seed": self.seed} | settings
        return locate(stations, self.survey.values, model=model, **filter_settings)

    @property
    def null_filter(self) -> dict[str, Any]:
        """Settings of the filter without a source."""
        return {
            "preset": self.preset,
            "particles": min(_MAX_NULL_PARTICLES, PRESETS[self.preset].config.num_particles),
        }


def locate_survey(
    survey: Survey,
    site: Site,
    *,
    preset: str | None = None,
    particles: int | None = None,
    seed: int = 0,
    name: str | None = None,
    sources: int | str | None = None,
) -> Findings:
    """Return what a survey says about the source of a site.

    Parameters
    ----------
    survey
        The readings, from `read_survey`.
    site
        Where they were taken, from `read_site`.
    preset
        The filter. Default: that of the site.
    particles
        Number of particles. Default: that of the site.
    seed
        The same seed gives the same answer.
    name
        Title of the findings. Default: the name of the site.
    sources
        Number of sources, or a range like "1-3". Default: that of the site.
    """
    settings: dict[str, Any] = {"preset": preset, "particles": particles, "seed": seed}
    problem = build_problem(survey, site, name=name, sources=sources, **settings)
    posterior = solve(problem)
    return build_findings(problem, posterior)


def build_problem(
    survey: Survey,
    place: Site | str,
    *,
    preset: str | None = None,
    particles: int | None = None,
    seed: int = 0,
    name: str | None = None,
    sources: int | str | None = None,
) -> SurveyProblem:
    """Return the problem of a survey of a site, or of a benchmark field; see `locate_survey`."""
    has_track = survey_has_track(survey)
    if isinstance(place, str):
        name = name or f"Source of the {place} readings"
        numbers = numbers_of_sources(1 if sources is None else sources)
        models = benchmark_model(place, sources=numbers), benchmark_model(place)
        null_model, preset = without_source(models[1]), preset or default_preset(numbers)
        settings = survey.stations(), models[0], null_model, preset, particles, seed, name, place, None
        return SurveyProblem(survey, *settings, has_track=has_track)
    numbers = place.sources if sources is None else numbers_of_sources(sources)
    is_as_filed, place = numbers == place.sources, replace(place, sources=numbers)
    survey = add_up_counts(survey, place)
    model = build_model(place, survey.sensor_names, survey.quantities)
    single = build_model(replace(place, sources=(1,)), survey.sensor_names, survey.quantities)
    stations = survey.stations(trail=place.sensor.lag is not None)
    preset, particles = preset or place.preset, particles or place.search.particles
    null_model, name = without_source(single), name or place.name
    settings = stations, model, null_model, preset, particles, seed, name, place.kind, place
    return SurveyProblem(survey, *settings, has_track=has_track, is_as_filed=is_as_filed)


def solve(problem: SurveyProblem) -> Posterior:
    """Return the posterior of the source."""
    site = problem.site
    if site is None:
        return problem.run_filter(problem.model, problem.stations)
    null_model = with_redundancy(problem.null_model, 1.0)
    posterior, _ = run_in_parallel(
        lambda: problem.run_filter(
            problem.model,
            problem.stations,
            redundancy="estimated" if site.sensor.redundancy is None else None,
        ),
        # `build_findings` needs it, and another core is idle now.
        lambda: compile_evidence(
            problem.stations, problem.survey.values, model=null_model, **problem.null_filter
        ),
    )
    return posterior


def build_findings(problem: SurveyProblem, posterior: Posterior) -> Findings:
    """Return the findings: the posterior, its regions, and whether there is a source at all."""
    survey, site = problem.survey, problem.site
    model, null_model = problem.model, problem.null_model
    if site is not None:
        model, null_model = (with_redundancy(each, posterior.redundancy) for each in (model, null_model))
    source_area = (UniformBox().low, UniformBox().high) if site is None else site.source_area
    findings = Findings(
        name=problem.name,
        posterior=posterior,
        regions=regions_of(posterior, as_box(*source_area)),
        positions=survey.positions,
        far_ends=survey.far_ends,
        values=survey.values,
        kind=problem.kind,
        lines=survey.lines,
        has_track=problem.has_track,
        evidence=source_evidence(problem, null_model, posterior),
        prior_interval=prior_interval(model, posterior),
        notes=survey.notes,
        seed=problem.seed,
    )
    num_particles = len(posterior.weights)
    if site is None:
        return replace(
            findings,
            unit=MODALITIES[problem.kind].unit,
            area=as_box(*source_area),
            settings={"field": problem.kind, "preset": problem.preset, "particles": num_particles},
        )
    kind = KINDS[site.kind]
    wind = survey.wind if kind.uses_wind and site.wind.mode == "measured" else None
    check = None if wind is None else _check_wind(problem, model, posterior)
    reversals = [check.message] if check is not None and check.is_reversed else []
    return replace(
        findings,
        unit=site.unit,
        coordinates=site.coordinates,
        area=as_box(site.low, site.high),
        geofence=site.geofence,
        no_go=site.no_go,
        obstacles=site.obstacles,
        time=survey.time,
        altitude=survey.altitude,
        wind=wind,
        dwell=survey.dwell,
        rule=Rule(site.found_radius, site.search.probability),
        caution=" ".join([*survey.stuck, *reversals, *misfit_cautions(posterior, kind.uses_wind)]),
        is_stuck=bool(survey.stuck),
        flight=site.flight,
        notes=(
            *survey.notes,
            *([] if check is None else [check.message]),
            *_redundancy_notes(posterior, site, survey.time),
            *_threshold_notes(model),
            *rehearsal_notes(problem),
        ),
        settings=survey_settings(site, survey, problem.preset, num_particles),
    )


def source_evidence(problem: SurveyProblem, null_model: Model, posterior: Posterior) -> float:
    """Return log p(readings | a source) − log p(readings | none), with the same background, noise and lag."""
    # −∞ for a reading that only a source explains.
    null = find_log_evidence(
        problem.stations,
        problem.survey.values,
        model=null_model,
        seed=problem.seed,
        **problem.null_filter,
    )
    log_odds = float(posterior.log_evidence) - null
    return float(np.clip(log_odds, -MAX_LOG_EVIDENCE, MAX_LOG_EVIDENCE))


def _check_wind(problem: SurveyProblem, model: Model, posterior: Posterior) -> WindCheck:
    """Return whether the readings fit better with the opposite wind, by the same filter."""
    survey = problem.survey
    assert survey.wind is not None
    stations = replace(survey, wind=-survey.wind).stations(trail=problem.stations.trail is not None)
    try:
        reversed_log_evidence = float(
            problem.run_filter(model, stations, effort=_EVIDENCE_EFFORT).log_evidence
        )
    except ValueError:
        reversed_log_evidence = -math.inf
    return check_wind(float(posterior.log_evidence), reversed_log_evidence)


def misfit_cautions(posterior: Posterior, uses_wind: bool) -> list[str]:
    """Return cautions where the noise is excessive, or the errors are one error of the whole survey."""
    excess = posterior.describe_excess_noise()
    cautions = [excess] if excess else []
    if not posterior.has_systematic_errors:
        return cautions
    count, number = posterior.redundancy_estimate or 1.0, len(posterior.readings)
    causes = [*(["the direction of the wind"] if uses_wind else []), "a second source", "the background"]
    return [
        *cautions,
        f"The model does not fit the survey: {count:.2g} of its {number} readings err as one. "
        f"Look at {', '.join(causes[:-1])} and {causes[-1]}; do not rely on the region.",
    ]


def _redundancy_notes(posterior: Posterior, site: Site, times: np.ndarray | None) -> list[str]:
    """Return notes where several readings count as one, and where that is for want of times."""
    if posterior.redundancy == 1:
        return []
    reason = "as they err together" if site.sensor.redundancy is None else "as the site says"
    counted = f"About {posterior.redundancy:.2g} neighbouring readings count as one, {reason}."
    return [counted, *lint_times(site, posterior.places, times)]


def _threshold_notes(model: Model) -> list[str]:
    """Return a note where the threshold of the sensor is unknown, and with it the strength of the source."""
    if all(parameter.name != "threshold" for parameter in model.prior.parameters):
        return []
    return [
        "The sensor has no calibration and its threshold is not known: the strength of the source can be "
        "told relative to that only."
    ]


def rehearsal_notes(problem: SurveyProblem) -> list[str]:
    """Return how often the region held the source in rehearsals, or the command that measures it."""
    site = problem.site
    if site is None or not site.text:
        return []
    if not problem.is_as_filed:
        return [
            "How often the 95 % region misses the source was not measured: the site file says another number "
            "of sources."
        ]
    if (problem.preset, problem.particles) == (site.preset, site.search.particles):
        # Missions may have more particles than surveys.
        name = search_filter_name(site)
    else:
        name = filter_name(problem.preset, problem.particles or PRESETS[problem.preset].config.num_particles)
    rehearsal, why_not = find_rehearsal(site.file, site.text, name)
    if rehearsal is not None:
        return [rehearsal.survey_sentence()]
    return [
        f"How often the 95 % region misses the source at such a site was not measured{why_not}: "
        f"`{rehearsal_command(site.file)}` does, for missions."
    ]


def survey_settings(site: Site, survey: Survey, preset: str, particles: int) -> dict[str, Any]:
    """Return what the answer depends on, besides the readings."""
    return {
        "site": Path(site.file).name,
        "field": site.kind,
        "unit": site.unit,
        **({} if site.sensor.reading == "value" else {"reading": site.sensor.reading}),
        "area": [list(site.low), list(site.high)],
        **({"wind": site.wind.mode} if KINDS[site.kind].uses_wind else {}),
        **({"known": site.known} if site.known else {}),
        **({"known of each reading": ", ".join(survey.quantities)} if survey.quantities else {}),
        "preset": preset,
        "particles": particles,
    }
