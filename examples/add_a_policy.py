"""A policy and a scenario of your own, measured like those of the package."""

import jax
import jax.numpy as jnp

from dowsax.envs import Scenario, SearchProblem, inside
from dowsax.evaluate import TraceRule, run_episodes, summarise
from dowsax.inference import PRESETS
from dowsax.policies import Lookahead, Prediction
from dowsax.types import Scalar
from dowsax.world import benchmark_model


def negative_variance(prediction: Prediction) -> Scalar:
    """A planner is a utility: here the expected variance of the position after the next reading, negated."""
    weights = jnp.exp(prediction.log_posteriors)
    places = prediction.particles[:, :2]
    means = weights @ places
    return -jnp.mean(weights @ jnp.sum(places**2, axis=1) - jnp.sum(means**2, axis=1))


def main() -> None:
    model = benchmark_model("temperature")
    corner = Scenario(inside(((15.0, 15.0), (20.0, 20.0))), meaning="sources in the far corner")
    search = SearchProblem(model, PRESETS["default"].with_particles(256), corner, max_readings=40)
    rule = TraceRule("credible", 0.95)
    episodes = run_episodes(
        search, Lookahead(model, negative_variance), jax.random.split(jax.random.key(0), 4), (rule,)
    )
    found = summarise(episodes, rule)
    print(f"stopped: {found.stop_rate.value:.2f}, false stops of all: {found.false_stop_all.value:.2f}")


if __name__ == "__main__":
    main()
