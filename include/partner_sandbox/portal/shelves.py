"""The shelf of a vendor: what customers see now beside what the platform has, and when the one becomes the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select

from partner_sandbox.access.callers import Vendor
from partner_sandbox.catalog.propagation import show_due
from partner_sandbox.catalog.tables import barcode, product, visible_change
from partner_sandbox.promotions import seen
from partner_sandbox.promotions.seen import Seen


@dataclass(frozen=True)
class Shown:
    """One product on the shelf."""

    sku: str
    title: str
    barcodes: str
    by_weight: bool
    seen_price_milli: int | None
    seen_active: bool
    seen_limit: int | None
    held_price_milli: int | None
    held_active: bool
    held_limit: int | None
    visible_us: int | None
    promotion: Seen | None

    @property
    def pays_milli(self) -> int | None:
        """What a customer pays."""
        promoted = None if self.promotion is None else self.promotion.price_milli(self.seen_price_milli)
        bundle = self.promotion is not None and self.promotion.type != seen.STRIKETHROUGH
        return self.seen_price_milli if promoted is None or bundle else promoted

    @property
    def offer(self) -> str | None:
        """The name of the promotion, where a customer has something of it."""
        if self.promotion is None or self.promotion.price_milli(self.seen_price_milli) is None:
            return None
        return self.promotion.name

    @property
    def struck(self) -> bool:
        """Whether the price on the shelf is struck through."""
        return self.pays_milli != self.seen_price_milli


def read(
    connection: Connection, of: Vendor, now_us: int, first: int, count: int, term: str = ""
) -> tuple[int, list[Shown]]:
    """How many products fit the term, and some of them in the order of their SKUs."""
    show_due(connection, now_us)
    where = [product.c.vendor_key == of.key]
    if term:
        found = (product.c.title.icontains(term, autoescape=True), product.c.sku.icontains(term, autoescape=True))
        where.append(or_(*found))
    total = connection.execute(select(func.count()).select_from(product).where(*where)).scalar_one()
    rows = connection.execute(select(product).where(*where).order_by(product.c.sku).limit(count).offset(first)).all()
    ids = [row.id for row in rows]
    codes: dict[int, list[str]] = {}
    for code in connection.execute(select(barcode).where(barcode.c.product_id.in_(ids)).order_by(barcode.c.position)):
        codes.setdefault(code.product_id, []).append(code.barcode)
    waiting = (
        select(visible_change.c.product_id, func.max(visible_change.c.visible_us).label("visible_us"))
        .where(visible_change.c.product_id.in_(ids))
        .group_by(visible_change.c.product_id)
    )
    due = {row.product_id: row.visible_us for row in connection.execute(waiting)}
    promotions = seen.now(connection, of.key, now_us, [row.sku for row in rows])
    return total, [_shown(row, codes.get(row.id, []), due.get(row.id), promotions.get(row.sku)) for row in rows]


def orderable(connection: Connection, chain_vendor_key: int, count: int) -> list[str]:
    """Some SKUs that a customer could order now."""
    mine = (product.c.vendor_key == chain_vendor_key, product.c.app_active, product.c.app_price_milli.is_not(None))
    rows = connection.execute(select(product.c.sku).where(*mine).order_by(product.c.sku).limit(count))
    return list(rows.scalars())


def _shown(row: Any, codes: list[str], visible_us: int | None, promotion: Seen | None) -> Shown:
    return Shown(
        sku=row.sku,
        title=row.title,
        barcodes=", ".join(codes),
        by_weight=row.is_sold_by_weight,
        seen_price_milli=row.app_price_milli,
        seen_active=row.app_active,
        seen_limit=row.app_sales_limit,
        held_price_milli=row.price_milli,
        held_active=row.active,
        held_limit=row.sales_limit,
        visible_us=visible_us,
        promotion=promotion,
    )
