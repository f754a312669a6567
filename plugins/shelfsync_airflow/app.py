"""From Airflow's world into shelfsync's: settings out of environment and connections, and a context opened with them."""

from __future__ import annotations

import datetime as dt
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shelfsync_airflow.failures import raised_to_airflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from shelfsync.context import Context
    from shelfsync.settings import Settings

METRICS_PREFIX = "shelfsync"
PLATFORM, ERP, WEBHOOK, ORDERS = "platform", "erp", "webhook", "orders"


class AirflowMetrics:
    """shelfsync's numbers in Airflow's own metrics: by `[metrics]` of its configuration, StatsD, OpenTelemetry or Datadog.

    A sink on a separate logger; one for each process, also after a fork.
    """

    def __init__(self) -> None:
        self._made: tuple[int, Any] | None = None

    def count(self, name: str, by: int) -> None:
        self._logger().incr(f"{METRICS_PREFIX}.{name}", by)

    def gauge(self, name: str, value: float) -> None:
        self._logger().gauge(f"{METRICS_PREFIX}.{name}", value)

    def timing(self, name: str, seconds: float) -> None:
        self._logger().timing(f"{METRICS_PREFIX}.{name}", dt.timedelta(seconds=seconds))

    def _logger(self) -> Any:
        from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

        process = os.getpid()
        if self._made is None or self._made[0] != process:
            self._made = (process, get_stats_factory()())
        return self._made[1]


def app_settings(*needed: str) -> Settings:
    """The settings of this process; what they leave unset comes from Airflow's connections, secrets are masked in every log.

    `needed`: those of PLATFORM, ERP, WEBHOOK and ORDERS that are going to be used; the others may be unknown. Asks Airflow for
    connections, so it must not run in an event loop.
    """
    from airflow.sdk.log import mask_secret

    from shelfsync import metrics
    from shelfsync.settings import read_settings
    from shelfsync_airflow.connections import find_connection, overrides

    if not metrics.listened_to():
        metrics.use(AirflowMetrics())

    settings = read_settings()
    if found := overrides(settings, find_connection, needed):
        settings = read_settings(**found)
    for secret in _secrets(settings):
        mask_secret(secret)
    return settings


@contextmanager
def open_app(*needed: str, read_only: bool = False) -> Iterator[Context]:
    """A context, inside a task: errors come out as Airflow understands them. `read_only`: it can change nothing on the platform."""
    with raised_to_airflow():
        from shelfsync import app

        with app.open_app(app_settings(*needed), read_only=read_only) as context:
            yield context


def shared_app(*needed: str) -> Context:
    """The one context of this process, for its triggers. Must not run in an event loop."""
    from shelfsync.app import shared_context

    return shared_context(app_settings(*needed))


def _secrets(settings: BaseModel) -> Iterator[str]:
    """Every secret value in the settings, and the passwords inside addresses."""
    from pydantic import BaseModel, SecretStr
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from _secrets(value)
        elif isinstance(value, SecretStr):
            yield value.get_secret_value()
            if "://" in value.get_secret_value():
                try:
                    password = make_url(value.get_secret_value()).password
                except ArgumentError:
                    continue
                if password:
                    yield str(password)
