"""New products: the platform reviews them, then assigns them to vendors (interface.md 4.5; field notes, Product creation)."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import AfterValidator, Field, PlainSerializer
from sqlalchemy import Connection, select

from partner_sandbox import bodies, job_runner, jobs, money
from partner_sandbox.bodies import EVERY_VENDOR, Body, Locale, Number
from partner_sandbox.catalog import assortment
from partner_sandbox.catalog.body import barcode_problem, padded
from partner_sandbox.catalog.products import barcode, category, product
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.vendors import Chain, TheChain, Vendor, find_vendor, vendor_table
from partner_sandbox.weight import Weight


def _digits(value: str) -> str:
    problem = barcode_problem(value) if value else "must have digits"
    if problem:
        raise ValueError(problem)
    return value


def _sound(value: str) -> str:
    value.encode()  # half a surrogate pair is no text
    return value


Text = Annotated[str, AfterValidator(_sound)]
Named = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_sound)]
Price = Annotated[Number, PlainSerializer(lambda price: money.number(money.cut(price)), when_used="json")]


class NewProduct(Body):
    sku: Named
    title: dict[Locale, Named] = Field(min_length=1)
    description: dict[Locale, Text] = Field(default_factory=dict)
    barcodes: list[Annotated[str, AfterValidator(_digits)]] = Field(default_factory=list)
    images: list[Text] = Field(default_factory=list)
    categories: list[Named] = Field(default_factory=list)
    price: Price | None = None
    is_sold_by_weight: bool = False
    weight_specifications: Weight | None = None


class Creation(Body):
    """The body of the request: vendors by name, or * for all of the chain."""

    vendors: list[Named] = Field(min_length=1)
    products: list[NewProduct] = Field(min_length=1)


def take(sandbox: Sandbox, chain: Chain, asked: Creation, address: str) -> tuple[jobs.Job, list[str]]:
    """Queues the review. Returns the job and the products that already exist, as "vendor:sku"."""
    with sandbox.storage.begin() as connection:
        vendors = _vendors(connection, chain.chain, asked.vendors)
        known = [f"{name}:{sku}" for name, sku in _known(connection, vendors, asked)]
        payload = {
            "vendors": [vendor.vendor for vendor in vendors],
            **asked.model_dump(mode="json", include={"products"}),
        }
        job = jobs.receive(connection, sandbox, "creation", address, chain=chain.chain, payload=payload)
        queued = jobs.queue(connection, sandbox, job.seq, len(asked.products), sandbox.behaviour.review_seconds)
    return queued, known


def run(sandbox: Sandbox, job: jobs.Job, _: None) -> None:
    """Ends the review: assigns valid products, inactive until the partner activates them."""
    asked = Creation.model_validate_json(json.dumps(job.payload))
    feedback: list[dict[str, Any]] = []
    with sandbox.storage.begin() as connection:
        vendors = _vendors(connection, job.chain, asked.vendors)
        duplicated = [f"{name}:{sku}" for name, sku in _known(connection, vendors, asked)]
        taken: set[str] = set()
        for new in asked.products:
            reasons = _objections(connection, vendors, new, taken)
            taken.add(new.sku)
            if not reasons:
                _assign(connection, sandbox, vendors, new, set(duplicated))
            feedback.append(
                {"sku": new.sku, "status": "failed" if reasons else "success", "rejection_reasons": reasons}
            )
        result = {"item_level_feedback": feedback, "duplicated_products": duplicated}
        rejected = sum(line["status"] == "failed" for line in feedback)
        jobs.change(connection, job.seq, result=result, rejected=rejected)


def _vendors(connection: Connection, chain: str, names: list[str]) -> list[Vendor]:
    if EVERY_VENDOR in names:
        rows = connection.execute(select(vendor_table.c.vendor).where(vendor_table.c.chain == chain))
        names = sorted(rows.scalars())
    found: list[Vendor] = []
    for name in dict.fromkeys(names):
        one = find_vendor(connection, chain, name)
        if one is None:
            raise not_found(f"Vendor {name!r}")
        found.append(one)
    return found


def _known(connection: Connection, vendors: list[Vendor], asked: Creation) -> list[tuple[str, str]]:
    names = {vendor.key: vendor.vendor for vendor in vendors}
    found: list[tuple[str, str]] = []
    for new in asked.products:
        mine = select(product.c.vendor_key).where(product.c.sku == new.sku, product.c.vendor_key.in_(names))
        found += [(names[key], new.sku) for key in connection.execute(mine).scalars()]
    return sorted(set(found))


def _objections(
    connection: Connection, vendors: list[Vendor], new: NewProduct, taken: set[str]
) -> list[dict[str, str]]:
    """Why the review rejects a product, or None."""
    keys = [vendor.key for vendor in vendors]
    reasons = [] if new.sku not in taken else [_reason(new.sku, "the SKU stands in the request twice")]
    known = select(category.c.global_id).where(
        category.c.vendor_key.in_(keys), category.c.global_id.in_(new.categories)
    )
    missing = set(new.categories) - set(connection.execute(known).scalars())
    reasons += [_reason(name, "there is no such category") for name in sorted(missing)]
    for code in new.barcodes:
        owner = (
            select(product.c.sku).join(barcode).where(barcode.c.vendor_key.in_(keys), barcode.c.barcode == padded(code))
        )
        if any(sku != new.sku for sku in connection.execute(owner).scalars()):
            reasons.append(_reason(code, "the barcode belongs to another product"))
    if new.is_sold_by_weight and new.weight_specifications is None:
        reasons.append(_reason(new.sku, "weight_specifications are required for what is sold by weight"))
    return reasons


def _assign(connection: Connection, sandbox: Sandbox, vendors: list[Vendor], new: NewProduct, there: set[str]) -> None:
    remote = sandbox.ids.uuid()
    for vendor in vendors:
        if f"{vendor.vendor}:{new.sku}" in there:
            continue
        rows = connection.execute(
            select(category).where(category.c.vendor_key == vendor.key, category.c.global_id.in_(new.categories))
        ).mappings()
        item = {
            "sku": new.sku,
            "remote_product_id": remote,
            "title": next(iter(new.title.values())),
            "translations": dict(new.title),
            "description": dict(new.description),
            "barcodes": new.barcodes,
            "images": new.images,
            "categories": [dict(row) for row in rows],
            "price": None if new.price is None else money.text(money.cut(new.price)),
            "active": False,
            "is_sold_by_weight": new.is_sold_by_weight,
            "weight_specifications": new.weight_specifications.model_dump() if new.weight_specifications else None,
        }
        assortment.add(connection, sandbox.ids, vendor, [item])


def _reason(data: str, reason: str) -> dict[str, str]:
    return {"rejected_data": data, "rejected_reason": reason}


router = APIRouter()


@router.post("/v2/chains/{chain_id}/catalog", name="create_products")  # noqa: FAST003  chain_id: TheChain takes it
async def create_products(request: Request, sandbox: TheSandbox, chain: TheChain) -> Response:
    """Accepts new products for review; a job reports the result."""
    if not chain.creation_enabled:
        raise ApiError(501, "NOT_IMPLEMENTED", "Product creation is in early access and not enabled for this partner")
    asked = await bodies.read_body(request, Creation)
    job, duplicated = take(sandbox, chain, asked, jobs.address_of(sandbox, request))
    return await job_runner.accepted(sandbox, job, request, more={"duplicated_products": duplicated})
