"""What the pages show of vendors, jobs and webhooks, read from the platform's tables."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Integer, cast, func, select

from partner_sandbox.access.tables import chain as chain_table
from partner_sandbox.access.tables import vendor
from partner_sandbox.catalog.propagation import show_due
from partner_sandbox.catalog.tables import product, visible_change
from partner_sandbox.jobs.jobs import job, job_item
from partner_sandbox.promotions import seen
from partner_sandbox.webhooks.notices import attempt, delivery, webhook


def chains(connection: Connection) -> list[str]:
    return list(connection.execute(select(chain_table.c.chain).order_by(chain_table.c.chain)).scalars())


def vendors(connection: Connection, chain: str, now_us: int) -> list[dict[str, Any]]:
    """Each vendor with how much of it customers see now."""
    show_due(connection, now_us)
    counted = (
        select(
            vendor.c.id,
            vendor.c.vendor,
            vendor.c.name,
            vendor.c.external_partner_config_id,
            vendor.c.status,
            func.count(product.c.id).label("products"),
            func.coalesce(func.sum(cast(product.c.app_active, Integer)), 0).label("available"),
        )
        .outerjoin(product, product.c.vendor_key == vendor.c.id)
        .where(vendor.c.chain == chain)
        .group_by(vendor.c.id)
        .order_by(vendor.c.vendor)
    )
    counted_changes = (
        select(product.c.vendor_key, func.count(visible_change.c.product_id.distinct()).label("products"))
        .join(visible_change, visible_change.c.product_id == product.c.id)
        .group_by(product.c.vendor_key)
    )
    waiting = {row.vendor_key: row.products for row in connection.execute(counted_changes)}
    return [
        {
            **row,
            "on_the_way": waiting.get(row["id"], 0),
            "promoted": len(seen.now(connection, row["id"], now_us)),
        }
        for row in connection.execute(counted).mappings().all()
    ]


def jobs(connection: Connection, chain: str, first: int, count: int) -> tuple[int, list[dict[str, Any]]]:
    """How many jobs the chain has, and some of them, the newest first."""
    where = (job.c.chain == chain, job.c.state != "RECEIVING")
    total = connection.execute(select(func.count()).select_from(job).where(*where)).scalar_one()
    columns = [column for column in job.c if column.name not in {"payload", "result"}]
    rows = connection.execute(
        select(*columns).where(*where).order_by(job.c.seq.desc()).limit(count).offset(first)
    ).mappings()
    return total, [dict(row) for row in rows]


def job_items(
    connection: Connection, job_seq: int, first: int, count: int, *, only_rejected: bool
) -> tuple[int, list[dict[str, Any]]]:
    """The outcome of each item of an update."""
    where = [job_item.c.job_seq == job_seq]
    if only_rejected:
        where.append(job_item.c.error.is_not(None))
    total = connection.execute(select(func.count()).select_from(job_item).where(*where)).scalar_one()
    rows = connection.execute(
        select(job_item).where(*where).order_by(job_item.c.number).limit(count).offset(first)
    ).mappings()
    return total, [dict(row) for row in rows]


def webhook_of(connection: Connection, chain: str) -> dict[str, Any]:
    """Where events go; of the secret only whether there is one."""
    row = connection.execute(select(webhook).where(webhook.c.chain == chain)).one_or_none()
    return {
        "catalog_url": row.catalog_url if row else None,
        "order_url": row.order_url if row else None,
        "secret_set": bool(row and row.secret),
    }


def deliveries(
    connection: Connection, chain: str, first: int, count: int, *, subject: str | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Events of the chain, or of one job or order, the newest first, each with its attempts."""
    where = [delivery.c.chain == chain]
    if subject is not None:
        where.append(delivery.c.subject == subject)
    total = connection.execute(select(func.count()).select_from(delivery).where(*where)).scalar_one()
    rows = (
        connection.execute(select(delivery).where(*where).order_by(delivery.c.id.desc()).limit(count).offset(first))
        .mappings()
        .all()
    )
    tried: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    made = select(attempt).where(attempt.c.delivery_id.in_([row["id"] for row in rows]))
    for line in connection.execute(made.order_by(attempt.c.delivery_id, attempt.c.number)).mappings():
        tried[line["delivery_id"]].append(dict(line))
    return total, [{**row, "tried": tried[row["id"]]} for row in rows]


def left_out(job_row: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Vendor, SKU and reason of each item that a promotion or a creation left out."""
    result = job_row["result"] or {}
    lines = [(name, "", "no such vendor in the chain") for name in result.get("invalid_vendors", [])]
    for field, reason in (
        ("missing_skus", "not in the catalog of the vendor"),
        ("invalid_discounted_skus", "the discounted price is not above zero and below the price"),
    ):
        lines += [(name, sku, reason) for name, skus in result.get(field, {}).items() for sku in skus]
    for line in result.get("item_level_feedback", []):
        reasons = "; ".join(
            f"{reason['rejected_data']}: {reason['rejected_reason']}" for reason in line["rejection_reasons"]
        )
        lines.append(("", line["sku"], reasons or line["status"]))
    lines += [(*name.partition(":")[::2], "already there") for name in result.get("duplicated_products", [])]
    return lines


def compact(body: str, most: int = 20_000) -> str:
    """A body short enough for a page."""
    return body if len(body) <= most else json.dumps({"cut": f"{len(body)} characters", "begins": body[:1000]})
