"""What the pages show of vendors, their shelves, jobs and webhooks, and the chart of the request limit, read from the platform's tables."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, Row, Select, cast, func, select, text

from partner_sandbox import storage
from partner_sandbox.catalog.products import barcodes_of, has_term, product, show_due, visible_change
from partner_sandbox.clock import SECOND_US, iso
from partner_sandbox.errors import not_found
from partner_sandbox.jobs import job, job_item
from partner_sandbox.promotions import shown
from partner_sandbox.promotions.shown import Seen
from partner_sandbox.vendors import Vendor, chain_table, vendor_table
from partner_sandbox.webhooks import attempt, delivery


def chains(connection: Connection) -> list[str]:
    return list(connection.execute(select(chain_table.c.chain).order_by(chain_table.c.chain)).scalars())


def vendors(connection: Connection, chain: str, now_us: int) -> list[dict[str, Any]]:
    """Each vendor with how much of it customers see now."""
    show_due(connection, now_us)
    counted = (
        select(
            vendor_table.c.id,
            vendor_table.c.vendor,
            vendor_table.c.name,
            vendor_table.c.external_partner_config_id,
            vendor_table.c.status,
            func.count(product.c.id).label("products"),
            func.coalesce(func.sum(cast(product.c.app_active, Integer)), 0).label("available"),
        )
        .outerjoin(product, product.c.vendor_key == vendor_table.c.id)
        .where(vendor_table.c.chain == chain)
        .group_by(vendor_table.c.id)
        .order_by(vendor_table.c.vendor)
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
            "promoted": len(shown.now(connection, row["id"], now_us)),
        }
        for row in connection.execute(counted).mappings().all()
    ]


def jobs(connection: Connection, chain: str, first: int, count: int) -> tuple[int, list[dict[str, Any]]]:
    """How many jobs the chain has, and some of them, the newest first."""
    columns = [column for column in job.c if column.name not in {"payload", "result"}]
    mine = select(*columns).where(job.c.chain == chain, job.c.state != "RECEIVING").order_by(job.c.seq.desc())
    return _page(connection, mine, first, count)


def job_items(
    connection: Connection, job_seq: int, first: int, count: int, *, only_rejected: bool
) -> tuple[int, list[dict[str, Any]]]:
    """The outcome of each item of an update."""
    where = [job_item.c.job_seq == job_seq]
    if only_rejected:
        where.append(job_item.c.error.is_not(None))
    return _page(connection, select(job_item).where(*where).order_by(job_item.c.number), first, count)


def _page(connection: Connection, query: Select[Any], first: int, count: int) -> tuple[int, list[dict[str, Any]]]:
    total, rows = storage.page(connection, query, first, count)
    return total, [row._asdict() for row in rows]


def deliveries(
    connection: Connection, chain: str, first: int, count: int, *, subject: str | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """Events of the chain, or of one job or order, the newest first, each with its attempts."""
    where = [delivery.c.chain == chain]
    if subject is not None:
        where.append(delivery.c.subject == subject)
    total, rows = _page(connection, select(delivery).where(*where).order_by(delivery.c.id.desc()), first, count)
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


@dataclass(frozen=True)
class Shown:
    """One product on the shelf."""

    row: Row[Any]
    barcodes: str
    visible_us: int | None
    promotion: Seen | None

    @property
    def pays_milli(self) -> int | None:
        """What a customer pays."""
        promoted = None if self.promotion is None else self.promotion.price_milli(self.row.app_price_milli)
        bundle = self.promotion is not None and self.promotion.type != shown.STRIKETHROUGH
        return self.row.app_price_milli if promoted is None or bundle else promoted

    @property
    def offer(self) -> str | None:
        """The name of the promotion, where a customer has something of it."""
        if self.promotion is None or self.promotion.price_milli(self.row.app_price_milli) is None:
            return None
        return self.promotion.name

    @property
    def struck(self) -> bool:
        """Whether the price on the shelf is struck through."""
        return bool(self.pays_milli != self.row.app_price_milli)


def shelf(
    connection: Connection, of: Vendor, now_us: int, first: int, count: int, term: str = ""
) -> tuple[int, list[Shown]]:
    """How many products fit the term, and some of them in the order of their SKUs."""
    show_due(connection, now_us)
    where = [product.c.vendor_key == of.key]
    if term:
        where.append(has_term(term))
    total, rows = storage.page(connection, select(product).where(*where).order_by(product.c.sku), first, count)
    ids = [row.id for row in rows]
    codes = barcodes_of(connection, ids)
    waiting = (
        select(visible_change.c.product_id, func.max(visible_change.c.visible_us).label("visible_us"))
        .where(visible_change.c.product_id.in_(ids))
        .group_by(visible_change.c.product_id)
    )
    due = {row.product_id: row.visible_us for row in connection.execute(waiting)}
    promotions = shown.now(connection, of.key, now_us, [row.sku for row in rows])
    return total, [Shown(row, ", ".join(codes[row.id]), due.get(row.id), promotions.get(row.sku)) for row in rows]


def one_product(connection: Connection, of: Vendor, sku: str) -> Shown:
    """A product of the vendor; 404 if it has none of this SKU."""
    row = connection.execute(select(product).where(product.c.vendor_key == of.key, product.c.sku == sku)).one_or_none()
    if row is None:
        raise not_found("Product")
    return Shown(row, ", ".join(barcodes_of(connection, [row.id])[row.id]), None, None)


def orderable(connection: Connection, chain_vendor_key: int, count: int) -> list[str]:
    """Some SKUs that a customer could order now."""
    mine = (product.c.vendor_key == chain_vendor_key, product.c.app_active, product.c.app_price_milli.is_not(None))
    rows = connection.execute(select(product.c.sku).where(*mine).order_by(product.c.sku).limit(count))
    return list(rows.scalars())


SPAN_S = 600
WINDOW_S = 60
WIDTH, HEIGHT = 1240, 210
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 26
RECENT_LINES = 200_000
_SECONDS = text("""
    SELECT at_us / 1000000 AS second, count(*) AS requests, sum(coalesce(status = 429, 0)) AS rejected
    FROM journal
    WHERE kind = 'request' AND n > (SELECT coalesce(max(n), 0) FROM journal) - :recent AND at_us > :first AND at_us <= :now
    GROUP BY second
