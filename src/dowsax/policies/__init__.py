"""Ways to act on a belief: every policy is `(key, belief, station) -> action`."""

from dowsax.policies.base import Informed, Policy, best
from dowsax.policies.catalogue import POLICIES, policy, policy_named, policy_names
from dowsax.policies.guarded import Guarded
from dowsax.policies.lookahead import Lookahead, Outlook
from dowsax.policies.networks import Judgement, Network, PaperNetwork, SetNetwork, untrained
from dowsax.policies.neural import Neural
from dowsax.policies.particle_sight import Particles
from dowsax.policies.reactive import SurgeCast, Zigzag
from dowsax.policies.shipped import SIGHTS, known
from dowsax.policies.sight import Moments, Seen, Sight, seen_shapes
from dowsax.policies.simple import Circle, Greedy, Random, Straight, toward
from dowsax.policies.stored import Card, load, save

__all__ = [
    "POLICIES",
    "SIGHTS",
    "Card",
    "Circle",
    "Greedy",
    "Guarded",
    "Informed",
    "Judgement",
    "Lookahead",
    "Moments",
    "Network",
    "Neural",
    "Outlook",
    "PaperNetwork",
    "Particles",
    "Policy",
    "Random",
    "Seen",
    "SetNetwork",
    "Sight",
    "Straight",
    "SurgeCast",
    "Zigzag",
    "best",
    "known",
    "load",
    "policy",
    "policy_named",
    "policy_names",
    "save",
    "seen_shapes",
    "toward",
    "untrained",
]
