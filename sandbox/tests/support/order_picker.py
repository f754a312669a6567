"""Orders of the sandbox for tests: a customer places them, a picker changes and reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from sandbox_fixture import LiveSandbox, WebhookReceiver

CHAIN = "/v2/chains/demo-chain"
STORE = "store-001"
ASSORTMENT: list[dict[str, Any]] = [
    {"sku": "MILK", "title": "Milk 1 l", "price": 1.5},
    {"sku": "BREAD", "title": "Bread", "price": 2.0, "max_sales_quantity": 5},
    {"sku": "JAM", "title": "Jam", "price": 3.0},
    {"sku": "HONEY", "title": "Honey", "price": 9.0},
    {"sku": "CHEESE", "title": "Cheese", "price": 12.0, "is_sold_by_weight": True},
    {"sku": "GOUDA", "title": "Gouda", "price": 10.0, "is_sold_by_weight": True},
    {"sku": "OLD", "title": "Out of the range", "price": 1.0, "active": False},
]


class OrderPicker:
    """Orders of one store with a small assortment; requests carry the partner's token."""

    def __init__(self, platform: LiveSandbox, partner: httpx.Client, receiver: WebhookReceiver) -> None:
        self.platform = platform
        self.partner = partner
        self._receiver = receiver
        platform.put_products(STORE, ASSORTMENT)

    def place(self, *lines: str | dict[str, Any], vendor: str = STORE, **options: Any) -> dict[str, Any]:
        """An order of one piece of each SKU, or of whole lines; by default delivered by platform riders."""
        items = [{"sku": line, "quantity": 1} if isinstance(line, str) else line for line in lines]
        return self.platform.control("POST", f"chains/demo-chain/vendors/{vendor}/orders", {"items": items, **options})

    def put(self, order: dict[str, Any], status: str, *items: dict[str, Any], **more: Any) -> httpx.Response:
        body = {"order_id": order["order_id"], "status": status, **({"items": list(items)} if items else {}), **more}
        return self.partner.put(f"{CHAIN}/orders/{order['order_id']}", json=body)

    def done(self, order: dict[str, Any], status: str, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = self.put(order, status, *items, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rejected(self, order: dict[str, Any], status: str, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        """The body of the 400; the order has not changed."""
        before = self.get(order)
        answer = self.put(order, status, *items, **more)
        assert answer.status_code == 400, answer.text
        assert self.get(order) == before
        return answer.json()

    def get(self, order: dict[str, Any]) -> dict[str, Any]:
        answer = self.partner.get(f"{CHAIN}/orders/{order['order_id']}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def events(self) -> list[dict[str, Any]]:
        """The bodies of the webhook's calls so far."""
        self.platform.advance(0)
        return [call.body for call in self._receiver.received]

    def event_names(self) -> list[str]:
        return [event["status"] for event in self.events()]


def picked(item: dict[str, Any], status: str = "IN_CART", **pricing: Any) -> dict[str, Any]:
    """An item of an order as a picker sends it back."""
    sent = {"_id": item["_id"], "sku": item["sku"], "status": status}
    return {**sent, "pricing": pricing} if pricing else sent


def replacing(item: dict[str, Any], sku: str, **pricing: Any) -> list[dict[str, Any]]:
    """An item and its replacement."""
    new = {"sku": sku, "status": "IN_CART", "replaced_id": item["_id"], "pricing": {"quantity": 1, **pricing}}
    return [{**picked(item, "REPLACED"), "pricing": item["pricing"]}, new]


def by_sku(order: dict[str, Any], sku: str) -> dict[str, Any]:
    """The first item of an order with this SKU."""
    return next(item for item in order["items"] if item["sku"] == sku)
