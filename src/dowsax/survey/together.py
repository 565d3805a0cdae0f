"""Work that is mostly the compiler's, side by side: it takes one core at a time, and there are others."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def together(*jobs: Callable[[], Any]) -> tuple[Any, ...]:
    """What each of the jobs gives, in their order; an error of the first that has one."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return tuple(future.result() for future in [pool.submit(job) for job in jobs])
