"""GET /metrics: the receiver's own counters for Prometheus, for the addresses of SHELFSYNC_METRICS__READERS alone.

It reads memory and no database. The counters have no vendor, no order and no content of a call. Every other caller gets the answer of an
unknown path.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from shelfsync.metrics import PROMETHEUS_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from shelfsync.metrics import Prometheus

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class MetricsPage:
    """The handler of the route."""

    def __init__(self, counters: Prometheus, readers: Sequence[Network]) -> None:
        self._counters = counters
        self._readers = tuple(readers)

    async def answer(self, request: Request) -> Response:
        """The counters, or 404. A request that a proxy passed on is the proxy's: it comes from its address."""
        if not self._may_read(request.client.host if request.client else ""):
            return JSONResponse({"detail": "Not Found"}, 404)
        return Response(self._counters.text(), media_type=PROMETHEUS_TEXT)

    def _may_read(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._readers)
