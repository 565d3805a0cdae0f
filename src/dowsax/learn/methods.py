"""The training methods by name: reward, encoder, learner, and filter in training."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from jaxtyping import Array, Bool

from dowsax.envs import MAX_READINGS, REWARDS, SCENARIOS, Reward, SearchProblem, SearchState
from dowsax.envs.task import STOPS
from dowsax.inference import PRESETS, Preset
from dowsax.learn import actor_critic, ppo, rollout
from dowsax.learn.actor_critic import ActorCriticConfig
from dowsax.learn.base import Learner
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout
from dowsax.policies.encoders import Encoder
from dowsax.policies.fingerprint import fingerprint
from dowsax.policies.networks import build_network
from dowsax.policies.shipped import CANDIDATES, build_encoder, observation_shapes
from dowsax.types import Key, Scalar
from dowsax.world import MODALITIES, PolicyMismatch, benchmark_model

_NUM_SEEDS = 2**32
_PPO = PPOConfig()


@dataclass(frozen=True)
class Method:
    """A training method. The names are those of the layers below."""

    meaning: str
    reward: str = "indicator"
    reward_scale: float = 1.0
    """Factor of the reward that brings returns to the size of one. The best policy does not depend on it; how
    well a network learns does."""
    stop: str = "credible"
    """The rule that ends searches in training."""
    encoder: str = "particles"
    """The observation, which also determines the network."""
    preset: str = "training"
    """The filter in training; it may be cheaper than the one that is used later."""
    learner: PPOConfig | ActorCriticConfig = _PPO
    num_searches: int = 8192
    """Searches in parallel, divided among the fields."""
    rollout_length: int = 16
    """Steps of a rollout."""
    sample: bool = False
    """Draw actions also after training; otherwise the most probable one is taken."""

    def scaled_reward(self) -> Reward:
        """Return the reward times its scale."""
        reward, scale = REWARDS[self.reward], self.reward_scale

        def scaled(
            search: SearchProblem, before: SearchState, after: SearchState, stopped: Bool[Array, ""]
        ) -> Scalar:
            return scale * reward(search, before, after, stopped)

        return scaled


_ATTENTION = "training-attention"


# A search gains about five nats, or narrows from 4 m. Expected errors of a third of the area accumulate as
# 1/(1 − γ).
_GAIN_SCALE, _ERROR_SCALE = 0.2, 0.01


def _agdc(meaning: str, reward: str, scale: float = _GAIN_SCALE) -> Method:
    """Return an AGDC method: a plain particle filter, a dense reward and the paper's stop rule.

    Our reading: neither its rewards nor its network are published.
    """
    return Method(meaning, reward, scale, stop="contraction", preset="plain")


PROBLEM_METHOD = "pfrl-candidates"
"""The default for problems of your own: none of its numbers depends on the field, the area or the moves."""
METHODS: dict[str, Method] = {
    "att-pfrl": Method("1 for a stop; the filter with attention", preset=_ATTENTION),
    "pfrl": Method("1 for a stop; the same filter without attention"),
    "agdc-kld": _agdc("the information gained with each reading; plain particle filter", "information"),
    "agdc-ent": _agdc("the entropy lost with each reading; plain particle filter", "entropy"),
    "agdc-ee": _agdc(
        "near to the mean and sure of it; plain particle filter", "expected-error", _ERROR_SCALE
    ),
    "att-pfrl-r2": Method("the spread lost, and 1 for a stop", "contraction", _GAIN_SCALE, preset=_ATTENTION),
    "att-pfrl-r3": Method("the entropy lost", "entropy", _GAIN_SCALE, preset=_ATTENTION),
    "att-pfrl-right": Method("1 for a right stop, −1 for a false one", "right-stop", preset=_ATTENTION),
    "att-pfrl-paper": Method(
        "the paper's filter, networks, learner and stop rule as printed",
        stop="contraction",
        encoder="moments",
        preset="paper",
        learner=ActorCriticConfig(),
        # It makes one gradient step per rollout.
        num_searches=1024,
        rollout_length=4,
        sample=True,
    ),
    PROBLEM_METHOD: Method(
        "1 for a stop; a network that scores the candidates of any problem", encoder=CANDIDATES
    ),
}


@dataclass(frozen=True)
class TrainConfig:
    """The settings of a training run."""

    method: str
    fields: tuple[str, ...] = tuple(MODALITIES)
    scenario: str = "id"
    steps: int = 20_000_000
    """Total number of moves."""
    num_searches: int | None = None
    """Default: the method's."""
    rollout_length: int | None = None
    """Default: the method's."""
    seed: int = 0
    preset: str | None = None
    """The filter in training, by name. Default: the method's."""
    particles: int | None = None
    """Default: the preset's."""
    max_readings: int = MAX_READINGS
    problem: SearchProblem | None = None
    """A problem of your own, see `for_problem`. Its stop rule ends searches in training."""

    @classmethod
    def for_problem(
        cls, problem: SearchProblem, name: str = "problem", method: str = PROBLEM_METHOD, **settings: Any
    ) -> "TrainConfig":
        """Return the settings of a run on one problem, whose name stands in place of a field and a scenario.

        By default filter and number of readings are those of the problem; `settings` are the other fields.
        """
        settings = {"max_readings": problem.max_readings} | settings
        return cls(method, (name,), name, problem=problem, **settings)

    def __post_init__(self) -> None:
        _require_known("method", [self.method], METHODS)
        if self.problem is None:
            _require_known("field", self.fields, MODALITIES)
            _require_known("scenario", [self.scenario], SCENARIOS)
        elif self.fields != (self.scenario,):
            raise ValueError("A problem has one name: build the settings with `TrainConfig.for_problem`.")
        if self.preset is not None:
            _require_known("preset", [self.preset], PRESETS)
        if not self.fields or len(set(self.fields)) < len(self.fields):
            raise ValueError(
                f"There must be at least one field, each only once; got {', '.join(self.fields) or 'none'}."
            )
        num_searches, rollout_length = self.sizes
        for number, word in ((self.steps, "step"), (rollout_length, "step of a rollout")):
            if number < 1:
                raise ValueError(f"Training needs at least 1 {word}; got {number}.")
        if num_searches < len(self.fields):
            raise ValueError(
                f"Training needs at least 1 search per field, here {len(self.fields)}; got {num_searches}."
            )
        if not 0 <= self.seed < _NUM_SEEDS:
            raise ValueError(f"`seed` must be from 0 to {_NUM_SEEDS - 1}; got {self.seed}.")
        if self.max_readings < 2:
            raise ValueError(f"`max_readings` must be at least 2; got {self.max_readings}.")
        if self.particles is not None:
            self.searches()

    @property
    def name(self) -> str:
        """The name of the trained policy: the method, and filter and scenario if they are not the usual."""
        usual = self.preset_name == self._usual_preset
        endings = {"id": "", "ood-training": "-ood"}
        return (
            self.method
            + ("" if usual else f"-with-{self.preset_name}")
            + endings.get(self.scenario, f"-on-{self.scenario}")
        )

    @property
    def preset_name(self) -> str:
        """The name of the filter in training."""
        return self._usual_preset if self.preset is None else self.preset

    @property
    def _usual_preset(self) -> str:
        return METHODS[self.method].preset if self.problem is None else "own"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the problem, for the card; empty for fields of the benchmark."""
        return "" if self.problem is None else fingerprint(self.problem.model, self.problem.actions)

    @property
    def sizes(self) -> tuple[int, int]:
        """Searches in parallel, and steps of a rollout."""
        method, given = METHODS[self.method], (self.num_searches, self.rollout_length)
        usual = (method.num_searches, method.rollout_length)
        searches, length = (usual if own is None else own for own, usual in zip(given, usual, strict=True))
        return searches, length

    def settings(self) -> dict[str, Any]:
        """Return all settings that determine the result, as JSON."""
        choices = asdict(METHODS[self.method])
        del choices["meaning"], choices["preset"]
        num_searches, rollout_length = self.sizes
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "problem"}
        if self.problem is not None:
            values |= {"problem": self.fingerprint, "stop": repr(self.problem.stop)}
        return values | {
            "fields": list(self.fields),
            "num_searches": num_searches,
            "rollout_length": rollout_length,
            "preset": self.preset_name,
            "choices": choices,
            "filter": repr(self.filter),
        }

    @property
    def filter(self) -> Preset:
        """The filter in training."""
        own = self.problem if self.preset is None else None
        preset = PRESETS[self.preset_name] if own is None else own.preset
        return preset if self.particles is None else preset.with_particles(self.particles)

    def searches(self) -> list[SearchProblem]:
        """Return the search of each field, or the problem."""
        if self.problem is not None:
            return [replace(self.problem, preset=self.filter, max_readings=self.max_readings)]
        scenario = SCENARIOS[self.scenario]
        return [
            SearchProblem(benchmark_model(field), self.filter, scenario, max_readings=self.max_readings)
            for field in self.fields
        ]

    def rollout(self) -> Rollout:
        """Build the rollouts over all fields."""
        method = METHODS[self.method]
        num_searches, rollout_length = self.sizes
        return rollout.build(
            self.searches(),
            encoder_for(method),
            stop=STOPS[method.stop] if self.problem is None else self.problem.stop,
            reward=method.scaled_reward(),
            num_searches=num_searches,
            rollout_length=rollout_length,
        )

    def build_network(self, key: Key) -> Any:
        """Build a network of the method with random weights."""
        search = self.searches()[0]
        encoder = encoder_for(METHODS[self.method])(search)
        return build_network(key, observation_shapes(encoder, search.model, search.actions))

    def learner(self) -> Learner:
        """Build the learner over all fields; raise a PolicyMismatch where the method does not fit them."""
        config = METHODS[self.method].learner
        try:
            rollouts = self.rollout()
        except PolicyMismatch as mismatch:
            raise PolicyMismatch(mismatch.needs, f"The method {self.method!r}") from None
        if isinstance(config, ActorCriticConfig):
            return actor_critic.build(rollouts, self.build_network, config)
        return ppo.build(rollouts, self.build_network, config, total_steps=self.steps)


def encoder_for(method: Method) -> Callable[[SearchProblem], Encoder]:
    """Return the function from a search to the encoder of a method."""
    return lambda search: build_encoder(
        method.encoder, search.model, search.actions, search.success_radius, {}
    )


def _require_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    strange = [name for name in names if name not in known]
    if strange:
        raise ValueError(f"Unknown {what} {strange[0]!r}; known are {', '.join(known)}.")
