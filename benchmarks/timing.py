"""Wall and CPU time of a call, and many of them in few numbers.

Compilation is no part of a warm time: programs made while the clock runs are counted, so that it can be seen.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

_COMPILED = "/jax/core/compile/backend_compile_duration"
_compilations: list[float] = []


def _note(event: str, seconds: float, **_: object) -> None:
    if event == _COMPILED:
        _compilations.append(seconds)


jax.monitoring.register_event_duration_secs_listener(_note)


class Timing(NamedTuple):
    """Seconds of one call. CPU time is summed over the threads of this process."""

    wall: float
    cpu: float
    compiled: int
    """Programs compiled, or taken from the cache, meanwhile."""


def timed(call: Callable[[], object]) -> Timing:
    """Time one call, which must not return before its work is done."""
    compiled, wall, cpu = len(_compilations), time.perf_counter(), time.process_time()
    call()
    spent = time.perf_counter() - wall, time.process_time() - cpu
    return Timing(*spent, len(_compilations) - compiled)


def summarise(timings: Sequence[Timing], divisor: float = 1.0) -> dict[str, float]:
    """Medians and 90th percentiles [ms], each divided by `divisor`, for example the number of readings."""
    table = 1000 * np.asarray([timing[:2] for timing in timings]) / divisor
    middle, high = np.quantile(table, 0.5, axis=0), np.quantile(table, 0.9, axis=0)
    return {
        "wall_ms": float(middle[0]),
        "wall_ms_p90": float(high[0]),
        "cpu_ms": float(middle[1]),
        "cpu_ms_p90": float(high[1]),
        "runs": len(timings),
        "compiled": sum(timing.compiled for timing in timings),
    }
