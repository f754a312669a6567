"""Calls the address that an outside monitor watches: it alarms when the calls stop, so also when Airflow or the whole machine is away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import without_stop
from shelfsync.secret_mask import mask

if TYPE_CHECKING:
    from shelfsync.settings.section import ServiceAddress

SETTING = "SHELFSYNC_ALERTS__HEARTBEAT"
TIMEOUT_S = 10.0


def call(address: ServiceAddress) -> str | None:
    """Calls it once. Returns None if the monitor took it, else what came back, in one line without the address."""
    from partner_api.http_library import httpx

    try:
        answer = httpx.get(address.get_secret_value(), timeout=TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        return without_stop(mask(f"{type(error).__name__}: {error}"), 300)
    return None if answer.is_success else f"status {answer.status_code}"
