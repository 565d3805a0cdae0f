"""Walks that many tests look at, made once."""

import pytest


@pytest.fixture(scope="session")
def search():
    """Temperature, sources from the prior, a bootstrap filter."""
    # Imported late: the checks of shapes must be installed first.
    from walks import search_for

    return search_for()


@pytest.fixture(scope="session")
def first_states(search):
    """Searches after their first reading."""
    from walks import NUM_WALKS, first_state

    return [first_state(search, number) for number in range(NUM_WALKS)]


@pytest.fixture(scope="session")
def strolls(search, first_states):
    """A walk from each, ended by no rule."""
    from walks import NEVER, walks

    return walks(search, NEVER, first_states)
