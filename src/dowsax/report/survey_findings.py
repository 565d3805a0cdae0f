"""A survey of a site in, findings out: the posterior, and whether there is a source at all."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from dowsax.inference import Posterior
from dowsax.inference.locate import compile_for, locate
from dowsax.inference.presets import PRESETS
from dowsax.inference.redundancy import with_redundancy
from dowsax.mission.rehearsal import filter_name, find_rehearsal, rehearsal_command
from dowsax.report.findings import BEYOND, Findings, Rule, as_box, prior_interval, regions_of
from dowsax.site.kinds import KINDS
from dowsax.site.model import build_model
from dowsax.site.site import Site
from dowsax.survey.reversed_wind import WindCheck, flipped_wind
from dowsax.survey.survey import Survey
from dowsax.survey.together import together
from dowsax.types import Station
from dowsax.world import MODALITIES, Model, UniformBox, benchmark_model, without_source

_PARTICLES = 512
"""Of the belief without a source, which is about background and noise alone."""


def located(
    survey: Survey,
    site: Site,
    *,
    preset: str | None = None,
    particles: int | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Findings:
    """What a survey says of the source of a site. Preset and particles are the site's unless given."""
    preset = preset or site.search.preset
    particles = particles or site.search.particles
    model = build_model(site, survey.sensor_names)
    stations = survey.stations(trail=site.sensor.lag is not None)
    posterior, _ = together(
        lambda: locate(
            stations,
            survey.values,
            model=model,
            preset=preset,
            particles=particles,
            seed=seed,
            redundancy="estimated" if site.sensor.redundancy is None else None,
        ),
        # It is needed afterwards, and takes a core that is idle now.
        lambda: compile_for(
            stations, survey.values, model=without_source(with_redundancy(model, 1.0)), **_null_filter(preset)
        ),
    )
    model = with_redundancy(model, posterior.redundancy)
    log_evidence = float(posterior.log_evidence)
    area = as_box(site.low, site.high)
    # A wind that the model does not use is not told of.
    wind = survey.wind if KINDS[site.kind].uses_wind and site.wind.mode == "measured" else None
    checked = (
        None if wind is None else _checked_wind(survey, site, model, log_evidence, preset, particles, seed)
    )
    notes = survey.notes if checked is None else (*survey.notes, checked.words)
    notes = (*notes, *_counted_words(posterior.redundancy, site))
    flipped = checked.words if checked is not None and checked.flipped else ""
    return Findings(
        name=name or site.name,
        posterior=posterior,
        regions=regions_of(posterior, as_box(*site.source_area)),
        positions=survey.positions,
        values=survey.values,
        unit=site.unit,
        kind=site.kind,
        frame=site.frame,
        area=area,
        geofence=site.geofence,
        no_go=site.no_go,
        lines=survey.lines,
        time=survey.time,
        altitude=survey.altitude,
        wind=wind,
        dwell=survey.dwell,
        evidence=evidence_of(model, stations, survey.values, log_evidence, preset, seed),
        rule=Rule(site.found_radius, site.search.probability),
        prior_interval=prior_interval(model),
        caution=f"{flipped} {misfit_words(posterior, KINDS[site.kind].uses_wind)}".strip(),
        flight=site.flight,
        notes=(*notes, *rehearsal_notes(site, filter_name(preset, len(posterior.weights)))),
        settings=_settings(site, preset, len(posterior.weights)),
        seed=seed,
    )


def _counted_words(redundancy: float, site: Site) -> tuple[str, ...]:
    """What is said of readings that err together."""
    if redundancy == 1:
        return ()
    how = "as they err together" if site.sensor.redundancy is None else "as the site says"
    return (f"About {redundancy:.2g} neighbouring readings count as one, {how}.",)


def misfit_words(posterior: Posterior, windy: bool) -> str:
    """What is said of a survey that errs as a whole; nothing of others."""
    if not posterior.has_systematic_errors:
        return ""
    asked, number = posterior.redundancy_estimate or 1.0, len(posterior.readings)
    causes = [*(["the direction of the wind"] if windy else []), "a second source", "the background"]
    return (
        f"The model does not fit the survey: {asked:.2g} of its {number} readings err as one. "
        f"Look at {', '.join(causes[:-1])} and {causes[-1]}; do not rely on the region."
    )


def rehearsal_notes(site: Site, preset: str) -> tuple[str, ...]:
    """How often the region held the source in rehearsals of the site, or the command that measures it."""
    if not site.text:
        return ()
    rehearsal, why_not = find_rehearsal(site.file, site.text, preset)
    if rehearsal is not None:
        return (rehearsal.survey_sentence(),)
    told = f"How often the 95 % region misses the source at such a site was not measured{why_not}"
    return (f"{told}: `{rehearsal_command(site.file)}` does, for missions.",)


def _checked_wind(
    survey: Survey,
    site: Site,
    model: Model,
    log_evidence: float,
    preset: str,
    particles: int | None,
    seed: int,
) -> WindCheck:
    """Whether the readings fit better with the wind the other way round, by the same filter."""
    assert survey.wind is not None
    stations = replace(survey, wind=-survey.wind).stations(trail=site.sensor.lag is not None)
    try:
        turned = locate(stations, survey.values, model=model, preset=preset, particles=particles, seed=seed)
    except ValueError:
        return flipped_wind(log_evidence, -math.inf)
    return flipped_wind(log_evidence, float(turned.log_evidence))


def evidence_of(
    model: Model, stations: Station, values: np.ndarray, log_evidence: float, preset: str, seed: int
) -> float:
    """log p(readings | a source) − log p(readings | none), with the same background, noise and lag."""
    try:
        null = locate(stations, values, model=without_source(model), seed=seed, **_null_filter(preset))
    except ValueError:
        # A reading that only a source explains.
        return BEYOND
    return float(np.clip(log_evidence - float(null.log_evidence), -BEYOND, BEYOND))


def _null_filter(preset: str) -> dict[str, Any]:
    """Of the belief without a source."""
    return {"preset": preset, "particles": min(_PARTICLES, PRESETS[preset].config.num_particles)}


def benchmark_findings(
    field: str, positions, values, posterior: Posterior, *, name: str, preset: str, seed: int, lines=None
) -> Findings:
    """Findings of a benchmark field, whose readings have nothing but positions, from its posterior."""
    model = benchmark_model(field)
    positions, values = np.asarray(positions, np.float64), np.asarray(values, np.float64)
    # The box in which the benchmark's sources lie.
    box = UniformBox()
    area = as_box(box.low, box.high)
    stations = Station(jnp.asarray(positions, jnp.float32))
    return Findings(
        name=name,
        posterior=posterior,
        regions=regions_of(posterior, area),
        positions=positions,
        values=values,
        unit=MODALITIES[field].unit,
        kind=field,
        area=area,
        lines=None if lines is None else np.asarray(lines),
        evidence=evidence_of(model, stations, values, float(posterior.log_evidence), preset, seed),
        prior_interval=prior_interval(model),
        settings={"field": field, "preset": preset, "particles": len(posterior.weights)},
        seed=seed,
    )


def _settings(site: Site, preset: str, particles: int) -> dict[str, Any]:
    """What the answer depends on, but for the readings."""
    return {
        "site": Path(site.file).name,
        "field": site.kind,
        "unit": site.unit,
        "area": [list(site.low), list(site.high)],
        "wind": site.wind.mode,
        **({"known": site.known} if site.known else {}),
        "preset": preset,
        "particles": particles,
    }
