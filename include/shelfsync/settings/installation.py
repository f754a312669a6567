"""This installation: what `make up` runs, the receiver of events, metrics, and retention."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator
from pydantic.networks import IPvAnyNetwork  # noqa: TC002
from pydantic_settings import NoDecode

from shelfsync import metrics
from shelfsync.errors import ConfigurationError
from shelfsync.settings.section import Section, SharedSecret, WebAddress, items


class LocalSettings(Section):
    """The local stack: which DAGs it switches on, and the simulated stores and customers beside the sandbox."""

    paused_dags: Annotated[tuple[str, ...], NoDecode] = ()
    """DAG ids that `make up` pauses. Its first start switches every other DAG on. Later ones switch on only what an earlier value of this setting paused."""
    picking_delay_s: float = Field(10.0, ge=0)
    """Seconds between an order that a store takes and the picking result of the sample's store hub."""
    customer_interval_s: float = Field(120.0, ge=0)
    """Seconds between two orders of customers in the sandbox while `make up` runs; 0: no orders."""
    customer_orders_max: int = Field(500, ge=0)
    """Largest number of customers' orders since the start."""

    _split = field_validator("paused_dags", mode="before")(items)


class MetricsSettings(Section):
    """Metrics of the command line and the webhook receiver; inside Airflow its own `[metrics]` section decides."""

    otlp: WebAddress | None = None
    """Address of an OpenTelemetry collector (OTLP over HTTP); unset: it gets no metrics. Headers: OTEL_EXPORTER_OTLP_HEADERS, as the library reads it."""
    statsd: str | None = None
    """HOST:PORT of a StatsD server (UDP); unset: it gets no metrics."""
    prefix: str = Field("shelfsync", min_length=1)
    """First part of every metric's name."""
    readers: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(items)] = ()
    """Addresses or networks that may read /metrics of the webhook receiver, such as that of Prometheus; empty: there is no such page. Never name the proxy."""

    def sinks(self, chain: str | None) -> list[metrics.Sink]:
        """Where these settings send numbers. `chain`: one of several."""
        otlp = None if self.otlp is None else self.otlp.get_secret_value()
        return metrics.sinks(otlp=otlp, statsd=self.statsd, prefix=self.prefix, chain=chain)


class HousekeepingSettings(Section):
    """Retention, in days. Housekeeping never removes what a later step still needs."""

    run_days: float = Field(30, gt=0)
    """Catalog runs with their deltas, requests, logs and outcomes."""
    snapshot_days: float = Field(2, gt=0)
    """Raw rows and snapshots: whole assortments, so most of the lake. The newest of each vendor stays."""
    baseline_days: float = Field(2, gt=0)
    """Versions of the baseline as files. shelfsync rebuilds an older one from the warehouse's history."""
    observation_days: float = Field(35, gt=0)
    """Exports and listings; the newest of each vendor stays."""
    event_days: float = Field(30, gt=0)
    """Webhook events as received. All but those of jobs go after SHELFSYNC_ORDERS__CUSTOMER_DAYS, if that is shorter."""
    order_days: float = Field(90, ge=61)
    """Orders, their hand-overs and picking results in the ledger. It must be longer than the platform's history (60 days)."""
    quarantine_days: float = Field(14, gt=0)
    """Quarantined rows in the warehouse; each run writes its own."""
    repeated_outcome_days: float = Field(7, ge=0)
    """Accepted outcomes in the warehouse that repeat the acknowledged value. Their job keeps the count. 0: they are not even written."""
    history_days: float = Field(400, gt=0)
    """Runs, jobs and orders in the warehouse, use of the rate limit and its pauses; pauses of persons stay for good."""
    lake_grace_hours: float = Field(48, ge=1)
    """Age after which a file of the lake without a pointer is removed. A file in use is never that old."""


MIB = 1024 * 1024


class WebhookSettings(Section):
    """The receiver of job and order events (interface.md 5.6 and 6)."""

    secret: SharedSecret | None = None
    """The exact Authorization header of a genuine call. If unset, the receiver rejects every call."""
    secret_previous: SharedSecret | None = None
    """A second valid secret, during a change of the secret."""
    host: str = "127.0.0.1"
    """Address on which the receiver listens."""
    port: int = Field(8480, ge=0, le=65535)
    """Port on which the receiver listens."""
    order_max_bytes: int = Field(1 * MIB, ge=1)
    """Largest body of an order event."""
    job_max_bytes: int = Field(64 * 1024, ge=1)
    """Largest body of a job event."""
    connections_max: int = Field(2000, ge=1)
    """Largest number of connections. Beyond it, the receiver closes the oldest ones without a request."""
    connections_per_address_max: int = Field(256, ge=1)
    """Connections from one address, in the same way; an IPv6 address counts as its /64."""
    proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(items)] = ()
    """Addresses or networks of the proxies that end TLS in front of the receiver; they bound connections by address themselves (docs/how-to/receiver.md)."""


def tls_warning(settings: WebhookSettings) -> str | None:
    """The warning if the receiver listens beyond loopback and the settings name no proxy; otherwise None."""
    if settings.proxies or _is_loopback(settings.host):
        return None
    error = ConfigurationError(
        "SHELFSYNC_WEBHOOK__HOST",
        f"is {settings.host}: other machines reach the receiver without TLS, so secrets and orders can be read in transit",
        "Put a proxy with TLS in front, and name its address in SHELFSYNC_WEBHOOK__PROXIES (docs/how-to/receiver.md).",
    )
    return str(error)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
