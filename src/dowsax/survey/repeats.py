"""Readings taken again and again at one place: counts are added up, and fixed sensors have no track."""

from dataclasses import replace

import numpy as np

from dowsax.inference.redundancy import DECIMALS_OF_PLACE
from dowsax.site.site import Site
from dowsax.survey.survey import Survey


def is_track(places: np.ndarray, num_sensors: int) -> bool:
    """Whether readings at places (k, 2) [m] are of one sensor that moved, and not of fixed ones in turn.

    Not where they name several sensors, nor where their different places are fewer than half of the visits:
    readings that follow each other at one place are one visit.
    """
    if num_sensors > 1 or len(places) == 0:
        return False
    places = np.round(places, DECIMALS_OF_PLACE)
    num_visits = 1 + np.count_nonzero(np.any(np.diff(places, axis=0) != 0, axis=1))
    return bool(2 * len(np.unique(places, axis=0)) >= num_visits)


def survey_has_track(survey: Survey) -> bool:
    """Whether the readings of a survey at points are a track, see `is_track`."""
    at_points = np.ones(len(survey.values), bool)
    if survey.far_ends is not None:
        at_points = np.all(survey.far_ends == survey.positions, axis=1)
    owners = [part for part in (survey.sensor, survey.searcher) if part is not None]
    num_sensors = np.unique(np.stack(owners), axis=1).shape[1] if owners else 1
    return is_track(survey.positions[at_points], num_sensors)


def add_up_counts(survey: Survey, site: Site) -> Survey:
    """Return a survey of counts with one reading for each place and sensor: the sums of counts and seconds.

    What the model of the field gets wrong, as the efficiency of a detector or a shield in its way, is the
    same for all counts at one place. As several readings they would seem to err independently of each other.
    Backgrounds that were measured with each reading are averaged over the seconds.

    The same survey where nothing is counted, where there are no repeats, and with a sensor that lags.
    """
    dwell = survey.dwell
    if site.kind != "radiation" or site.sensor.lag is not None or dwell is None:
        return survey
    # Counts are never read along paths.
    assert survey.far_ends is None
    alike = [*survey.positions.T, survey.altitude, survey.sensor, survey.searcher]
    alike += [part for name, part in survey.quantities.items() if name != "background"]
    columns = [np.round(part, DECIMALS_OF_PLACE) for part in alike if part is not None]
    _, first, group = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
    if len(first) == len(survey.values):
        return survey
    # In the order of the file.
    kept = np.sort(first)
    number = np.searchsorted(kept, first[group.reshape(-1)])

    def total(part: np.ndarray) -> np.ndarray:
        return np.bincount(number, part, len(kept))

    def select(part: np.ndarray | None) -> np.ndarray | None:
        return None if part is None else part[kept]

    quantities = {name: part[kept] for name, part in survey.quantities.items()}
    if "background" in quantities:
        quantities["background"] = total(survey.quantities["background"] * dwell) / total(dwell)
    count, places = len(survey.values), len(kept)
    note = (
        f"{count} counts at {places} places were added up to {places} readings: what the model gets wrong at "
        "a place is the same for all counts there."
    )
    return replace(
        survey,
        positions=survey.positions[kept],
        values=total(survey.values),
        lines=survey.lines[kept],
        altitude=select(survey.altitude),
        time=select(survey.time),
        clock=select(survey.clock),
        wind=select(survey.wind),
        dwell=total(dwell),
        sensor=select(survey.sensor),
        searcher=select(survey.searcher),
        quantities=quantities,
        notes=(*survey.notes, note),
    )
