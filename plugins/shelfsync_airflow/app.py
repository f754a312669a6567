"""From Airflow's world into shelfsync's and back: settings out of environment and connections, a context, and errors as Airflow sees them."""

from __future__ import annotations

import datetime as dt
import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.chosen_chain import chain_in_use
from shelfsync.errors import (
    ConfigurationError,
    DataError,
    IncompleteExtractError,
    PartlyFailedError,
    StaleRunError,
    TryAgainError,
    UnreachableError,
)
from shelfsync_airflow.masking import mask_exits, masked_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.settings import Settings

log = logging.getLogger(__name__)
METRICS_PREFIX = "shelfsync"
PLATFORM, ERP, WEBHOOK, ORDERS, ALERTS = "platform", "erp", "webhook", "orders", "alerts"
PLATFORM_IF_SET = "platform_if_set"


@contextmanager
def raised_to_airflow() -> Iterator[None]:
    """Turns errors that no retry can fix into the one that Airflow does not retry; the log shows them in one line.

    What may work the next time passes as it is, and is repeated by the task's retries: an extract that was not whole,
    an ERP, a database or a platform that is away, any unexpected error; of a text with a part of a secret that part is masked.
    """
    try:
        with masked_errors():
            yield
    except StaleRunError as error:
        raise AirflowSkipException(str(error)) from None
    except UnreachableError as error:
        log.error("%s [%s]", error, error.page)  # noqa: TRY400  as below; Airflow repeats the task
        raise error.with_traceback(None) from None
    except IncompleteExtractError as error:
        raise error.with_traceback(None) from None
    except (ConfigurationError, DataError, PartlyFailedError) as error:
        message = f"{error} [{error.page}]"
        log.error("%s", message)  # noqa: TRY400  Airflow adds a traceback of its own, where a person has to look for the line
        raise AirflowFailException(message) from None
    except TryAgainError as error:
        raise error.with_traceback(None) from None
    except Exception as error:
        from shelfsync.store.engine import trouble

        if isinstance(final := trouble(error), ConfigurationError):
            raise AirflowFailException(str(final)) from None
        raise


def _metric(name: str) -> str:
    from shelfsync.metrics import statsd_prefix

    return f"{statsd_prefix(METRICS_PREFIX, chain_in_use())}.{name}"


class AirflowMetrics:
    """shelfsync's numbers in Airflow's own metrics: by `[metrics]` of its configuration, StatsD, OpenTelemetry or Datadog.

    A sink on a separate logger; one for each process, also after a fork.
    """

    def __init__(self) -> None:
        self._made: tuple[int, Any] | None = None

    def count(self, name: str, by: int) -> None:
        self._logger().incr(_metric(name), by)

    def gauge(self, name: str, value: float) -> None:
        self._logger().gauge(_metric(name), value)

    def timing(self, name: str, seconds: float) -> None:
        self._logger().timing(_metric(name), dt.timedelta(seconds=seconds))

    def _logger(self) -> Any:
        from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

        process = os.getpid()
        if self._made is None or self._made[0] != process:
            self._made = (process, get_stats_factory()())
        return self._made[1]


def app_settings(*needed: str, chain: str | None = None) -> Settings:
    """The settings of a chain; what they leave unset comes from Airflow's connections, secrets are masked in every log.

    `needed`: those of PLATFORM (or PLATFORM_IF_SET), ERP, WEBHOOK, ORDERS and ALERTS that are going to be used; the others may be unknown. Asks Airflow for
    connections, so it must not run in an event loop.
    """
    from airflow.sdk.log import mask_secret

    from shelfsync import metrics
    from shelfsync.chosen_chain import chosen
    from shelfsync.secret_mask import mask
    from shelfsync.settings import read_settings
    from shelfsync_airflow.connections import find_connection, overrides

    if not metrics.listened_to():
        metrics.use(AirflowMetrics())

    with chosen(chain):
        settings = read_settings()
        if found := overrides(settings, find_connection, needed):
            settings = read_settings(**found)
    mask_secret([*mask.whole_forms()])
    mask_exits()
    return settings


@contextmanager
def open_app(*needed: str, read_only: bool = False) -> Iterator[Context]:
    """A context, inside a task: errors come out as Airflow understands them. `read_only`: it can change nothing on the platform."""
    with raised_to_airflow():
        from shelfsync import app
        from shelfsync.chosen_chain import chosen
        from shelfsync_airflow.names import chain_of_task

        chain = chain_of_task()
        with chosen(chain), app.open_app(app_settings(*needed, chain=chain), read_only=read_only) as context:
            yield context


def shared_app(*needed: str, chain: str | None) -> Context:
    """The one context of a chain in this process, for its triggers. Must not run in an event loop."""
    from shelfsync.app import shared_context

    return shared_context(app_settings(*needed, chain=chain))
