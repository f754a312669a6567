"""What a newcomer needs first: a small assortment to try with, invented; addresses, credentials and commands to paste.

The start prints them, and the front page shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import Connection, func, select

from partner_sandbox import answers, webhooks
from partner_sandbox.catalog import assortment
from partner_sandbox.catalog.products import product
from partner_sandbox.contract import described
from partner_sandbox.jobs import address_of
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.vendors import CHAIN, CLIENT_ID, CLIENT_SECRET, VENDORS, find_vendor

CATEGORIES: dict[str, tuple[str, str | None]] = {
    "fresh": ("Fresh food", None),
    "dairy": ("Dairy", "fresh"),
    "fruit": ("Fruit and vegetables", "fresh"),
    "bakery": ("Bakery", "fresh"),
    "drinks": ("Drinks", None),
    "household": ("Household", None),
}
_ROWS: tuple[tuple[str, str, str, str | None, dict[str, Any]], ...] = (
    ("MILK-1L", "Milk 1 l", "dairy", "1.29", {"barcodes": ["4000000000013"]}),
    ("BUTTER-250", "Butter 250 g", "dairy", "2.49", {"barcodes": ["4000000000020"]}),
    ("YOGHURT-500", "Yoghurt 500 g", "dairy", "1.19", {"barcodes": ["4000000000037"], "max_sales_quantity": 6}),
    ("EGGS-10", "Eggs, 10 pieces", "dairy", "3.19", {"barcodes": ["4000000000044", "4000000000051"]}),
    ("CHEDDAR-KG", "Cheddar, by weight", "dairy", "12.90", {"is_sold_by_weight": True}),
    ("BANANA-KG", "Bananas, by weight", "fruit", "1.79", {"is_sold_by_weight": True}),
    ("APPLE-KG", "Apples, by weight", "fruit", "2.59", {"is_sold_by_weight": True}),
    ("CUCUMBER", "Cucumber", "fruit", "0.89", {"sales_buffer": 3}),
    ("TOMATO-500", "Tomatoes 500 g", "fruit", "1.99", {"barcodes": ["4000000000068"]}),
    ("BREAD-WHOLE", "Wholemeal bread", "bakery", "2.39", {"barcodes": ["4000000000075"], "max_sales_quantity": 4}),
    ("BAGUETTE", "Baguette", "bakery", "1.09", {}),
    ("CROISSANT", "Croissant", "bakery", "0.95", {"active": False}),
    ("WATER-6", "Water, 6 x 1.5 l", "drinks", "2.94", {"barcodes": ["4000000000082"], "max_sales_quantity": 2}),
    ("JUICE-1L", "Orange juice 1 l", "drinks", "2.29", {"barcodes": ["4000000000099"]}),
    ("COFFEE-500", "Coffee 500 g", "drinks", "6.99", {"barcodes": ["4000000000105"]}),
    ("TEA-25", "Tea, 25 bags", "drinks", "1.89", {"barcodes": ["4000000000112"]}),
    ("SOAP", "Soap", "household", "0.79", {"barcodes": ["4000000000129"]}),
    ("TOWELS-4", "Kitchen towels, 4 rolls", "household", "3.49", {"barcodes": ["4000000000136"]}),
    ("SPONGE-3", "Sponges, 3 pieces", "household", "1.49", {"barcodes": ["4000000000143"], "active": False}),
    ("NEW-ARTICLE", "An article without a price yet", "household", None, {}),
)


def products() -> list[dict[str, Any]]:
    """The demo's assortment, as PUT .../products takes it."""
    return [
        {"sku": sku, "title": title, "price": price, "categories": _path(category), **more}
        for sku, title, category, price, more in _ROWS
    ]


def _path(leaf: str) -> list[dict[str, Any]]:
    """The category and those above it."""
    name, parent = CATEGORIES[leaf]
    own = {"global_id": leaf, "name": {"en_GB": name}, "parent_global_id": parent}
    return [own, *(_path(parent) if parent else ())]


