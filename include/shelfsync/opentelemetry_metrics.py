"""Numbers to an OpenTelemetry collector, by OTLP over HTTP: from the command line and the webhook receiver, which have no Airflow around them."""

from __future__ import annotations

import logging
import threading
from typing import Any

log = logging.getLogger(__name__)

EACH_S = 15.0
"""The numbers of so many seconds leave together; the rest at the end of the process."""
TIMEOUT_S = 5.0
"""So long a collector that does not answer is waited for; at the end of the process, too."""
_PATH = "/v1/metrics"
_LIBRARY = "opentelemetry"


class OpenTelemetry:
    """Counters and timers leave as what was added since the last time, because a command ends after some seconds.

    One chain of several is in the attribute `chain`. `address`: of the collector, with or without the path of metrics. Numbers that the
    collector does not take are lost, and the first time is a warning.
    """

    def __init__(self, address: str, prefix: str, chain: str | None = None) -> None:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource

        logging.getLogger(_LIBRARY).setLevel(logging.CRITICAL)  # it repeats each failure, with the whole answer
        reader = PeriodicExportingMetricReader(
            _exporter(address), export_interval_millis=EACH_S * 1000, export_timeout_millis=TIMEOUT_S * 1000
        )
        self._provider = MeterProvider([reader], resource=Resource.create({"service.name": prefix}))
        self._meter = self._provider.get_meter("shelfsync")
        self._prefix = prefix
        self._attributes = {} if chain is None else {"chain": chain}
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}

    def count(self, name: str, by: int) -> None:
        self._of(self._meter.create_counter, name).add(by, self._attributes)

    def gauge(self, name: str, value: float) -> None:
        self._of(self._meter.create_gauge, name).set(value, self._attributes)

    def timing(self, name: str, seconds: float) -> None:
        self._of(self._meter.create_histogram, name, unit="s").record(seconds, self._attributes)

    def close(self) -> None:
        """Sends what is left. Without it the end of the process does."""
        self._provider.shutdown(timeout_millis=TIMEOUT_S * 1000)

    def _of(self, create: Any, name: str, **more: str) -> Any:
        with self._lock:
            if name not in self._known:
                self._known[name] = create(f"{self._prefix}.{name}", **more)
            return self._known[name]


def _exporter(address: str) -> Any:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import Counter, Histogram
    from opentelemetry.sdk.metrics.export import AggregationTemporality, MetricExportResult

    class Exporter(OTLPMetricExporter):
        warned = False

        def export(self, *given: Any, **more: Any) -> MetricExportResult:
            result = super().export(*given, **more)
            if result is not MetricExportResult.SUCCESS and not self.warned:
                self.warned = True
                log.warning(
                    "SHELFSYNC_METRICS__OTLP: the collector takes no numbers. They are lost until it does; if this repeats, correct the address"
                )
            return result

    address = address.rstrip("/")
    delta: dict[type, AggregationTemporality] = {
        Counter: AggregationTemporality.DELTA,
        Histogram: AggregationTemporality.DELTA,
    }
    endpoint = address if address.endswith(_PATH) else f"{address}{_PATH}"
    return Exporter(endpoint=endpoint, timeout=TIMEOUT_S, preferred_temporality=delta)
