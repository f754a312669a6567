"""A small assortment to try with: products of several kinds in a tree of categories, invented."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import Connection, func, select

from partner_sandbox import answers, guide, webhooks
from partner_sandbox.catalog import assortment
from partner_sandbox.catalog.products import product
from partner_sandbox.contract import described
from partner_sandbox.jobs.jobs import address_of
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.vendors import CHAIN, VENDORS, find_vendor

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
        "next": [
            {"does": step.does, "command": step.command}
            for step in (*guide.first_steps(base_url)[1:], guide.webhook_step(base_url))
        ],
    }
