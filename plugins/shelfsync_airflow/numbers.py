"""shelfsync's numbers in Airflow's own metrics: by `[metrics]` of its configuration, StatsD, OpenTelemetry or Datadog."""

from __future__ import annotations

import datetime as dt
import os
from typing import Any

from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

PREFIX = "shelfsync"


class AirflowMetrics:
    """A sink on a separate logger from Airflow's configuration; one for each process, also after a fork."""

    def __init__(self) -> None:
        self._made: tuple[int, Any] | None = None

    def count(self, name: str, by: int) -> None:
        self._logger().incr(f"{PREFIX}.{name}", by)

    def gauge(self, name: str, value: float) -> None:
        self._logger().gauge(f"{PREFIX}.{name}", value)

    def timing(self, name: str, seconds: float) -> None:
        self._logger().timing(f"{PREFIX}.{name}", dt.timedelta(seconds=seconds))

    def _logger(self) -> Any:
        process = os.getpid()
        if self._made is None or self._made[0] != process:
            self._made = (process, get_stats_factory()())
        return self._made[1]
