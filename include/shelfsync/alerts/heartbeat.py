"""Calls the address that an outside monitor watches: it alarms when the calls stop, so also when Airflow or the whole machine is away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.alerts.ledger import outbox
from shelfsync.errors import without_stop
from shelfsync.secret_mask import mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.context import Context
    from shelfsync.settings.section import ServiceAddress

SETTING = "SHELFSYNC_ALERTS__HEARTBEAT"
TIMEOUT_S = 10.0


def beat(context: Context, refused: Mapping[str, str]) -> str | None:
    """Calls the monitor after a look of the watch, if one is set, and no message waits that a route has refused or that nothing sends.

    `refused`: the routes that refused a message of this look. Returns what the monitor answered if it did not take the call, else None.
    """
    address = context.settings.alerts.heartbeat
    if address is None or refused:
        return None
    with context.engine.connect() as connection:
        waits = outbox.failures(connection) or outbox.stuck(connection, outbox.UNSENT_S)
    return None if waits else call(address)


def call(address: ServiceAddress) -> str | None:
    """Calls it once. Returns None if the monitor took it, else what came back, in one line without the address."""
    from partner_api.http_library import httpx

    try:
        answer = httpx.get(address.get_secret_value(), timeout=TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        return without_stop(mask(f"{type(error).__name__}: {error}"), 300)
    return None if answer.is_success else f"status {answer.status_code}"
