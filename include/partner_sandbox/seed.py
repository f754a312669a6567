"""What a new platform knows: one chain, six vendors, one client."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from partner_sandbox.access.tables import chain, client, vendor

CHAIN = "demo-chain"
VENDORS = tuple(f"store-{number:03d}" for number in range(1, 7))
SALES_BUFFER = 1
"""A vendor's until it is set otherwise: a product of which nothing is left goes off the shelf."""
CLIENT_ID = "demo-client"
CLIENT_SECRET = "demo-secret"  # noqa: S105  the sandbox's published example


def plant(connection: Connection) -> None:
    """Adds the seed to an empty database; a database that has chains is left as it is."""
    if connection.execute(select(func.count()).select_from(chain)).scalar_one():
        return
    connection.execute(chain.insert().values(chain=CHAIN, enabled=True, creation_enabled=False))
    connection.execute(client.insert().values(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, chain=CHAIN))
    for name in VENDORS:
        add_vendor(connection, CHAIN, name)


def add_vendor(connection: Connection, chain_id: str, vendor_id: str, **values: object) -> None:
    """A new vendor with the platform's defaults and, on top of them, `values`."""
    row = {
        "chain": chain_id,
        "vendor": vendor_id,
        "name": vendor_id,
        "sales_buffer": SALES_BUFFER,
        "status": "OPEN",
    }
    connection.execute(vendor.insert().values({**row, **values}))
