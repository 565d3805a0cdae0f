"""How much likelier the readings are with a source than without: two filters side by side."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.inference import PRESETS, Belief, Preset
from dowsax.mission.plan import Plan
from dowsax.mission.stations import example, likelihoods
from dowsax.mission.tracker import begin, grown
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, without_source

_PARTICLES = 512
"""Of the belief without a source: it is about background and noise alone."""
_FEW = 16
"""Where these are known, so that any particle has the exact likelihood."""


@dataclass(frozen=True)
class Evidence:
    """The filter of the model without its source, with the same background, noise and lag."""

    model: Model
    preset: Preset

    @classmethod
    def build(cls, plan: Plan) -> "Evidence":
        model = without_source(plan.model)
        if _certain(model, example(plan.stations.names)):
            return cls(model, PRESETS["plain"].with_particles(_FEW))
        preset = plan.preset.with_particles(min(plan.preset.config.num_particles, _PARTICLES))
        return cls(model, replace(preset, config=replace(preset.config, straighten=False)))

    def begin(self, key: Key, template: Station) -> Belief:
        """Before the first reading."""
        return begin(self.model, self.preset, key, template)

    def take(self, key: Key, belief: Belief, station: Station, value: Scalar) -> Belief:
        """After one more reading."""
        return _take(self.model, self.preset, key, grown(belief), station, value)


def _certain(model: Model, station: Station) -> bool:
    """Whether the likelihood of a reading is the same whatever Θ is."""
    terms = likelihoods(model, station, jnp.ones(()))
    return bool(jnp.all(terms == terms[0]))


def log_odds(belief: Belief, null: Belief) -> float:
    r"""$\log p(z_{1:k} \mid \text{source}) - \log p(z_{1:k} \mid \text{none})$ [nats]."""
    # What nothing but a source explains is beyond any number; JSON has none for that.
    return float(min(max(float(belief.log_evidence) - float(null.log_evidence), -LARGEST), LARGEST))


LARGEST = 1e6
"""[nats], the most that is said."""


@eqx.filter_jit
def _take(model: Model, preset: Preset, key: Key, belief: Belief, station: Station, value: Scalar) -> Belief:
    step_key = jax.random.fold_in(key, belief.history.size)
    belief, _ = preset.build(model, template=station).step(step_key, belief, station, value)
    return belief
