"""How short a path to expect at best: that of a sweep which knows everything but the location.

    python -m benchmarks.limits --source runs/paper --episodes 300      # after `dowsax reproduce id`

A faint source shows within a step or two, so it takes a sweep of the area to find it. Here an oracle knows
strength, wind, diffusivity and decay length, sweeps the area in parallel lines as far apart as suits that
source best, and walks straight to the source as soon as a reading differs from clean air by half a nat. Near
the source it needs as many readings as the straight walk did there. That is no proof, as there may be better
ways than parallel lines; but it says how much of a path is for want of knowing where the source is.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from benchmarks import from_runs
from benchmarks.from_runs import Lines
from dowsax.envs import MAX_READINGS
from dowsax.evaluate.metrics import NOTHING, Ends, Estimate, ends
from dowsax.experiments.run import CREDIBLE
from dowsax.experiments.suites.measures import ratio
from dowsax.experiments.suites.searches import STRAIGHT
from dowsax.experiments.suites.suite import Reproduction
from dowsax.types import Station
from dowsax.world import Model, benchmark_model

FILE = "limits.csv"
NATS = 0.5
"""By which a reading differs from one of clean air: a shift by one standard deviation in a normal one."""
START = (2.5, 2.5)
"""[m], the middle of where searches start."""
LOW, HIGH = 5.0, 20.0
"""[m], where sources are."""
SPACINGS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.75, 5.0, 7.5, 15.0)
"""[m], between the lines of a sweep."""
_PLACES_A_SIDE, _NUM_DRAWS = 15, 4096
_LOG_INTENSITIES = np.linspace(-12.0, 6.0, 181)


def sweep(spacing: float, is_transposed: bool) -> np.ndarray:
    """Return the stations [m] of a sweep in unit moves, as many as a search has readings."""
    num_lines = max(1, round((HIGH - LOW) / spacing))
    across = LOW + (np.arange(num_lines) + 0.5) * (HIGH - LOW) / num_lines
    margin = min(spacing / 2, (HIGH - LOW) / 2)
    ends = (LOW + margin, HIGH - margin)
    corners = [(line, end) for number, line in enumerate(across) for end in ends[:: -1 if number % 2 else 1]]
    stations = [np.array(START)]
    for corner in corners:
        for axis in (0, 1):
            gap = round(corner[axis] - stations[-1][axis])
            move = np.eye(2)[axis] * np.sign(gap)
            stations += [stations[-1] + (step + 1) * move for step in range(abs(gap))]
    stations = (stations + [stations[-1]] * MAX_READINGS)[:MAX_READINGS]
    return np.array(stations)[:, :: -1 if is_transposed else 1].astype(np.float32)


def threshold(model: Model) -> float:
    """Return the log intensity from which on a reading differs from clean air, on average over its noise."""

    @jax.jit
    def divergence(log: Float[Array, ""]) -> Float[Array, ""]:
        def gain(key):
            reading = model.sensor.sample(key, jnp.exp(log), station)
            terms = [model.sensor.log_prob(reading, at, station) for at in (jnp.exp(log), jnp.zeros(()))]
            return jnp.clip(terms[0] - terms[1], -50.0, 50.0)

        station = Station(jnp.zeros(2))
        return jnp.mean(jax.vmap(gain)(jax.random.split(jax.random.key(0), _NUM_DRAWS)))

    found = np.array([divergence(jnp.float32(log)) for log in _LOG_INTENSITIES])
    return float(_LOG_INTENSITIES[np.argmax(found >= NATS)])


@eqx.filter_jit
def expected_paths(
    model: Model,
    min_log_intensity: float,
    thetas: Float[Array, "k d"],
    dwell: Float[Array, " k"],
    paths: Array,
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Return the paths [m] of sweep and straight walk to all places at which the sweep finds the source.

    Sums over places, as shares of all places. The sweep is the one that is best for each source, if one that
    it misses costs all readings.
    """
    side = LOW + (jnp.arange(_PLACES_A_SIDE) + 0.5) * (HIGH - LOW) / _PLACES_A_SIDE
    places = jnp.stack(jnp.meshgrid(side, side), axis=-1).reshape(-1, 2)
    limit = jnp.exp(min_log_intensity)

    def walk(theta, extra, path, place):
        is_detected = (
            jax.vmap(lambda at: model.intensity(theta.at[:2].set(place), Station(at)))(path) >= limit
        )
        first = jnp.argmax(is_detected)
        rest, straight = (
            jnp.maximum(jnp.sum(jnp.abs(at - place)) + extra, 0.0) for at in (path[first], path[0])
        )
        return jnp.any(is_detected), first + rest, straight

    def of_source(source):
        def of_path(path):
            found, length, straight = jax.vmap(lambda place: walk(*source, path, place))(places)
            sums = [jnp.mean(jnp.where(found, lengths, 0.0)) for lengths in (length, straight)]
            return *sums, jnp.mean(jnp.where(found, length, MAX_READINGS - 1.0))

        length, straight, cost = jax.vmap(of_path)(paths)
        best = jnp.argmin(cost)
        return length[best], straight[best]

    return jax.lax.map(of_source, (thetas, dwell))


def sweep_ratio(model: Model, sources: np.ndarray, end: Ends) -> Estimate:
    """Return the path of the sweep over the straight walk's, where both stop; bootstrap over searches."""
    thetas, lengths = sources[end.stopped], end.path_length[end.stopped].astype(np.float64)
    if len(lengths) == 0:
        return NOTHING
    # What the straight walk took beyond its way, or less: its start is known up to the middle of its square.
    dwell = lengths - np.abs(thetas[:, :2] - np.array(START)).sum(axis=1)
    paths = jnp.array(
        [sweep(spacing, is_transposed) for spacing in SPACINGS for is_transposed in (False, True)]
    )
    found = expected_paths(
        model, threshold(model), jnp.asarray(thetas), jnp.asarray(dwell, jnp.float32), paths
    )
    return ratio(*(np.asarray(part, np.float64) for part in found))


def lines(paper: Reproduction, field: str) -> Lines:
    """Return the line of a field, if the straight walk has been measured."""
    episodes = paper.store.episodes(paper.run(STRAIGHT, field))
    if episodes is None:
        return
    sources = np.stack([episode.theta for episode in episodes])
    found = sweep_ratio(benchmark_model(field), sources, ends(episodes, CREDIBLE))
    print(f"{field}: {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]", flush=True)
    yield {"field": field, "seed": str(paper.seed)}, {"sweep_ratio": found}


if __name__ == "__main__":
    from_runs.main(__doc__, FILE, lines)
