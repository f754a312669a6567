"""Sends a text to an address by Apprise. What a service answered comes back as one line, without the address."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, without_stop
from shelfsync.secret_mask import mask

if TYPE_CHECKING:
    from apprise import Apprise


class _Heard(logging.Handler):
    """Keeps what Apprise logs about a refusal: it returns no reason."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


CONNECTION = "connection:"
"""What begins an address that a connection of Airflow holds; the connection's name follows."""

NO_CONNECTION = "no-connection:"
"""What Airflow makes of it where there is no such connection, or it has no password: the route refuses, and the others report it."""


def connection_of(address: str) -> str | None:
    """The connection of Airflow that holds the address; None: it is the address itself."""
    return address.removeprefix(CONNECTION) if address.startswith(CONNECTION) else None


def check_address(name: str, address: str) -> None:
    """Raises a ConfigurationError if no service has such an address. Sends nothing. Only Airflow knows what a connection holds."""
    if not address.startswith((CONNECTION, NO_CONNECTION)):
        _service(name, address)


def _service(name: str, address: str) -> Apprise:
    import apprise

    if (connection := connection_of(address)) is not None:
        raise ConfigurationError(
            "SHELFSYNC_ALERTS__ROUTES",
            f"the address of the route {name!r} is in Airflow's connection {connection!r}, and this process is not Airflow's task",
            "Let the DAG alerts_watch send, or write the address itself into the route.",
        )
    if address.startswith(NO_CONNECTION):
        connection = address.removeprefix(NO_CONNECTION)
        raise ConfigurationError(
            "SHELFSYNC_ALERTS__ROUTES",
            f"the route {name!r} names the connection {connection!r}, and there is none, or it has no password",
            f"Write the route's whole address into the password of the connection {connection} (Admin, Connections).",
        )
    service = apprise.Apprise(asset=apprise.AppriseAsset(app_id="shelfsync", app_desc="shelfsync", async_mode=False))
    if not service.add(address):
        scheme = address.partition("://")[0] if "://" in address else "no scheme"
        raise ConfigurationError(
            "SHELFSYNC_ALERTS__ROUTES",
            f"the address of the route {name!r} ({scheme}) is none that Apprise knows",
            "Write it as Apprise's list of services has it, such as mailto://user:password@example.com.",
        )
    return service


def send(name: str, address: str, title: str, body: str) -> str | None:
    """Sends one message. Returns None if the service took it, else what it answered. ConfigurationError: the address is none."""
    service = _service(name, address)
    heard, log = _Heard(), logging.getLogger("apprise")
    propagates, log.propagate = log.propagate, False  # its lines may quote the address
    log.addHandler(heard)
    try:
        taken = service.notify(title=title, body=body, body_format="text")
    except Exception as error:  # noqa: BLE001  a library of a hundred services: whatever it raises, the message waits
        return without_stop(mask(f"{type(error).__name__}: {error}"), 300)
    finally:
        log.removeHandler(heard)
        log.propagate = propagates
    if taken:
        return None
    return without_stop(mask(" ".join(heard.lines[-2:]) or "the service refused it without a reason"), 300)
