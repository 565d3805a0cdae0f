"""The methods by name: what each is paid for, sees, learns by, and with which filter it is trained."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from dowsax.envs import MAX_READINGS, REWARDS, SCENARIOS, Search
from dowsax.envs.problem import STOPS
from dowsax.inference import PRESETS
from dowsax.learn import actor_critic, ppo, rollout
from dowsax.learn.actor_critic import ActorCriticConfig
from dowsax.learn.base import Learner
from dowsax.learn.ppo import PPOConfig
from dowsax.policies.networks import untrained
from dowsax.policies.shipped import SIGHTS, seen_shapes
from dowsax.policies.sight import Sight
from dowsax.world import MODALITIES, benchmark_model

_SEEDS = 2**32
_PPO = PPOConfig()


@dataclass(frozen=True)
class Method:
    """A way to learn to search. The names are those of the layers below."""

    meaning: str
    reward: str = "indicator"
    stop: str = "credible"
    """The rule that ends searches in training."""
    sight: str = "particles"
    """What the network sees, and with it which network it is."""
    preset: str = "training"
    """The filter in training; it may be cheaper than the one that is used later."""
    particles: int | None = None
    """Another number than the preset's."""
    learner: PPOConfig | ActorCriticConfig = _PPO


_ATTENTION = "training-attention"


def _agdc(meaning: str, reward: str) -> Method:
    """AGDC is a plain particle filter and a dense reward; which network it has is not printed."""
    return Method(meaning, reward, preset="plain", particles=1024)


METHODS: dict[str, Method] = {
    "att-pfrl": Method("1 for a stop; the filter with attention", preset=_ATTENTION),
    "pfrl": Method("1 for a stop; the same filter without attention"),
    "agdc-kld": _agdc("the information gained with each reading; plain particle filter", "information"),
    "agdc-ent": _agdc("the entropy lost with each reading; plain particle filter", "entropy"),
    "agdc-ee": _agdc("near to the mean and sure of it; plain particle filter", "expected-error"),
    "att-pfrl-r2": Method("the spread lost, and 1 for a stop", "contraction", preset=_ATTENTION),
    "att-pfrl-r3": Method("the entropy lost", "entropy", preset=_ATTENTION),
    "att-pfrl-right": Method("1 for a right stop, −1 for a false one", "right-stop", preset=_ATTENTION),
    "att-pfrl-paper": Method(
        "the paper's networks, learner and stop rule as printed",
        stop="contraction",
        sight="moments",
        preset=_ATTENTION,
        learner=ActorCriticConfig(),
    ),
}


@dataclass(frozen=True)
class TrainConfig:
    """A training run: a method, and what it is trained on."""

    method: str
    fields: tuple[str, ...] = tuple(MODALITIES)
    scenario: str = "id"
    steps: int = 20_000_000
    """Moves, over all searches."""
    num_searches: int = 8192
    """Searches under way at a time, shared out over the fields."""
    num_ticks: int = 16
    """Of a rollout."""
    seed: int = 0
    particles: int | None = None
    """Another number than the method's."""
    max_readings: int = MAX_READINGS

    def __post_init__(self) -> None:
        _require_known("method", [self.method], METHODS)
        _require_known("field", self.fields, MODALITIES)
        _require_known("scenario", [self.scenario], SCENARIOS)
        if not self.fields or len(set(self.fields)) < len(self.fields):
            raise ValueError(f"Fields are at least one, each once; got {', '.join(self.fields) or 'none'}.")
        for name, word in (("steps", "step"), ("num_ticks", "tick")):
            if getattr(self, name) < 1:
                raise ValueError(f"Training takes at least 1 {word}; got {getattr(self, name)}.")
        if self.num_searches < len(self.fields):
            raise ValueError(
                f"Training takes at least 1 search a field, here {len(self.fields)}; got {self.num_searches}."
            )
        if not 0 <= self.seed < _SEEDS:
            raise ValueError(f"A seed is a whole number from 0 to {_SEEDS - 1}; got {self.seed}.")
        if self.max_readings < 2:
            raise ValueError(f"A search has at least 2 readings; got {self.max_readings}.")
        if self.particles is not None:
            self.searches()

    @property
    def name(self) -> str:
        """Of the trained policy: the method, and the scenario unless it is the usual one."""
        return (
            self.method
            if self.scenario == "id"
            else f"{self.method}-{self.scenario.removesuffix('-training')}"
        )

    def settings(self) -> dict[str, Any]:
        """All that decides about the result, as JSON can hold it."""
        return asdict(self) | {"fields": list(self.fields), "choices": asdict(METHODS[self.method])}

    def searches(self) -> list[Search]:
        """The problems, one a field."""
        method = METHODS[self.method]
        _require_known("preset", [method.preset], PRESETS)
        preset = PRESETS[method.preset]
        num_particles = self.particles or method.particles
        if num_particles is not None:
            preset = preset.with_particles(num_particles)
        scenario = SCENARIOS[self.scenario]
        return [
            Search(benchmark_model(field), preset, scenario, max_readings=self.max_readings)
            for field in self.fields
        ]

    def learner(self) -> Learner:
        """The learner on all fields at once."""
        method, searches = METHODS[self.method], self.searches()
        shapes = seen_shapes(sight_of(method)(searches[0]), searches[0].model)
        runs = rollout.build(
            searches,
            sight_of(method),
            stop=STOPS[method.stop],
            reward=REWARDS[method.reward],
            num_searches=self.num_searches,
            num_ticks=self.num_ticks,
        )
        if isinstance(method.learner, ActorCriticConfig):
            return actor_critic.build(runs, lambda key: untrained(key, shapes), method.learner)
        return ppo.build(runs, lambda key: untrained(key, shapes), method.learner, total_steps=self.steps)


def sight_of(method: Method) -> Callable[[Search], Sight]:
    """What the network of a method sees of a search."""
    return lambda search: SIGHTS[method.sight](search.model, search.motion)


def _require_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    strange = [name for name in names if name not in known]
    if strange:
        raise ValueError(f"Unknown {what} {strange[0]!r}; known are {', '.join(known)}.")
