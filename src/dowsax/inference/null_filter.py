"""The filter of a model without its source: together with the model's own filter it gives the evidence."""

from dataclasses import replace

import equinox as eqx

from dowsax.inference.belief import Belief
from dowsax.inference.presets import PRESETS, Preset
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, without_source

_NUM_PARTICLES = 512
"""Of the belief without a source, which is about background and noise alone."""
_NUM_MOVES = 24
"""As exact as moves until the particles have forgotten their start, in half of the time or less."""
_NUM_WITHOUT_UNKNOWNS = 16
"""Where background and noise are known, so that every particle has the exact likelihood."""


class NullFilter(eqx.Module):
    """The filter of the model without its source, with the same background, noise and lag."""

    model: Model
    preset: Preset = eqx.field(static=True)

    @classmethod
    def build(cls, model: Model, preset: Preset, *, has_unknowns: bool = True) -> "NullFilter":
        """Build it for a model and the preset of its filter."""
        if not has_unknowns:
            return cls(without_source(model), PRESETS["plain"].with_particles(_NUM_WITHOUT_UNKNOWNS))
        config = replace(
            preset.config,
            num_particles=min(preset.config.num_particles, _NUM_PARTICLES),
            num_moves=_NUM_MOVES,
            max_moves=_NUM_MOVES,
            max_terms=None,
            straighten=False,
        )
        return cls(without_source(model), replace(preset, config=config))

    def init(self, key: Key, template: Station, horizon: int) -> Belief:
        """Return the belief before the first reading; `template` is an example of a station."""
        return self.preset.with_horizon(horizon).build(self.model, template=template).init(key)

    def step(self, key: Key, belief: Belief, station: Station, reading: Scalar) -> Belief:
        """Return the belief after one more reading."""
        belief, _ = self.preset.build(self.model, template=station).step(key, belief, station, reading)
        return belief
