"""Olfactory search: the exact belief on the grid, what may come of each move, and many searches side by side.

The source is not drawn: a search goes on until it would have found the source wherever that is, and hits are
drawn from what the belief predicts. So the mean time to find is the sum of the probabilities of not having
found it yet, the tail included. What is written for one search is batched by `jax.vmap`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.leaderboards.otto import Case
from dowsax.types import Key, Scalar

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
DONE = 1e-6
"""A search ends when the source would have been found but for this probability."""
MAX_TO_AND_FRO = 8
"""Steps to and fro in turn, more of which end a search in a case in which it may get stuck."""
LEAST = float(np.finfo(np.float32).tiny)
"""Above zero in both precisions, to divide by."""
_TINY = 1e-10
_CHUNK = 32
"""Steps in one call of the compiled program."""
_SHRINK = 8
"""A batch is made smaller by this factor when so few searches are left."""
_SMALLEST = 32
"""Searches, of a batch that is made smaller: each size is compiled by itself."""

Belief = Float[Array, "nx ny"]
Place = Int[Array, "2"]


class After(eqx.Module):
    """What may come of each move."""

    possible: Bool[Array, " moves"]
    """Whether the move stays on the grid."""
    places: Int[Array, "moves 2"]
    joint: Float[Array, "moves hits nx ny"]
    """The probability of each reading and cell of the source; what is missing to 1 is that it is found."""


Policy = Callable[[Case, Belief, Place, After], Float[Array, " moves"]]
"""Returns what each move costs; the smallest is chosen, and of equal ones the first."""


def evidence(case: Case, place: Place) -> Float[Array, "hits nx ny"]:
    """Return the likelihood of every reading at a place by the cell of the source; 0 for a source there."""
    width, height = case.shape
    first = (0, width - 1 - place[0], height - 1 - place[1])
    return jax.lax.dynamic_slice(jnp.asarray(case.table, float), first, (case.num_hits, width, height))


def look_ahead(case: Case, belief: Belief, place: Place) -> After:
    """Return what may come of each move."""
    there = place[None] + jnp.array(MOVES)
    limits = jnp.array(case.shape)[None] - 1
    possible = jnp.all((there >= 0) & (there <= limits), axis=1)
    there = jnp.clip(there, 0, limits)
    joint = belief[None, None] * jax.vmap(partial(evidence, case))(there)
    return After(possible, there, joint)


class Search(eqx.Module):
    """One search under way."""

    belief: Belief
    place: Place
    before: Place
    """The place before the last step."""
    steps: Int[Array, ""]
    to_and_fro: Int[Array, ""]
    """Steps in turn that went back to where the search came from."""
    not_found: Scalar
    """The probability that the source is not found yet."""
    mean: Scalar
    """The mean steps to find the source, as far as this is known."""
    running: Bool[Array, ""]
    failed: Bool[Array, ""]


def begin(key: Key, case: Case) -> Search:
    """Return a search before its first step: the source is anywhere else, and hits were read."""
    place, no = jnp.array(case.start), jnp.zeros((), bool)
    hits = jax.random.choice(key, case.num_hits, p=jnp.asarray(case.first_hits, float))
    belief = evidence(case, place)[hits]
    belief, zero = belief / belief.sum(), jnp.zeros((), int)
    return Search(belief, place, place - 1, zero, zero, jnp.ones(()), jnp.zeros(()), ~no, no)


def step(key: Key, case: Case, search: Search, after: After, move: Int[Array, ""]) -> Search:
    """Return the search after a move and a reading that the belief predicts; one that has ended stays."""
    joint, place = after.joint[move], after.places[move]
    chances = joint.sum(axis=(1, 2))
    goes_on = chances.sum()
    hits = jnp.argmax(jnp.cumsum(chances) > jax.random.uniform(key) * goes_on)
    is_back = (search.steps > 0) & jnp.all(place == search.before)
    to_and_fro = jnp.where(is_back, search.to_and_fro + 1, 0)
    not_found, steps = search.not_found * goes_on, search.steps + 1
    is_done = (not_found < DONE) | (goes_on < _TINY)
    is_stuck = (case.may_get_stuck & (to_and_fro > MAX_TO_AND_FRO)) | (steps >= case.max_steps)
    stepped = Search(
        belief=joint[hits] / jnp.maximum(chances[hits], LEAST),
        place=place,
        before=search.place,
        steps=steps,
        to_and_fro=to_and_fro,
        not_found=not_found,
        mean=search.mean + search.not_found,
        running=~is_done & ~is_stuck,
        failed=is_stuck & ~is_done,
    )
    return jax.tree.map(lambda new, old: jnp.where(search.running, new, old), stepped, search)


@dataclass(frozen=True)
class Searches:
    """What came of many searches."""

    means: Float[np.ndarray, " n"]
    """The mean steps to find the source, in each."""
    failed: np.ndarray
    """(n,), whether it did not end with the source found."""


def search(
    key: Key, case: Case, policy: Policy, searches: int, advance: Callable[[int], None] = lambda number: None
) -> Searches:
    """Run searches side by side; `advance` is called with the number of those that have ended.

    Each has its own key, so that what comes of it does not depend on the others.
    """
    keys = jax.random.split(key, searches)
    states = _begin(keys, case)
    numbers, means, failed = np.arange(searches), np.zeros(searches), np.zeros(searches, bool)
    while True:
        was_running = np.asarray(states.running).sum()
        states = _proceed(keys, case, policy, states)
        running = np.asarray(states.running)
        means[numbers], failed[numbers] = states.mean, states.failed
        advance(int(was_running - running.sum()))
        if not running.any():
            return Searches(means, failed)
        size = max(len(running) // _SHRINK, _SMALLEST)
        if running.sum() <= size < len(running):
            left = np.argsort(~running, stable=True)[:size]
            numbers, keys = numbers[left], keys[left]
            states = jax.tree.map(lambda leaf, left=left: leaf[left], states)


@eqx.filter_jit
def _begin(keys: Array, case: Case) -> Search:
    return jax.vmap(lambda key: begin(jax.random.fold_in(key, 0), case))(keys)


@eqx.filter_jit
def _proceed(keys: Array, case: Case, policy: Policy, states: Search) -> Search:
    """Return the searches some steps later."""

    def one(key: Key, state: Search) -> Search:
        after = look_ahead(case, state.belief, state.place)
        costs = jnp.where(after.possible, policy(case, state.belief, state.place, after), jnp.inf)
        step_key = jax.random.fold_in(key, 1 + state.steps)
        return step(step_key, case, state, after, jnp.argmin(costs))

    return jax.lax.fori_loop(0, _CHUNK, lambda _, states: jax.vmap(one)(keys, states), states)