def fill(connection: Connection, sandbox: Sandbox) -> list[str]:
    """Fills the demo chain's vendors that have no products; returns their names."""
    filled = []
    for name in VENDORS:
        vendor = find_vendor(connection, CHAIN, name)
        if vendor is None:
            continue
        mine = select(func.count()).select_from(product).where(product.c.vendor_key == vendor.key)
        if not connection.execute(mine).scalar_one():
            assortment.replace(connection, sandbox.ids, vendor, products(), sandbox.clock.now_us())
            filled.append(name)
    return filled


JSON = "-H 'Content-Type: application/json'"
VENDOR = VENDORS[0]
FACTS = (
    "Vendors start empty. Start with --demo, or run the first command.",
    "Customers see a change 15 minutes after its job. To see it at once: --set propagation_s=0.",
    "Customers see a promotion 15 minutes after its job. To see it at once: --set promotion_propagation_s=0.",
    "Without a webhook secret the sandbox sends no event.",
)


@dataclass(frozen=True)
class Step:
    """One command of curl, and what it does."""

    does: str
    command: str


def first_steps(base_url: str) -> tuple[Step, ...]:
    """From empty vendors to an order; the third one uses the second's token."""
    catalog = f"{base_url}/v2/chains/{CHAIN}/vendors/{VENDOR}/catalog"
    orders = f"{base_url}/_sandbox/chains/{CHAIN}/vendors/{VENDOR}/orders"
    credentials = f"-d grant_type=client_credentials -d client_id={CLIENT_ID} -d client_secret={CLIENT_SECRET}"
    pick = r"""sed 's/.*"access_token": *"\([^"]*\)".*/\1/'"""
    price = f'{{"products": [{{"sku": "{_ROWS[0][0]}", "price": 1.35, "active": true}}]}}'
    items = f'{{"items": [{{"sku": "{_ROWS[0][0]}", "quantity": 2}}]}}'
    return (
        Step("fill the vendors", f"curl -s -X POST {base_url}/_sandbox/demo"),
        Step("take a token", f"TOKEN=$(curl -s {base_url}/v2/oauth/token {credentials} | {pick})"),
        Step(
            "change a price, as a job",
            f"""curl -s -X PUT {catalog} -H "Authorization: Bearer $TOKEN" {JSON} -d '{price}'""",
        ),
        Step("order as a customer", f"curl -s -X POST {orders} {JSON} -d '{items}'"),
    )


def webhook_step(base_url: str) -> Step:
    """How to receive events."""
    body = '{"catalog_url": "http://127.0.0.1:9000/jobs", "order_url": "http://127.0.0.1:9000/orders", "secret": "any text"}'
    path = f"{base_url}/_sandbox/chains/{CHAIN}/webhook"
    return Step("receive events at an address of yours", f"curl -s -X PUT {path} {JSON} -d '{body}'")


def first_lines(base_url: str, *, demo: bool) -> list[str]:
    """What the start prints after its address: where to go, who to be, and three commands to paste."""
    steps = first_steps(base_url)[1:] if demo else first_steps(base_url)[:3]
    vendors = f"{VENDORS[0]} to {VENDORS[-1]}, {'with the products of the demo' if demo else 'without products'}"
    return [
        f"  portal     {base_url}/portal",
        f"  reference  {base_url}/reference, control plane {base_url}/_sandbox/reference",
        f"  chain      {CHAIN}",
        f"  vendors    {vendors}",
        f"  client     {CLIENT_ID}",
        f"  secret     {CLIENT_SECRET}",
        "",
        *(f"# {step.does}\n{step.command}" for step in steps),
    ]


router = APIRouter()


@router.post("/demo", **described(answers.Demo))
def post_demo(request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Fills vendors that have no products; what to do next, and whether events are sent."""
    base_url = address_of(sandbox, request)
    with sandbox.storage.begin() as connection:
        filled = fill(connection, sandbox)
        webhook = webhooks.addresses(connection, CHAIN)
    return {
        "chain": CHAIN,
        "filled": filled,
        "skus": [row[0] for row in _ROWS],
        "webhook": webhook,
        "next": [vars(step) for step in (*first_steps(base_url)[1:], webhook_step(base_url))],
    }
