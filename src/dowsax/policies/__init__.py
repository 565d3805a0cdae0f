"""Ways to act on a belief: every policy is `(key, belief, station) -> action`."""

from dowsax.policies.base import Informed, Policy, best
from dowsax.policies.catalogue import POLICIES, policy_named
from dowsax.policies.lookahead import Lookahead, Outlook
from dowsax.policies.reactive import SurgeCast, Zigzag
from dowsax.policies.simple import Greedy, Random, Straight, toward

__all__ = [
    "POLICIES",
    "Greedy",
    "Informed",
    "Lookahead",
    "Outlook",
    "Policy",
    "Random",
    "Straight",
    "SurgeCast",
    "Zigzag",
    "best",
    "policy_named",
    "toward",
]
