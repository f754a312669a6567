"""From Airflow's world into shelfsync's: settings out of environment and connections, and a context opened with them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from shelfsync_airflow.failures import raised_to_airflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

    from shelfsync.context import Context
    from shelfsync.settings import Settings


PLATFORM, ERP, WEBHOOK, ORDERS = "platform", "erp", "webhook", "orders"


def app_settings(*needed: str) -> Settings:
    """The settings of this process; what they leave unset comes from Airflow's connections, secrets are masked in every log.

    `needed`: those of PLATFORM, ERP, WEBHOOK and ORDERS that are going to be used; the others may be unknown. Asks Airflow for
    connections, so it must not run in an event loop.
    """
    from airflow.sdk.log import mask_secret

    from shelfsync import metrics
    from shelfsync.settings import read_settings
    from shelfsync_airflow.connections import find_connection, overrides
    from shelfsync_airflow.numbers import AirflowMetrics

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
