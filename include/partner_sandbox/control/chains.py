"""Chains, vendors, assortments and webhook settings at the control plane."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, select, update

from partner_sandbox.access.callers import TheSandbox, Vendor, find_vendor
from partner_sandbox.access.tables import chain as chain_table
from partner_sandbox.access.tables import client, token, vendor
from partner_sandbox.catalog import assortment
from partner_sandbox.catalog.body import BodyError, products
from partner_sandbox.errors import invalid, not_found
from partner_sandbox.promotions import seen
from partner_sandbox.sandbox import Sandbox, add_vendor
from partner_sandbox.webhooks.notices import webhook

router = APIRouter(prefix="/chains/{chain_id}")
IN_MEMORY_BYTES_MAX = 4 * 1024 * 1024


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Client(_Body):
    client_id: str = Field(min_length=1)
    client_secret: str = Field(min_length=1)


class ChainBody(_Body):
    """A chain; what is left out stays, or is the default for a new one."""

    enabled: bool | None = None
    creation_enabled: bool | None = None
    clients: list[Client] = Field(default_factory=list)
    tokens: list[str] = Field(default_factory=list, description="static portal tokens, valid for ever")


class VendorBody(_Body):
    """A vendor; what is left out stays, or is the default for a new one."""

    name: str | None = None
    external_partner_config_id: str | None = None
    sales_buffer: int | None = None
    buffer: int | None = Field(None, description="the same as sales_buffer")
    status: str | None = None


class WebhookBody(_Body):
    catalog_url: str | None = None
    order_url: str | None = None
    secret: str | None = None


@router.put("")
def put_chain(chain_id: str, sandbox: TheSandbox, body: ChainBody) -> dict[str, Any]:
    """Makes a chain or changes it; clients and static tokens are added to it."""
    given = body.model_dump(include={"enabled", "creation_enabled"}, exclude_none=True)
    with sandbox.storage.begin() as connection:
        known = connection.execute(select(chain_table).where(chain_table.c.chain == chain_id)).one_or_none()
        if known is None:
            row = {"chain": chain_id, "enabled": True, "creation_enabled": False, **given}
            connection.execute(chain_table.insert().values(row))
        elif given:
            connection.execute(update(chain_table).where(chain_table.c.chain == chain_id).values(given))
        for credentials in body.clients:
            row = {**credentials.model_dump(), "chain": chain_id}
            connection.execute(client.insert().prefix_with("OR REPLACE").values(row))
        for text in body.tokens:
            row = {"token": text, "chain": chain_id, "issued_us": sandbox.clock.now_us()}
            connection.execute(token.insert().prefix_with("OR REPLACE").values(row))
    return {"chain": chain_id, **given}


@router.put("/vendors/{vendor_id}")
def put_vendor(chain_id: str, vendor_id: str, sandbox: TheSandbox, body: VendorBody | None = None) -> dict[str, Any]:
    """Makes a vendor or changes it."""
    given = body.model_dump(exclude_none=True) if body else {}
    if "buffer" in given:
        given["sales_buffer"] = given.pop("buffer")
    with sandbox.storage.begin() as connection:
        _chain(connection, chain_id)
        if find_vendor(connection, chain_id, vendor_id) is None:
            add_vendor(connection, chain_id, vendor_id, **given)
        elif given:
            mine = (vendor.c.chain == chain_id, vendor.c.vendor == vendor_id)
            connection.execute(update(vendor).where(*mine).values(given))
        made = _vendor(connection, chain_id, vendor_id)
    return {
        "chain": chain_id,
        "vendor": made.vendor,
        "name": made.name,
        "external_partner_config_id": made.external_partner_config_id,
        "sales_buffer": made.sales_buffer,
    }


@router.put("/vendors/{vendor_id}/products")
async def put_products(chain_id: str, vendor_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Replaces the assortment; customers see it at once."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES_MAX) as file:
        async for piece in request.stream():
            file.write(piece)
        file.seek(0)
        try:
            count = await asyncio.to_thread(_replace, sandbox, chain_id, vendor_id, file)
        except BodyError as error:
            raise invalid(error.field, error.problem) from None
    return {"vendor": vendor_id, "products": count}


@router.get("/vendors/{vendor_id}/products")
def get_products(chain_id: str, vendor_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """What the platform holds, and under `app` what a customer sees."""
    with sandbox.storage.begin() as connection:
        of = _vendor(connection, chain_id, vendor_id)
        now_us = sandbox.clock.now_us()
        products = assortment.read(connection, of, now_us)
        return {"products": list(seen.dressed(connection, of.key, now_us, products))}


@router.put("/webhook")
def put_webhook(chain_id: str, sandbox: TheSandbox, body: WebhookBody) -> dict[str, Any]:
    """Where events go and the secret they carry; without a secret nothing is sent (interface.md 5.6)."""
    with sandbox.storage.begin() as connection:
        _chain(connection, chain_id)
        row = {"chain": chain_id, **body.model_dump()}
        connection.execute(webhook.insert().prefix_with("OR REPLACE").values(row))
    return {"catalog_url": body.catalog_url, "order_url": body.order_url, "secret_set": bool(body.secret)}


def _replace(sandbox: Sandbox, chain_id: str, vendor_id: str, file: Any) -> int:
    with sandbox.storage.begin() as connection:
        of = _vendor(connection, chain_id, vendor_id)
        return assortment.replace(connection, sandbox.ids, of, products(file), sandbox.clock.now_us())


def _chain(connection: Connection, chain_id: str) -> None:
    if connection.execute(select(chain_table).where(chain_table.c.chain == chain_id)).first() is None:
        raise not_found("Chain")


def _vendor(connection: Connection, chain_id: str, vendor_id: str) -> Vendor:
    found = find_vendor(connection, chain_id, vendor_id)
    if found is None:
        raise not_found("Vendor")
    return found
