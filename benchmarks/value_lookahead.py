"""Whether a trained policy searches better when it looks ahead with its own value.

    python -m benchmarks.value_lookahead           # temperature and electric, 120 searches each, seed 77

The policy's logits are joined by what its critic expects after each move, over imagined readings: the belief
is weighed by each of them, and is worth one where the credible rule would stop. The searches are not those of
any published table. About half an hour on 2 cores.
"""

import argparse
import math
from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from rich.console import Console
from rich.progress import Progress

from benchmarks.searches import FIELDS
from dowsax.envs import SUCCESS_RADIUS_M
from dowsax.envs.problem import assemble
from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.metrics import Ends, ends, means, share
from dowsax.evaluate.paired import differences
from dowsax.evaluate.search_steps import Keys
from dowsax.evaluate.stops import DEFAULTS, TraceRule
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.run import episode_keys
from dowsax.inference import Belief, systematic
from dowsax.inference.belief import record
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.summaries import mass_within
from dowsax.inference.weights import normalise
from dowsax.policies import policy_named
from dowsax.policies.base import Action, choose_best
from dowsax.policies.neural import Neural
from dowsax.types import Key, Scalar, Station

RULE = TraceRule("credible", DEFAULTS["credible"])
DISCOUNT = 0.99
"""Of the training."""
WEIGHTS = (50.0, 200.0)
"""How many nats a value of one counts next to the logits."""
Row = tuple[str, ...]


class Ahead(eqx.Module):
    """The move that the logits of a network and the value after it, times a weight, find best together."""

    base: Neural
    weight: Scalar = eqx.field(converter=jnp.float32)
    num_readings: int = eqx.field(default=16, static=True)
    """Imagined readings for each move."""
    num_particles: int = eqx.field(default=256, static=True)
    """So many of the belief are weighed by them."""

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        observation_key, value_key, tie_key = jax.random.split(key, 3)
        logits = self.base.network(self.base.encoder(observation_key, belief, station)).logits
        scores = jax.nn.log_softmax(logits) + self.weight * self.values(value_key, belief, station)
        return choose_best(tie_key, scores, self.base.motion.free(station.position))

    def values(self, key: Key, belief: Belief, station: Station) -> Float[Array, " actions"]:
        """The expected return after each move; imagined sources and noise are the same for all."""
        draw_key, source_key, noise_key, observation_key = jax.random.split(key, 4)
        number = self.num_particles
        particles = belief.particles[systematic(draw_key, normalise(belief.log_weights), number)]
        even = jnp.full(number, -math.log(number))
        sources = particles[systematic(source_key, even, self.num_readings)]
        noise_keys = jax.random.split(noise_key, self.num_readings)
        model = self.base.encoder.model

        def after(action: Action) -> Float[Array, ""]:
            there = Station(self.base.motion(station.position, action))

            def one(noise_key: Key, source: Array) -> Float[Array, ""]:
                reading = model.sample_reading(noise_key, source, there)
                imagined = Belief(
                    particles,
                    normalise(reading_log_likelihood(model, particles.T, there, reading)),
                    jnp.zeros(number),
                    jnp.zeros(number, jnp.int32),
                    record(belief.history, there, reading),
                    belief.log_evidence,
                    belief.step_size,
                )
                value = self.base.network(self.base.encoder(observation_key, imagined, there)).value
                over = mass_within(imagined, SUCCESS_RADIUS_M) >= RULE.threshold
                return jnp.where(over, 1.0, DISCOUNT * jnp.clip(value, 0.0, 1.0))

            return jnp.mean(jax.vmap(one)(noise_keys, sources))

        return jax.vmap(after)(jnp.arange(self.base.motion.num_actions))


def study(field: str, keys: Keys, weights: Sequence[float], progress: Progress) -> list[Row]:
    """A row for the policy, and one for each weight of the value next to it, on the same searches."""
    search = assemble(field).search
    base = policy_named("att-pfrl")(search.model, search.motion)
    policies = {"att-pfrl": base} | {f"value counts {weight:g}": Ahead(base, weight) for weight in weights}
    found: dict[str, Ends] = {}
    for name, policy in policies.items():
        advance = partial(progress.advance, progress.add_task(f"{field}, {name}", total=len(keys)))
        found[name] = ends(run_episodes(search, policy, keys, (RULE,), on_progress=advance), RULE)
    plain = found["att-pfrl"]
    return [(field, *row(name, end, None if end is plain else plain)) for name, end in found.items()]


def row(name: str, end: Ends, plain: Ends | None) -> Row:
    """How often and how late searches stop, and against the policy alone."""
    told = (name, number(share(end.stopped), 3), number(means(end.path_length[end.stopped])[0], 1))
    if plain is None:
        return (*told, "", "")
    path = differences(end, plain).path_length_both
    gain = means(returns(end) - returns(plain))[0]
    return (*told, number(path, 2, "+"), number(gain, 4, "+"))


def returns(end: Ends) -> np.ndarray:
    """What a search was worth in training: one at the stop, discounted by the moves before it."""
    return np.where(end.stopped, DISCOUNT ** (end.reading - 2.0), 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fields", nargs="+", default=["temperature", "electric"], choices=FIELDS)
    parser.add_argument("--searches", type=int, default=120)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--weights", nargs="+", type=float, default=WEIGHTS)
    options = parser.parse_args()
    rows: list[Row] = []
    with Progress(console=Console(stderr=True)) as progress:
        for field in options.fields:
            keys = episode_keys(options.seed, field, np.arange(options.searches))
            rows += study(field, keys, options.weights, progress)
    headings = ("field", "policy", "stopped", "path [m]", "path where both stop [m]", "return")
    print("\n".join(markdown(headings, rows)))


if __name__ == "__main__":
    main()
