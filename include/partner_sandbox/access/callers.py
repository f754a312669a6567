"""The caller and its vendor: the checks that every operation of the interface begins with (interface.md 5, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import Connection, select

from partner_sandbox.access import tokens
from partner_sandbox.access.tables import chain as chain_table
from partner_sandbox.access.tables import vendor as vendor_table
from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.sandbox import Sandbox

UNAUTHORISED = ApiError(401, "UNAUTHORIZED", "The token is not valid", {"WWW-Authenticate": "Bearer"})


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


def sandbox_of(request: Request) -> Sandbox:
    """The platform behind this app."""
    sandbox: Sandbox = request.app.state.sandbox
    return sandbox


TheSandbox = Annotated[Sandbox, Depends(sandbox_of)]


def bearer(request: Request) -> str | None:
    """The token of the Authorization header, or None."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" and text.strip() else None


def caller(request: Request, sandbox: TheSandbox) -> tokens.Caller:
    """The caller that holds the token; 401 for a missing, unknown or expired one."""
    text = bearer(request)
    if text is None or sandbox.faults.draw(
        request.state.operation, "token_expired", vendor=request.path_params.get("vendor_id")
    ):
        raise UNAUTHORISED
    with sandbox.storage.begin() as connection:
        found = tokens.caller_of(connection, text, sandbox.clock.now_us())
    if found is None:
        raise UNAUTHORISED
    return found


TheCaller = Annotated[tokens.Caller, Depends(caller)]


def chain(chain_id: str, sandbox: TheSandbox, who: TheCaller) -> Chain:
    """The chain of the path; 404 unless it is the chain of the token."""
    with sandbox.storage.begin() as connection:
        row = connection.execute(select(chain_table).where(chain_table.c.chain == chain_id)).one_or_none()
    if row is None or row.chain != who.chain:
        raise not_found("Chain")
    if not row.enabled:
        raise ApiError(404, "NOT_FOUND", "Platform Not Found")
    return Chain(row.chain, row.creation_enabled)


TheChain = Annotated[Chain, Depends(chain)]


def find_vendor(connection: Connection, chain_id: str, vendor_id: str) -> Vendor | None:
    """A vendor by its platform identifier."""
    row = connection.execute(
        select(vendor_table).where(vendor_table.c.chain == chain_id, vendor_table.c.vendor == vendor_id)
    ).one_or_none()
    if row is None:
        return None
    return Vendor(row.id, row.chain, row.vendor, row.name, row.external_partner_config_id, row.sales_buffer)


def vendor(vendor_id: str, sandbox: TheSandbox, within: TheChain) -> Vendor:
    """The vendor of the path; 404 if the chain has no such vendor."""
    with sandbox.storage.begin() as connection:
        found = find_vendor(connection, within.chain, vendor_id)
    if found is None:
        raise not_found("Vendor")
    return found


TheVendor = Annotated[Vendor, Depends(vendor)]
