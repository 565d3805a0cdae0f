"""Wall and CPU time of a call, and many of them in few numbers."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Timing(NamedTuple):
    """Seconds of one call. CPU time is summed over the threads of this process."""

    wall: float
    cpu: float


def timed(call: Callable[[], object]) -> Timing:
    """Time one call, which must not return before its work is done."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu)


def summarise(timings: Sequence[Timing], divisor: float = 1.0) -> dict[str, float]:
    """Medians and 90th percentiles [ms], each divided by `divisor`, for example the number of readings."""
    table = 1000 * np.asarray(timings) / divisor
    middle, high = np.quantile(table, 0.5, axis=0), np.quantile(table, 0.9, axis=0)
    return {
        "wall_ms": float(middle[0]),
        "wall_ms_p90": float(high[0]),
        "cpu_ms": float(middle[1]),
        "cpu_ms_p90": float(high[1]),
        "runs": len(timings),
    }
