"""The limit of connections: which of them the receiver closes first, so that a caller with the secret finds room."""

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

    @property
    def has_secret(self) -> bool:
        """Whether its last request had the secret."""

    def abort(self) -> None:
        """Closes at once, without an answer."""


class _Yielding:
    """Connections that give way to a new one: strangers first, then idle callers, the oldest of each first.

    A stranger has sent no request with the secret. A caller has, and is idle when it has its answer.
    """

    def __init__(self) -> None:
        self.strangers: dict[Connection, None] = {}
        self.idle: dict[Connection, None] = {}

    def pop(self) -> Connection | None:
        """The next one, or None. A stranger that has meanwhile sent the secret is at work, and does not give way."""
        while self.strangers:
            connection = next(iter(self.strangers))
            del self.strangers[connection]
            if not connection.has_secret:
                return connection
        if not self.idle:
            return None
        connection = next(iter(self.idle))
        del self.idle[connection]
        return connection

    def remove(self, connection: Connection) -> None:
        self.strangers.pop(connection, None)
        self.idle.pop(connection, None)


class ConnectionLimit:
    """At the limit, closes a connection that needs no answer: of a caller without the secret, or idle after its answer.

    So a caller without the secret blocks only callers without the secret. `proxies` limit their own callers: their addresses may
    open as many connections as the receiver allows in all.
    """

    def __init__(self, most: int, per_address: int, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._per_address = per_address
        self._proxies = tuple(proxies)
        self._held: dict[Connection, str | None] = {}
        self._yielding = _Yielding()
        self._yielding_of: dict[str, _Yielding] = {}
        self._count: Counter[str] = Counter()

    def admit(self, connection: Connection, host: str | None) -> bool:
        """False: every connection is at work for a caller with the secret, so this one has to be closed."""
        address = self._address(host)
        if address is not None and self._count[address] >= self._per_address:
            if not self._make_room(self._yielding_of[address]):
                return False
        elif len(self._held) >= self._most and not self._make_room(self._yielding):
            return False
        self._held[connection] = address
        if address is not None:
            self._count[address] += 1
        for yielding in self._lists(connection):
            yielding.strangers[connection] = None
        return True

    def answered(self, connection: Connection) -> None:
        """A caller with the secret has its answer: the connection is idle."""
        for yielding in self._lists(connection):
            yielding.remove(connection)
            yielding.idle[connection] = None

    def at_work(self, connection: Connection) -> None:
        """An idle caller has sent the head of another request."""
        for yielding in self._lists(connection):
            yielding.idle.pop(connection, None)

    def release(self, connection: Connection) -> None:
        """The connection is closed. Harmless for a connection that was not admitted."""
        for yielding in self._lists(connection):
            yielding.remove(connection)
        address = self._held.pop(connection, None)
        if address is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address], self._yielding_of[address]

    def _make_room(self, yielding: _Yielding) -> bool:
        oldest = yielding.pop()
        if oldest is None:
            return False
        self.release(oldest)
        oldest.abort()
        return True

    def _lists(self, connection: Connection) -> list[_Yielding]:
        if connection not in self._held:
            return []
        address = self._held[connection]
        if address is None:
            return [self._yielding]
        return [self._yielding, self._yielding_of.setdefault(address, _Yielding())]

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
