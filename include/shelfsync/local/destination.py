"""Where a stack sends to, and the operator's confirmation of it: every DAG is switched on against a real platform only by its name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from shelfsync.settings import Settings

SANDBOX = "the sandbox on this machine"
OPTION = "--platform"


def host(settings: Settings) -> str | None:
    """The platform's host, with its port if the address has one; None: no platform is configured."""
    address = settings.platform.base_url
    if address is None:
        return None
    found = urlsplit(address).netloc.rpartition("@")[2].lower()
    if not found:
        raise ConfigurationError("SHELFSYNC_PLATFORM__BASE_URL", "has no host", "Write the address as https://HOST.")
    return found


def platform(settings: Settings) -> str:
    """The configured platform in words."""
    return f"{host(settings)}, chain {settings.platform.chain or '(not set)'}"


def require(settings: Settings, named: str | None) -> None:
    """Returns if `named` is the configured platform, or if there is none. A ConfigurationError otherwise."""
    configured = host(settings)
    wanted = named.strip().lower().rpartition("://")[2].strip("/") if named else None
    if wanted == configured:
        return
    if configured is None:
        raise ConfigurationError(
            OPTION,
            f"names {named}, and no platform is configured",
            "Set SHELFSYNC_PLATFORM__BASE_URL, or leave it out.",
        )
    chain = settings.platform.chain or "not set"
    raise ConfigurationError(
        "SHELFSYNC_PLATFORM__BASE_URL",
        f"names {configured}, not {named}"
        if named
        else f"names {configured} (chain {chain}), and `up` switches on every DAG, which sends to it",
        f"To send there: shelfsync up --platform {configured}. To use the sandbox and the sample ERP: shelfsync up --sandbox.",
    )


def ask(settings: Settings) -> str | None:
    """The host that the person at the terminal types. None: no platform is configured, or there is no terminal."""
    configured = host(settings)
    if configured is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f"up  every DAG is switched on, and sends to {platform(settings)}", file=sys.stderr)  # noqa: T201
    print("up  To go on, type the name of this host: ", end="", file=sys.stderr, flush=True)  # noqa: T201
    return sys.stdin.readline().strip() or None
