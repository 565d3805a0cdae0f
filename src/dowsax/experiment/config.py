"""What a run is asked to do, by names and numbers alone."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dowsax.evaluate.stops import DEFAULTS, LADDER, TraceRule
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import digest_of

DEFAULT_RULE = TraceRule("credible", DEFAULTS["credible"])
_SEEDS = 2**32
# Probabilities; the other thresholds are lengths, nats or numbers of readings.
_SHARES = ("credible", "max-weight")


@dataclass(frozen=True)
class RunConfig:
    """The searches of a run: every policy on every field, the same numbered episodes for each."""

    policies: tuple[str, ...]
    fields: tuple[str, ...]
    scenario: str = "id"
    episodes: int = 1000
    seed: int = 0
    preset: str = "default"
    particles: int | None = None
    """Another number than the preset's."""
    max_readings: int = 200
    rule: TraceRule = DEFAULT_RULE
    """The stop rule of the summary."""
    to_the_end: bool = False
    """Take all readings whatever the rules say, so that rules which may never speak can be compared."""
    shard_size: int = 25
    """Episodes computed and kept together."""

    def __post_init__(self) -> None:
        for what, names in (("policy", self.policies), ("field", self.fields)):
            if not names:
                raise ValueError(f"A run needs at least one {what}.")
            if len(set(names)) < len(names):
                raise ValueError(f"A {what} is given twice in {', '.join(names)}.")
        if self.episodes < 1:
            raise ValueError(f"A run has at least 1 episode; got {self.episodes}.")
        if not 0 <= self.seed < _SEEDS:
            raise ValueError(f"A seed is a whole number from 0 to {_SEEDS - 1}; got {self.seed}.")
        if self.max_readings < 2:
            raise ValueError(f"A search has at least 2 readings; got {self.max_readings}.")
        if self.shard_size < 1:
            raise ValueError(f"A shard has at least 1 episode; got {self.shard_size}.")

    @property
    def rules(self) -> tuple[TraceRule, ...]:
        """The rules whose stops are written down: the ladder, and the one of the summary."""
        return LADDER if self.rule in LADDER else (*LADDER, self.rule)

    @property
    def until(self) -> tuple[TraceRule, ...]:
        """An episode goes on until each of these has spoken."""
        return (TraceRule("fixed", float(self.max_readings)),) if self.to_the_end else self.rules

    def settings(self) -> dict[str, Any]:
        """What decides about the episodes. The stop rule does so only where it is none of the ladder."""
        return self._weights() | {
            "policies": sorted(self.policies),
            "fields": sorted(self.fields),
            "scenario": self.scenario,
            "episodes": self.episodes,
            "seed": self.seed,
            "preset": self.preset,
            "particles": self.particles,
            "max_readings": self.max_readings,
            "to_the_end": self.to_the_end,
            "until": [str(rule) for rule in self.until],
        }

    def _weights(self) -> dict[str, Any]:
        """Trained policies are what their weights are, not what their file is called."""
        files = {name: weights_path(name) for name in self.policies}
        digests = {name: digest_of(path) for name, path in sorted(files.items()) if path is not None}
        return {"weights": digests} if digests else {}

    @property
    def fingerprint(self) -> str:
        """Eight letters that differ between runs of other episodes; the cut into shards is no part of it."""
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:8]

    @property
    def name(self) -> str:
        """A readable name for its folder."""
        policies = (
            Path(self.policies[0]).stem if len(self.policies) == 1 else f"{len(self.policies)}-policies"
        )
        places = self.fields[0] if len(self.fields) == 1 else f"{len(self.fields)}-fields"
        return f"{policies}-{places}-{self.scenario}-{self.fingerprint}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it; `from_dict` is the inverse."""
        return asdict(self) | {"ladder": [str(rule) for rule in LADDER]}

    @staticmethod
    def from_dict(document: dict[str, Any]) -> "RunConfig":
        known = {field.name for field in fields(RunConfig)}
        values: dict[str, Any] = {name: value for name, value in document.items() if name in known}
        values |= {name: tuple(values[name]) for name in ("policies", "fields")}
        values["rule"] = TraceRule(**values["rule"])
        return RunConfig(**values)


def stop_rule(name: str, threshold: float | None = None) -> TraceRule:
    """A stop rule by name, with its usual threshold unless another is given."""
    rule = TraceRule(name, float(DEFAULTS.get(name, 0.0) if threshold is None else threshold))
    if not (math.isfinite(rule.threshold) and rule.threshold > 0):
        raise ValueError(f"The threshold of {name} is above 0; got {rule.threshold:g}.")
    if name == "fixed" and not rule.threshold.is_integer():
        raise ValueError(f"The threshold of fixed is a whole number of readings; got {rule.threshold:g}.")
    if name in _SHARES and rule.threshold >= 1:
        raise ValueError(f"The threshold of {name} is a probability below 1; got {rule.threshold:g}.")
    return rule
