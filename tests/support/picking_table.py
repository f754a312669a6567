"""The table of a store's own system, from which picking results are read."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

TABLE = """CREATE TABLE picking (order_id TEXT, result_id TEXT, action TEXT, line_no INT, line_count INT, item_id TEXT, sku TEXT, status TEXT,
    quantity NUMERIC, weight NUMERIC, unit_price NUMERIC, by_sku TEXT, by_quantity NUMERIC, accepted_for TEXT, reason TEXT,
    check_first TEXT)"""


def write(till: sa.Engine, *rows: dict[str, Any]) -> None:
    with till.begin() as connection:
        for row in rows:
            names = ", ".join(row)
            connection.execute(
                sa.text(f"INSERT INTO picking ({names}) VALUES ({', '.join(':' + name for name in row)})"), row
            )


def line(order: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"order_id": order["order_id"], "result_id": "r1", "action": "fulfil", "line_count": 2, **more}
