"""Choices among the benchmark's four moves, without a limit."""

from dowsax.world import FOUR_MOVES, Budget


def act(policy, key, belief, station, actions=FOUR_MOVES):
    """The number of the move that a policy chooses."""
    return policy(key, *inputs(belief, station, actions))


def inputs(belief, station, actions=FOUR_MOVES):
    """What a policy and an encoder take after a key."""
    return belief, station, actions.candidates(station.position, Budget()), Budget()


def utilities(planner, key, belief, station, actions=FOUR_MOVES):
    """The expected utilities of the moves, as the planner has them."""
    return planner.expected_utilities(key, belief, station, actions.candidates(station.position, Budget()))
