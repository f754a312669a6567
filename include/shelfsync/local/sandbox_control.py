"""The sandbox's control plane, as far as the demo and `shelfsync sandbox` need it. The real platform has no such interface.

`python -m shelfsync.local.sandbox_control SANDBOX RECEIVER` makes a sandbox send its events to a receiver (docker-compose.yaml).
"""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partner_api.http_library import httpx

CHAIN = "demo-chain"
CLIENT_ID = "demo-client"
CLIENT_SECRET = "demo-secret"  # noqa: S105  what the sandbox begins with; it opens nothing else
TIMEOUT_S = 60.0


class SandboxRejectedError(ShelfsyncError):
    """The sandbox rejects the call: a product is off sale, or an order is not in the required state."""


class SandboxControl:
    """A client of the sandbox at `base_url`, for one of its chains."""

    def __init__(self, base_url: str, chain: str = CHAIN) -> None:
        self._base_url = f"{base_url}/_sandbox"
        self._chain = quote(chain, safe="")
        self._client: httpx.Client | None = None

    def close(self) -> None:
        """Closes the client; the next call opens another."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def products(self, vendor: str) -> list[dict[str, Any]]:
        """The vendor's assortment as the platform holds it; prices are exact decimals."""
        return list(self._call("GET", f"/chains/{self._chain}/vendors/{quote(vendor, safe='')}/products")["products"])

    def held(self, vendor: str) -> list[dict[str, Any]]:
        """The same, each product with the sales buffer that counts: its own, or else its vendor's."""
        (usual,) = (one["sales_buffer"] for one in self._state()["vendors"] if one["vendor"] == vendor)
        return [
            {**one, "sales_buffer": usual if one["sales_buffer"] is None else one["sales_buffer"]}
            for one in self.products(vendor)
        ]

    def put_products(self, vendor: str, products: Sequence[dict[str, Any]]) -> None:
        """Replaces the vendor's assortment; the vendor is created if it is new."""
        self._call("PUT", f"/chains/{self._chain}/vendors/{quote(vendor, safe='')}", {})
        self._call("PUT", f"/chains/{self._chain}/vendors/{quote(vendor, safe='')}/products", {"products": products})

    def send_events_to(self, url: str, secret: str) -> None:
        """`url` is the receiver's address; the addresses for jobs and for orders differ in their last segment."""
        result = {"catalog_url": f"{url}/catalog", "order_url": f"{url}/orders", "secret": secret}
        self._call("PUT", f"/chains/{self._chain}/webhook", result)

    def open_vendors(self) -> list[str]:
        """Vendors with something on sale; none before the platform knows where to send the events of orders."""
        return self.vendors(selling=True) if self.sends_orders() else []

    def make_chain(self, client_id: str, client_secret: str) -> None:
        """Makes the chain, with a client that may send to it."""
        client = {"client_id": client_id, "client_secret": client_secret}
        self._call("PUT", f"/chains/{self._chain}", {"clients": [client]})

    def chains(self) -> list[str]:
        """The chains that the sandbox has."""
        return [str(chain["chain"]) for chain in self._call("GET", "/state")["chains"]]

    def vendors(self, *, selling: bool = False) -> list[str]:
        """The vendors of the chain; `selling`: those with something on sale."""
        return [str(one["vendor"]) for one in self._state()["vendors"] if one["active"] or not selling]

    def sends_orders(self) -> bool:
        """Whether the platform knows where to send the events of orders."""
        return bool(self._state()["webhook"]["order_url"])

    def _vendor(self, vendor: str) -> str:
        return f"/chains/{self._chain}/vendors/{quote(vendor, safe='')}"

    def _state(self) -> dict[str, Any]:
        (chain,) = (one for one in self._call("GET", "/state")["chains"] if quote(one["chain"], safe="") == self._chain)
        return dict(chain)

    def place_order(self, vendor: str, items: Sequence[dict[str, Any]], **options: Any) -> dict[str, Any]:
        """Places an order and returns it. Raises SandboxRejectedError if the app does not show a product."""
        return self._call(
            "POST", f"/chains/{self._chain}/vendors/{quote(vendor, safe='')}/orders", {"items": items, **options}
        )

    def order(self, order_id: str) -> dict[str, Any]:
        """An order as the platform has it now; one of the last 500."""
        path = f"/chains/{self._chain}/orders"
        total = int(self._call("GET", f"{path}?limit=1")["total"])
        orders = self._call("GET", f"{path}?offset={max(0, total - 500)}")["orders"]
        return next(dict(order) for order in orders if order["order_id"] == order_id)

    def promotions(self) -> list[dict[str, Any]]:
        """The newest promotions with the state that the portal shows, the newest first."""
        return list(self._call("GET", f"/chains/{self._chain}/promotions")["promotions"])

    def move_order(self, order_id: str, step: str) -> None:
        """`dispatch`, `pick-up` or `cancel`; raises SandboxRejectedError if the state of the order forbids it."""
        self._call("POST", f"/orders/{order_id}/{step}", {} if step == "cancel" else None)

    def journal_end(self) -> int:
        """The number of the newest line of the journal."""
        return int(self._lines(0)[0])

    def requests_after(self, number: int, *, upto: int | None = None) -> dict[str, int]:
        """Operation -> requests behind the journal's line `number`, up to another one; without the control plane."""
        counts: dict[str, int] = {}
        for entry in self._lines(number)[1]:
            if entry["kind"] != "webhook" and (upto is None or int(entry["n"]) <= upto):
                name = str(entry["operation"] or entry["route"])
                counts[name] = counts.get(name, 0) + 1
        return counts

    def _lines(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """The journal's last number and its lines after one, page by page."""
        lines: list[dict[str, Any]] = []
        while True:
            page = self._call("GET", f"/journal?after={after}")
            lines += page["entries"]
            if not page["entries"]:
                return after, lines
            after = int(page["last"])

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        from partner_api.http_library import httpx

        try:
            if (
                self._client is None
            ):  # one for all calls costs 50 ms once; a connection of its own for each is never half closed
                once = httpx.Limits(max_keepalive_connections=0)
                self._client = httpx.Client(timeout=TIMEOUT_S, trust_env=False, limits=once)
            content = None if body is None else json.dumps(body, default=float)  # its prices are decimals
            headers = {"Content-Type": "application/json"}
            answer = self._client.request(method, self._base_url + path, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise ShelfsyncError(f"The sandbox does not answer {method} {path}: {error!r}") from None
        if answer.is_error:
            kind = ShelfsyncError if answer.is_server_error else SandboxRejectedError
            raise kind(f"The sandbox answers {method} {path} with {answer.status_code}: {answer.text[:300]}")
        result: dict[str, Any] = json.loads(answer.text, parse_float=Decimal)
        return result


def main(sandbox_url: str, receiver_url: str) -> None:
    """Sends the sandbox's events to this receiver, with the secret that both services of docker-compose have."""
    SandboxControl(sandbox_url.rstrip("/")).send_events_to(receiver_url, os.environ["SHELFSYNC_WEBHOOK__SECRET"])
    print(f"{sandbox_url} sends its events to {receiver_url}")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
