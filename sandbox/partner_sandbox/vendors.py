"""Chains and their vendors: the seed, the checks that every operation begins with (interface.md 5, 7), and the status of an outlet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request
from pydantic import Field

from partner_sandbox import bodies
from partner_sandbox.bodies import Body, InstantUs
from partner_sandbox.clock import iso, to_us
from partner_sandbox.errors import ApiError, invalid, not_found
from partner_sandbox.sandbox import TheSandbox
from partner_sandbox.storage import metadata
from partner_sandbox.tokens import ChainOfToken, client_table

chain_table = sa.Table(
    "chain",
    metadata,
    sa.Column("chain", sa.Text, primary_key=True),
    sa.Column("enabled", sa.Boolean, nullable=False, comment="false: 404 Platform Not Found"),
    sa.Column("creation_enabled", sa.Boolean, nullable=False, comment="inside the pilot of product creation"),
)

vendor_table = sa.Table(
    "vendor",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("chain", sa.Text, sa.ForeignKey("chain.chain"), nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("external_partner_config_id", sa.Text, comment="the partner's own store identifier"),
    sa.Column("sales_buffer", sa.Integer, nullable=False, comment="for products without a buffer of their own"),
    sa.Column("status", sa.Text, nullable=False, comment="OPEN, CLOSED_TODAY, CLOSED_UNTIL, CHECKIN"),
    sa.Column("closed_reason", sa.Text),
    sa.Column("closed_until", sa.Text, comment="when it opens by itself, ISO 8601 with milliseconds"),
    sa.UniqueConstraint("chain", "vendor"),
)


CHAIN = "demo-chain"
VENDORS = tuple(f"store-{number:03d}" for number in range(1, 7))
SALES_BUFFER = 1
"""The default of a vendor: a product without stock goes off sale."""
CLIENT_ID = "demo-client"
CLIENT_SECRET = "demo-secret"  # noqa: S105  the sandbox's published example


def plant(connection: sa.Connection) -> None:
    """Adds the seed to an empty database; a database that has chains is left as it is."""
    if connection.execute(sa.select(sa.func.count()).select_from(chain_table)).scalar_one():
        return
    connection.execute(chain_table.insert().values(chain=CHAIN, enabled=True, creation_enabled=False))
    connection.execute(client_table.insert().values(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, chain=CHAIN))
    for name in VENDORS:
        add_vendor(connection, CHAIN, name)


def add_vendor(connection: sa.Connection, chain_id: str, vendor_id: str, **values: object) -> None:
    """A new vendor with the platform's defaults and, on top of them, `values`."""
    row = {"chain": chain_id, "vendor": vendor_id, "name": vendor_id, "sales_buffer": SALES_BUFFER, "status": "OPEN"}
    connection.execute(vendor_table.insert().values({**row, **values}))


@dataclass(frozen=True)
class Chain:
    """A chain whose own token came with the request."""

    chain: str
    creation_enabled: bool


@dataclass(frozen=True)
class Vendor:
    """A vendor of that chain; `key` is its number in the storage."""

    key: int
    chain: str
    vendor: str
    name: str
    external_partner_config_id: str | None
    sales_buffer: int


def find_vendor(connection: sa.Connection, chain_id: str, vendor_id: str) -> Vendor | None:
    """A vendor by its platform identifier."""
    mine = sa.select(vendor_table).where(vendor_table.c.chain == chain_id, vendor_table.c.vendor == vendor_id)
    row = connection.execute(mine).one_or_none()
    return None if row is None else _vendor(row)


def named_vendor(connection: sa.Connection, chain_id: str, vendor_id: str) -> Vendor:
    """The same; 404 if the chain has no such vendor."""
    found = find_vendor(connection, chain_id, vendor_id)
    if found is None:
        raise not_found("Vendor")
    return found


def store_named(connection: sa.Connection, chain_id: str, name: str) -> Vendor:
    """By the partner's own store identifier, or by the platform's (interface.md 2.5, 4.10); 404 for neither."""
    own_first = vendor_table.c.external_partner_config_id == name
    mine = sa.select(vendor_table).where(vendor_table.c.chain == chain_id, own_first | (vendor_table.c.vendor == name))
    row = connection.execute(mine.order_by(sa.func.coalesce(own_first, False).desc()).limit(1)).one_or_none()
    if row is None:
        raise not_found("Vendor")
    return _vendor(row)


