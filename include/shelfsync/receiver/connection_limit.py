"""Limits connections, in all and from one address. An idle connection is closed in favour of a new one."""

from __future__ import annotations

import ipaddress
from collections import Counter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SITE_PREFIX = 64
"""One caller can have a whole /64 of IPv6 addresses."""


class Connection(Protocol):
    """A connection that counts towards the limit."""

    def abort(self) -> None:
        """Closes at once, without an answer."""


class ConnectionLimit:
    """At the limit, closes the oldest connection that has never sent the head of a request.

    So a caller that opens idle connections blocks only itself. `proxies` limit their own callers: their addresses may open as
    many connections as the receiver allows in all.
    """

    def __init__(self, most: int, per_address: int, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._per_address = per_address
        self._proxies = tuple(proxies)
        self._held: dict[Connection, str | None] = {}
        self._silent: dict[Connection, None] = {}
        self._silent_of: dict[str, dict[Connection, None]] = {}
        self._count: Counter[str] = Counter()

    def admit(self, connection: Connection, host: str | None) -> bool:
        """False: the limit is reached and no idle connection can be closed, so the caller has to close this one."""
        address = self._address(host)
        if address is not None and self._count[address] >= self._per_address:
            if not self._make_room(self._silent_of.get(address)):
                return False
        elif len(self._held) >= self._most and not self._make_room(self._silent):
            return False
        self._held[connection] = address
        self._silent[connection] = None
        if address is not None:
            self._count[address] += 1
            self._silent_of.setdefault(address, {})[connection] = None
        return True

    def head_received(self, connection: Connection) -> None:
        """The head of a request has arrived: the connection is no longer idle."""
        if self._silent.pop(connection, self) is not self:
            self._forget_silent(connection)

    def release(self, connection: Connection) -> None:
        """The connection is closed. Harmless for a connection that was not admitted."""
        self.head_received(connection)
        address = self._held.pop(connection, None)
        if address is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]

    def _make_room(self, silent: dict[Connection, None] | None) -> bool:
        if not silent:
            return False
        oldest = next(iter(silent))
        self.release(oldest)
        oldest.abort()
        return True

    def _forget_silent(self, connection: Connection) -> None:
        address = self._held.get(connection)
        if address is not None and (of_address := self._silent_of.get(address)) is not None:
            of_address.pop(connection, None)
            if not of_address:
                del self._silent_of[address]

    def _address(self, host: str | None) -> str | None:
        """The address that identifies the caller; None for a proxy, or for a local socket without an address."""
        try:
            address = ipaddress.ip_address((host or "").partition("%")[0])
        except ValueError:
            return None
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if any(address in network for network in self._proxies):
            return None
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((address, _SITE_PREFIX), strict=False))
        return str(address)
