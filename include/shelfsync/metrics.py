"""Numbers for a monitoring system: counters, gauges and timers by dotted names that begin with the step's word.

The steps only report numbers. The process decides where they go: Airflow's own metrics inside Airflow, an OpenTelemetry collector or StatsD
elsewhere, nowhere by default. A number that cannot be delivered never disturbs the work.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
from typing import TYPE_CHECKING, Any, Protocol

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from statsd import StatsClient

log = logging.getLogger(__name__)

PROMETHEUS_TEXT = "text/plain; version=0.0.4"
RESOLVE_AGAIN_S = 60.0
"""Time between two attempts to resolve the name of the StatsD server."""


class Sink(Protocol):
    """Where numbers go."""

    def count(self, name: str, by: int) -> None:
        """So many more."""

    def gauge(self, name: str, value: float) -> None:
        """So much now."""

    def timing(self, name: str, seconds: float) -> None:
        """It took so long."""


class Statsd:
    """A StatsD server by UDP. If it does not receive a number, the number is lost; no caller waits.

    The same holds while its name cannot be resolved: a monitoring system that is away keeps no command and no receiver from starting.
    """

    def __init__(self, address: str, prefix: str) -> None:
        from statsd import StatsClient

        host, _, port = address.rpartition(":")
        self._client: StatsClient | None = None
        self._closed = threading.Event()
        try:
            connect = functools.partial(StatsClient, host, int(port), prefix=prefix)
            self._client = connect()
        except ValueError as error:
            raise ConfigurationError(
                "SHELFSYNC_METRICS__STATSD", f"{address!r} cannot be sent to: {error}", "Write HOST:PORT."
            ) from None
        except OSError as error:
            log.warning(
                "SHELFSYNC_METRICS__STATSD: %r cannot be sent to: %s. No number is sent until it can be; if this repeats, correct the name",
                address,
                error,
            )
            threading.Thread(target=self._connect_later, args=(connect,), name="statsd", daemon=True).start()

    @property
    def is_connected(self) -> bool:
        """Whether numbers are sent."""
        return self._client is not None

    def count(self, name: str, by: int) -> None:
        if self._client is not None:
            self._client.incr(name, by)

    def gauge(self, name: str, value: float) -> None:
        if self._client is not None:
            self._client.gauge(name, value)

    def timing(self, name: str, seconds: float) -> None:
        if self._client is not None:
            self._client.timing(name, seconds * 1000)

    def close(self) -> None:
        """Gives the socket back."""
        self._closed.set()
        if self._client is not None:
            self._client.close()

    def _connect_later(self, connect: Callable[[], StatsClient]) -> None:
        while not self._closed.wait(RESOLVE_AGAIN_S):
            try:
                self._client = connect()
            except OSError as error:
                log.debug("metrics: not connected: %s", error)
            else:
                return


class Prometheus:
    """Keeps the numbers of this process, and writes them as Prometheus reads them: `alerts.open` is PREFIX_alerts_open.

    One chain of several has its name in the label `chain`, so that one rule serves all of them.
    """

    def __init__(self, prefix: str, chain: str | None = None) -> None:
        import prometheus_client

        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._library = prometheus_client
        self._prefix = prefix
        self._labels = {} if chain is None else {"chain": chain}
        self._registry = prometheus_client.CollectorRegistry()
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}

    def count(self, name: str, by: int) -> None:
        self._of(self._library.Counter, name).inc(by)

    def gauge(self, name: str, value: float) -> None:
        self._of(self._library.Gauge, name).set(value)

    def timing(self, name: str, seconds: float) -> None:
        self._of(self._library.Summary, f"{name}_seconds").observe(seconds)

    def text(self) -> str:
        """All of them, as `PROMETHEUS_TEXT`."""
        text: bytes = self._library.generate_latest(self._registry)
        return text.decode()

    def values(self) -> dict[str, float]:
        """The same as numbers by name."""
        return {sample.name: sample.value for family in self._registry.collect() for sample in family.samples}

    def _of(self, kind: Any, name: str) -> Any:
        with self._lock:
            if name not in self._known:
                full = prometheus_name(self._prefix, name)
                family = kind(full, name, labelnames=tuple(self._labels), registry=self._registry)
                self._known[name] = family.labels(**self._labels) if self._labels else family
            return self._known[name]


def statsd_prefix(prefix: str, chain: str | None) -> str:
    """What stands before each name that goes to a StatsD server: without the chain in it, the gauges of one would hide those of another."""
    return prefix if chain is None else f"{prefix}.{chain}"


def prometheus_name(prefix: str, name: str) -> str:
    """A name as Prometheus takes it; a StatsD exporter writes it in the same way."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", f"{prefix}.{name}")


class Several:
    """Numbers go to each of these. One that fails disturbs no other."""

    def __init__(self, *sinks: Sink) -> None:
        self._sinks = sinks

    def count(self, name: str, by: int) -> None:
        self._each(lambda sink: sink.count(name, by))

    def gauge(self, name: str, value: float) -> None:
        self._each(lambda sink: sink.gauge(name, value))

    def timing(self, name: str, seconds: float) -> None:
        self._each(lambda sink: sink.timing(name, seconds))

    def _each(self, send: Callable[[Sink], None]) -> None:
        for sink in self._sinks:
            try:
                send(sink)
            except Exception as error:  # noqa: BLE001  as in _deliver
                log.debug("metrics: not delivered: %s", error)


def sinks(*, otlp: str | None, statsd: str | None, prefix: str, chain: str | None) -> list[Sink]:
    """Where the command line and the receiver send their numbers: to each of these addresses. `chain`: one of several."""
    found: list[Sink] = []
    if otlp is not None:
        from shelfsync.opentelemetry_metrics import OpenTelemetry

        found.append(OpenTelemetry(otlp, prefix, chain))
    if statsd is not None:
        found.append(Statsd(statsd, statsd_prefix(prefix, chain)))
    return found


_sink: Sink | None = None


def use(sink: Sink | None) -> None:
    """From now on numbers of this process go there; None: nowhere."""
    global _sink  # noqa: PLW0603  one for a process, as for logging
    _sink = sink


def listened_to() -> bool:
    """Whether numbers go anywhere: if not, the caller saves the query that computes them."""
    return _sink is not None


def count(name: str, by: int = 1) -> None:
    """So many more of this."""
    if by:
        _deliver(lambda sink: sink.count(name, by))


def gauge(name: str, value: float) -> None:
    """So much of this now."""
    _deliver(lambda sink: sink.gauge(name, value))


def timing(name: str, seconds: float) -> None:
    """This took so long."""
    _deliver(lambda sink: sink.timing(name, seconds))


def _deliver(send: Callable[[Sink], None]) -> None:
    if _sink is None:
        return
    try:
        send(_sink)
    except Exception as error:  # noqa: BLE001  whatever a sink has, the work goes on
        log.debug("metrics: not delivered: %s", error)