""")


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Ready to be drawn: all numbers are pixels but `used`, `limit` and `peak`, which are requests."""

    width: int
    height: int
    left: float
    right: float
    base: float
    line: str
    area: str
    limit_y: float | None
    rejected: tuple[float, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    used: int
    limit: int
    peak: int


def draw_chart(connection: Connection, now_us: int, limit: int) -> Chart:
    """The chart of all requests together; `limit` is what one caller may send in a minute."""
    now_s = now_us // SECOND_US
    first_s = now_s - SPAN_S - WINDOW_S
    counted = {"now": now_us, "first": first_s * SECOND_US, "recent": RECENT_LINES}
    seconds = {row.second: (row.requests, row.rejected) for row in connection.execute(_SECONDS, counted)}
    loads = _loads({second: requests for second, (requests, _) in seconds.items()}, now_s)
    peak = max(loads)
    shown_limit = limit <= max(4 * peak, 120)
    top = _rounded(max(peak, limit if shown_limit else 0, 10))

    def x(second: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (second - (now_s - SPAN_S)) / SPAN_S, 1)

    def y(count: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top), 1)

    base = y(0)
    points = [f"{x(now_s - SPAN_S + number)},{y(load)}" for number, load in enumerate(loads)]
    line = "M" + " L".join(points)
    minutes = range(0, SPAN_S + 1, 120)
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        base=base,
        line=line,
        area=f"{line} L{x(now_s)},{base} L{x(now_s - SPAN_S)},{base} Z",
        limit_y=y(limit) if shown_limit else None,
        rejected=tuple(x(second) for second, (_, rejected) in seconds.items() if rejected and second > now_s - SPAN_S),
        rows=tuple(Tick(y(top * part / 4), f"{top * part // 4}") for part in range(5)),
        columns=tuple(Tick(x(now_s - back), iso((now_s - back) * SECOND_US)[11:16]) for back in reversed(minutes)),
        used=loads[-1],
        limit=limit,
        peak=peak,
    )


def _loads(requests: dict[int, int], now_s: int) -> list[int]:
    """How many requests the sixty seconds up to each second of the span had."""
    first_s = now_s - SPAN_S - WINDOW_S
    loads: list[int] = []
    load = 0
    for second in range(first_s, now_s + 1):
        load += requests.get(second, 0) - requests.get(second - WINDOW_S, 0)
        if second >= now_s - SPAN_S:
            loads.append(load)
    return loads


def _rounded(most: int) -> int:
    """The next number above that four rows divide into."""
    for step in (1, 2, 5, 10, 20, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 100_000):
        if step * 4 >= most * 1.05:
            return step * 4
    return (most // 4 + 1) * 4
