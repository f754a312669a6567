"""The same fuzzing twice: a few examples in every run of the tests, and a minute of ever new ones where time is no matter."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, seed, settings

if TYPE_CHECKING:
    from collections.abc import Callable

MINUTE_S = float(os.environ.get("FUZZ_S") or 60)
"""`make fuzz SECONDS=360` makes it longer."""
CHECKS_OFF = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
BRIEFLY = settings(max_examples=45, deadline=None, suppress_health_check=CHECKS_OFF)


def for_a_minute(check: Callable[..., Any], *fixtures: Any) -> int:
    """Runs a `@given` test, each time with new examples, until the minute is over; how many rounds."""
    rounds, until_s = 0, time.monotonic() + MINUTE_S
    while time.monotonic() < until_s:
        seed(time.time_ns())(check)
        check(*fixtures)
        rounds += 1
    return rounds
