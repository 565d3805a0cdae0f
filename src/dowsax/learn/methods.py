"""The methods by name: what each is paid for, sees, learns by, and with which filter it is trained."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Array, Bool

from dowsax.envs import MAX_READINGS, REWARDS, SCENARIOS, Reward, Search, SearchState
from dowsax.envs.problem import STOPS
from dowsax.inference import PRESETS, Preset
from dowsax.learn import actor_critic, ppo, rollout
from dowsax.learn.actor_critic import ActorCriticConfig
from dowsax.learn.base import Learner
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout
from dowsax.policies.networks import untrained
from dowsax.policies.shipped import SIGHTS, seen_shapes
from dowsax.policies.sight import Sight
from dowsax.types import Key, Scalar
from dowsax.world import MODALITIES, benchmark_model

_SEEDS = 2**32
_PPO = PPOConfig()


@dataclass(frozen=True)
class Method:
    """A way to learn to search. The names are those of the layers below."""

    meaning: str
    reward: str = "indicator"
    reward_scale: float = 1.0
    """What the reward is multiplied by, so that returns are of about the size of one. Which policy is best
    does not depend on it; how well a network learns does."""
    stop: str = "credible"
    """The rule that ends searches in training."""
    sight: str = "particles"
    """What the network sees, and with it which network it is."""
    preset: str = "training"
    """The filter in training; it may be cheaper than the one that is used later."""
    particles: int | None = None
    """Another number than the preset's."""
    learner: PPOConfig | ActorCriticConfig = _PPO
    num_searches: int = 8192
    """Searches under way at a time, shared out over the fields."""
    num_ticks: int = 16
    """Of a rollout."""
    sample: bool = False
    """Moves are drawn also when the policy is used; otherwise the likeliest is made."""

    def paid(self) -> Reward:
        """The reward in its scale."""
        reward, scale = REWARDS[self.reward], self.reward_scale

        def scaled(
            search: Search, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
        ) -> Scalar:
            return scale * reward(search, before, after, stopped)

        return scaled


_ATTENTION = "training-attention"


# A search brings five nats, or narrows from 4 m. Expected errors of a third of the area add up as 1/(1 − γ).
_BY_FIVE, _EVERY_MOVE = 0.2, 0.01


def _agdc(meaning: str, reward: str, scale: float = _BY_FIVE) -> Method:
    """AGDC is a plain particle filter and a dense reward; which network it has is not printed."""
    return Method(meaning, reward, scale, preset="plain", particles=1024)


METHODS: dict[str, Method] = {
    "att-pfrl": Method("1 for a stop; the filter with attention", preset=_ATTENTION),
    "pfrl": Method("1 for a stop; the same filter without attention"),
    "agdc-kld": _agdc("the information gained with each reading; plain particle filter", "information"),
    "agdc-ent": _agdc("the entropy lost with each reading; plain particle filter", "entropy"),
    "agdc-ee": _agdc("near to the mean and sure of it; plain particle filter", "expected-error", _EVERY_MOVE),
    "att-pfrl-r2": Method("the spread lost, and 1 for a stop", "contraction", _BY_FIVE, preset=_ATTENTION),
    "att-pfrl-r3": Method("the entropy lost", "entropy", _BY_FIVE, preset=_ATTENTION),
    "att-pfrl-right": Method("1 for a right stop, −1 for a false one", "right-stop", preset=_ATTENTION),
    "att-pfrl-paper": Method(
        "the paper's networks, learner and stop rule as printed",
        stop="contraction",
        sight="moments",
        preset=_ATTENTION,
        learner=ActorCriticConfig(),
        # It makes one step a rollout.
        num_searches=1024,
        num_ticks=4,
        sample=True,
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
    num_searches: int | None = None
    """Another number than the method's."""
    num_ticks: int | None = None
    """Likewise."""
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
        num_searches, num_ticks = self.sizes
        for number, word in ((self.steps, "step"), (num_ticks, "tick")):
            if number < 1:
                raise ValueError(f"Training takes at least 1 {word}; got {number}.")
        if num_searches < len(self.fields):
            raise ValueError(
                f"Training takes at least 1 search a field, here {len(self.fields)}; got {num_searches}."
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
        endings = {"id": "", "ood-training": "-ood"}
        return self.method + endings.get(self.scenario, f"-on-{self.scenario}")

    @property
    def sizes(self) -> tuple[int, int]:
        """Searches under way at a time, and ticks of a rollout."""
        method, given = METHODS[self.method], (self.num_searches, self.num_ticks)
        usual = (method.num_searches, method.num_ticks)
        searches, ticks = (usual if own is None else own for own, usual in zip(given, usual, strict=True))
        return searches, ticks

    def settings(self) -> dict[str, Any]:
        """All that decides about the result, as JSON can hold it."""
        choices = asdict(METHODS[self.method])
        # Prose decides about nothing.
        del choices["meaning"]
        num_searches, num_ticks = self.sizes
        return asdict(self) | {
            "fields": list(self.fields),
            "num_searches": num_searches,
            "num_ticks": num_ticks,
            "choices": choices,
            "filter": repr(self.preset),
        }

    @property
    def preset(self) -> Preset:
        """The filter of training."""
        method = METHODS[self.method]
        _require_known("preset", [method.preset], PRESETS)
        num_particles = method.particles if self.particles is None else self.particles
        preset = PRESETS[method.preset]
        return preset if num_particles is None else preset.with_particles(num_particles)

    def searches(self) -> list[Search]:
        """The problems, one a field."""
        scenario = SCENARIOS[self.scenario]
        return [
            Search(benchmark_model(field), self.preset, scenario, max_readings=self.max_readings)
            for field in self.fields
        ]

    def rollout(self) -> Rollout:
        """Searches under way in all fields at once."""
        method = METHODS[self.method]
        num_searches, num_ticks = self.sizes
        return rollout.build(
            self.searches(),
            sight_of(method),
            stop=STOPS[method.stop],
            reward=method.paid(),
            num_searches=num_searches,
            num_ticks=num_ticks,
        )

    def untrained(self, key: Key) -> Any:
        """A network of the method with random weights."""
        search = self.searches()[0]
        return untrained(key, seen_shapes(sight_of(METHODS[self.method])(search), search.model))

    def learner(self) -> Learner:
        """The learner on all fields at once."""
        config = METHODS[self.method].learner
        if isinstance(config, ActorCriticConfig):
            return actor_critic.build(self.rollout(), self.untrained, config)
        return ppo.build(self.rollout(), self.untrained, config, total_steps=self.steps)


def sight_of(method: Method) -> Callable[[Search], Sight]:
    """What the network of a method sees of a search."""
    return lambda search: SIGHTS[method.sight](search.model, search.motion)


def _require_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    strange = [name for name in names if name not in known]
    if strange:
        raise ValueError(f"Unknown {what} {strange[0]!r}; known are {', '.join(known)}.")
