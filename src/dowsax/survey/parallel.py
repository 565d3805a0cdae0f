"""Run jobs in threads: compiling a filter uses one core, and a second filter can use another."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_in_parallel(*jobs: Callable[[], Any]) -> tuple[Any, ...]:
    """Return the result of each job, in their order, or raise the error of the first job that has one."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return tuple(future.result() for future in [pool.submit(job) for job in jobs])
