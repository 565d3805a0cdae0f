"""Policies: functions `(key, belief, station, candidates, budget) -> number of a candidate`."""

from dowsax.policies.base import Oracle, Policy, choose_best
from dowsax.policies.catalogue import POLICIES, policy, policy_named, policy_names
from dowsax.policies.encoders import Encoder, MomentEncoder, Observation, observation_shapes
from dowsax.policies.guarded import Guarded
from dowsax.policies.lookahead import Lookahead, Prediction
from dowsax.policies.networks import ActorCriticOutput, Network, PaperNetwork, SetNetwork, build_network
from dowsax.policies.neural import Neural
from dowsax.policies.particle_encoder import ParticleEncoder
from dowsax.policies.reactive import SurgeCast, Zigzag
from dowsax.policies.shipped import ENCODERS, pretrained_names
from dowsax.policies.simple import Greedy, OracleCircle, OracleStraight, Random, toward
from dowsax.policies.stored import Card, load, save

__all__ = [
    "ENCODERS",
    "POLICIES",
    "ActorCriticOutput",
    "Card",
    "Encoder",
    "Greedy",
    "Guarded",
    "Lookahead",
    "MomentEncoder",
    "Network",
    "Neural",
    "Observation",
    "Oracle",
    "OracleCircle",
    "OracleStraight",
    "PaperNetwork",
    "ParticleEncoder",
    "Policy",
    "Prediction",
    "Random",
    "SetNetwork",
    "SurgeCast",
    "Zigzag",
    "build_network",
    "choose_best",
    "load",
    "observation_shapes",
    "policy",
    "policy_named",
    "policy_names",
    "pretrained_names",
    "save",
    "toward",
]
