"""Numbers for a monitoring system: counters, gauges and timers by dotted names that begin with the step's word.

The steps only report numbers. The process decides where they go: Airflow's own metrics inside Airflow, StatsD elsewhere, nowhere by
default. A number that cannot be delivered never disturbs the work.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


class Sink(Protocol):
    """Where numbers go."""

    def count(self, name: str, by: int) -> None:
        """So many more."""

    def gauge(self, name: str, value: float) -> None:
        """So much now."""

    def timing(self, name: str, seconds: float) -> None:
        """It took so long."""


class Statsd:
    """A StatsD server by UDP. If it does not receive a number, the number is lost; no caller waits."""

    def __init__(self, address: str, prefix: str) -> None:
        from statsd import StatsClient

        host, _, port = address.rpartition(":")
        try:
            self._client = StatsClient(host, int(port), prefix=prefix)
        except (ValueError, OSError) as error:
            raise ConfigurationError(
                "SHELFSYNC_METRICS__STATSD", f"{address!r} cannot be sent to: {error}", "Write HOST:PORT."
            ) from None

    def count(self, name: str, by: int) -> None:
        self._client.incr(name, by)

    def gauge(self, name: str, value: float) -> None:
        self._client.gauge(name, value)

    def timing(self, name: str, seconds: float) -> None:
        self._client.timing(name, seconds * 1000)

    def close(self) -> None:
        """Gives the socket back."""
        self._client.close()


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
