"""What customers see: changes reach the app some minutes after the platform has them (interface.md 8)."""

from __future__ import annotations

from sqlalchemy import Connection, text

_SHOW = text("""
    UPDATE product SET app_price_milli = c.price_milli, app_active = c.active, app_sales_limit = c.sales_limit
    FROM visible_change AS c
    JOIN (SELECT max(id) AS id FROM visible_change WHERE visible_us <= :now GROUP BY product_id) AS ripe
        ON ripe.id = c.id
    WHERE product.id = c.product_id
""")
_FORGET = text("DELETE FROM visible_change WHERE visible_us <= :now")
_ANY = text("SELECT 1 FROM visible_change WHERE visible_us <= :now LIMIT 1")


def show_due(connection: Connection, now_us: int) -> None:
    """Makes every change that is due by `now_us` (microseconds) visible in the app."""
    at = {"now": now_us}
    if connection.execute(_ANY, at).first() is not None:
        connection.execute(_SHOW, at)
        connection.execute(_FORGET, at)
