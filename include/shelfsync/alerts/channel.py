"""Sends a text to an address by Apprise. What a service answered comes back as one line, without the address."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

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


REPEAT = "This may be a repeat: it was sent before, and shelfsync does not know whether it arrived."
"""What begins a text that a service may have already, and would show twice."""

PART_CHARACTERS_MIN = 1000
"""A service that takes less than this in a message (a phone's text) gets the beginning of a long text, not all of its parts."""
_MORE = "\n… and more: `shelfsync alerts list`"

_mail_key: ContextVar[str | None] = ContextVar("mail_key", default=None)


def opens_incidents(address: str) -> bool:
    """Whether it is a pager that ends an incident by the key that opened it. Any address that this process cannot read is none."""
    return not address.startswith((CONNECTION, NO_CONNECTION)) and any(
        hasattr(one, "dedup") for one in _service("", address)
    )


def _keep_message_ids() -> None:
    """Lets a mail of the same key have the same Message-ID: Apprise draws a new one for each try, and takes none."""
    from apprise.plugins.email import base

    mails: Any = base
    if not hasattr(mails, "drawn_message_id"):
        mails.drawn_message_id = draw = mails.make_msgid

        def message_id(idstring: str | None = None, domain: str | None = None) -> str:
            key = _mail_key.get()
            return str(draw(idstring, domain) if key is None else f"<{key}@{domain}>")

        mails.make_msgid = message_id


def _give_key(service: Any, key: str) -> bool:
    """Gives a service the key of the message. Returns whether it shows one key once, so that a repeat is harmless.

    A mail has it as its Message-ID; whether the second is dropped is the affair of the person's server.
    """
    from apprise.plugins.custom_form import NotifyForm
    from apprise.plugins.custom_json import NotifyJSON
    from apprise.plugins.custom_xml import NotifyXML

    if hasattr(service, "dedup"):
        service.dedup = service.dedup or key
        if service.action == "trigger":
            service.action = "map"  # PagerDuty's own default opens an incident for an end, too
        return True
    if hasattr(service, "alias"):
        service.alias = service.alias or key
        return True
    if isinstance(service, (NotifyForm, NotifyJSON, NotifyXML)):
        service.headers.setdefault("Idempotency-Key", key)
        return True
    return False


def _fitted(services: Apprise, address: str, title: str, body: str) -> str:
    """The text as the services take it. Apprise would send one that is too long as it is, and the service would refuse it for ever.

    A chat gets it in parts. A pager, of which each part would be an incident, and a phone get its beginning, which is the most severe.
    """
    from apprise import OverflowMode

    if "overflow=" in address.lower():
        return body  # the operator has chosen
    for one in services:
        whole: Any = one
        if not (hasattr(one, "dedup") or hasattr(one, "alias") or one.body_maxlen < PART_CHARACTERS_MIN):
            whole.overflow_mode = OverflowMode.SPLIT
            continue
        whole.overflow_mode = OverflowMode.TRUNCATE
        room = one.body_maxlen - (len(title) + 2 if one.title_maxlen <= 0 else 0)
        if len(body) > room:
            body = body[: max(room - len(_MORE), 0)] + _MORE
    return body


def send(
    name: str,
    address: str,
    title: str,
    body: str,
    *,
    urgency: str = "warning",
    key: str | None = None,
    again: bool = False,
) -> str | None:
    """Sends one message. Returns None if the service took it, else what it answered. ConfigurationError: the address is none.

    `urgency`: failure, warning or success. `key`: the same for the same message. `again`: the service may have it already.
    """
    services = _service(name, address)
    _keep_message_ids()
    if urgency == "success" and any(hasattr(one, "alias") or getattr(one, "dedup", None) for one in services):
        # Of Opsgenie, Apprise can end only what the same process opened. An operator's own key is that of all incidents.
        urgency = "warning"
    harmless = [key is not None and _give_key(one, key) for one in services]
    if again and not all(harmless) and not body.startswith(REPEAT):
        body = f"{REPEAT}\n\n{body}"
    body = _fitted(services, address, title, body)
    heard, log = _Heard(), logging.getLogger("apprise")
    propagates, log.propagate = log.propagate, False  # its lines may quote the address
    log.addHandler(heard)
    token = _mail_key.set(key)
    try:
        taken = services.notify(title=title, body=body, notify_type=urgency, body_format="text")
    except Exception as error:  # noqa: BLE001  a library of a hundred services: whatever it raises, the message waits
        return without_stop(mask(f"{type(error).__name__}: {error}"), 300)
    finally:
        _mail_key.reset(token)
        log.removeHandler(heard)
        log.propagate = propagates
    if taken:
        return None
    return without_stop(mask(" ".join(heard.lines[-2:]) or "the service refused it without a reason"), 300)
