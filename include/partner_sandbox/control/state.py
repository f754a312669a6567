"""What the platform holds, in numbers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Integer, cast, func, select

from partner_sandbox.access.tables import chain, vendor
from partner_sandbox.catalog.tables import product
from partner_sandbox.jobs.tables import job
from partner_sandbox.orders.tables import order
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.webhooks.tables import delivery, webhook


def overview(sandbox: Sandbox) -> dict[str, Any]:
    """The answer of GET /_sandbox/state."""
    with sandbox.storage.begin() as connection:
        chains = [_chain(connection, row.chain) for row in connection.execute(select(chain).order_by(chain.c.chain))]
        return {
            "now": sandbox.clock.now_iso(),
            "clock": "virtual" if sandbox.clock.virtual else "real",
            "dialect": sandbox.behaviour.dialect,
            "storage_url": sandbox.storage_url,
            "chains": chains,
            "jobs": _counts(connection, job.c.state),
            "orders": _counts(connection, order.c.state),
            "deliveries": _counts(connection, delivery.c.state),
            "max_requests_in_60s": sandbox.journal.max_requests_in_60s,
        }


def _chain(connection: Connection, name: str) -> dict[str, Any]:
    hook = connection.execute(select(webhook).where(webhook.c.chain == name)).one_or_none()
    counted = (
        select(
            vendor.c.vendor,
            vendor.c.external_partner_config_id,
            vendor.c.sales_buffer,
            func.count(product.c.id).label("products"),
            func.coalesce(func.sum(cast(product.c.active, Integer)), 0).label("active"),
        )
        .outerjoin(product, product.c.vendor_key == vendor.c.id)
        .where(vendor.c.chain == name)
        .group_by(vendor.c.id)
        .order_by(vendor.c.vendor)
    )
    return {
        "chain": name,
        "webhook": {
            "catalog_url": hook.catalog_url if hook else None,
            "order_url": hook.order_url if hook else None,
            "secret_set": bool(hook and hook.secret),
        },
        "vendors": [dict(row) for row in connection.execute(counted).mappings()],
    }


def _counts(connection: Connection, column: Any) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).group_by(column).order_by(column))
    return {name: count for name, count in rows if name != "RECEIVING"}