def _vendor(row: sa.Row[Any]) -> Vendor:
    return Vendor(row.id, row.chain, row.vendor, row.name, row.external_partner_config_id, row.sales_buffer)


def chain(chain_id: str, sandbox: TheSandbox, own: ChainOfToken) -> Chain:
    """The chain of the path; 404 unless it is the chain of the token."""
    with sandbox.storage.begin() as connection:
        row = connection.execute(sa.select(chain_table).where(chain_table.c.chain == chain_id)).one_or_none()
    if row is None or row.chain != own:
        raise not_found("Chain")
    if not row.enabled:
        raise ApiError(404, "NOT_FOUND", "Platform Not Found", rule="5.4")
    return Chain(row.chain, row.creation_enabled)


TheChain = Annotated[Chain, Depends(chain)]


def vendor(vendor_id: str, sandbox: TheSandbox, within: TheChain) -> Vendor:
    """The vendor of the path, by either of its identifiers (interface.md 2.5); 404 if the chain has no such vendor."""
    with sandbox.storage.begin() as connection:
        return store_named(connection, within.chain, vendor_id)


TheVendor = Annotated[Vendor, Depends(vendor)]

router = APIRouter(prefix="/v2/chains/{chain_id}/vendors/{vendor_id}")


DAY_US = to_us(86_400)


class OutletStatus(Body):
    """Whether the vendor takes orders."""

    status: Literal["OPEN", "CLOSED_TODAY", "CLOSED_UNTIL", "CHECKIN"]
    closed_reason: Annotated[str, Field(max_length=1000)] | None = None
    closed_until: InstantUs | None = None

    def closing(self, now_us: int) -> dict[str, Any]:
        """The columns of the vendor; 400 for CLOSED_UNTIL without a time to come."""
        until_us = self.closed_until
        if self.status == "CLOSED_UNTIL" and (until_us is None or until_us <= now_us):
            raise invalid("closed_until", "must be a time to come with the status CLOSED_UNTIL")
        if self.status == "CLOSED_TODAY":
            until_us = now_us // DAY_US * DAY_US + DAY_US
        ends = self.status in {"CLOSED_TODAY", "CLOSED_UNTIL"} and until_us is not None
        return {
            "status": self.status,
            "closed_reason": None if self.status == "OPEN" else self.closed_reason,
            "closed_until": iso(until_us) if ends and until_us is not None else None,
        }


def outlet(connection: sa.Connection, vendor: Vendor, now_us: int) -> dict[str, Any]:
    """The status as it is now: a closed outlet opens by itself when its time is over."""
    row = connection.execute(sa.select(vendor_table).where(vendor_table.c.id == vendor.key)).one()
    status, reason, until = row.status, row.closed_reason, row.closed_until
    if until is not None and until <= iso(now_us):
        status, reason, until = "OPEN", None, None
    shown = until if status == "CLOSED_UNTIL" else None
    return {"vendor_id": vendor.vendor, "status": status, "closed_reason": reason, "closed_until": shown}


@router.get("/status", name="outlet_status")
def read_status(sandbox: TheSandbox, vendor: TheVendor) -> dict[str, Any]:
    """Whether the vendor takes orders; many use it as their connection test."""
    with sandbox.storage.begin() as connection:
        return outlet(connection, vendor, sandbox.clock.now_us())


@router.put("/status", name="outlet_status")
async def put_status(request: Request, sandbox: TheSandbox, vendor: TheVendor) -> dict[str, Any]:
    """Opens or closes the outlet; a closed one receives no order."""
    body = await bodies.read_body(request, OutletStatus)
    now_us = sandbox.clock.now_us()
    with sandbox.storage.begin() as connection:
        mine = sa.update(vendor_table).where(vendor_table.c.id == vendor.key)
        connection.execute(mine.values(body.closing(now_us)))
        return outlet(connection, vendor, now_us)
