"""One order: which is meant by an id, an external number or a short code, and all that is known of it but personal data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.assortment.product_names import of_skus
from shelfsync.orders.ledger import picking
from shelfsync.orders.ledger.tables import hand_over, order_version
from shelfsync.orders.order_state import load_version
from shelfsync.orders.steps.lists import ORDERS, reference
from shelfsync.orders.warehouse.record import order_item
from shelfsync.store.keyset_list import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

_OTHERS_MAX = 9


def find_order(context: Context, name: str) -> dict[str, Any] | None:
    """One order; `name`: its order_id, or the external number or short code of the newest that has it.

    `others`: further orders with this number or code, newest first. Stores use the same codes, and use them again.
    """
    if not name.strip() or not name.isprintable():
        return None  # no order has such a name, and the database rejects such a query
    asked = {"number": name.strip()}
    with context.engine.connect() as connection:
        rows = page(connection, ORDERS, asked, most=1 + _OTHERS_MAX)
        if not rows:
            return None
        by_id = [row for row in rows if row["order_id"] == asked["number"].lower()]
        order_id = (by_id or rows)[0]["order_id"]
        others = [] if by_id else [reference(row) for row in rows[1:]]
        found = (by_id or rows)[0] | _whole(connection, order_id) | {"others": others}
    _name(context, found)
    return found


def _name(context: Context, order: dict[str, Any]) -> None:
    """Gives each line, and each item of a feedback, the name of its product: the platform's, or else the ERP's."""
    feedbacks = [item for result in order["results"] for item in (result["feedback"] or {}).get("items", ())]
    shown = [*order["lines"], *feedbacks]
    names = of_skus(context, order["vendor"], {row["sku"] for row in shown}) if order["vendor"] else {}
    names |= {row["sku"]: row["name"] for row in order["lines"] if row["name"] not in {None, "", row["sku"]}}
    for row in shown:
        row["name"] = names.get(row["sku"])


def _whole(connection: Connection, order_id: str) -> dict[str, Any]:
    items = sa.select(order_item).where(order_item.c.order_id == order_id).order_by(order_item.c.position)
    seen = [order_version.c[name] for name in ("source", "status", "updated_at", "seen_at", "body")]
    versions = sa.select(*seen).where(order_version.c.order_id == order_id).order_by(order_version.c.version_id)
    handed = ("hand_over_id", "kind", "state", "attempts", "written_at", "taken_at", "error")
    hand_overs = sa.select(*(hand_over.c[name] for name in handed)).where(hand_over.c.order_id == order_id)
    return {
        "lines": [dict(row) for row in connection.execute(items).mappings()],
        "results": picking.of_order(connection, order_id),
        "hand_overs": [
            dict(row) for row in connection.execute(hand_overs.order_by(hand_over.c.hand_over_id)).mappings()
        ],
        "versions": [_version(row) for row in connection.execute(versions).mappings()],
    }


def _version(row: Mapping[Any, Any]) -> dict[str, Any]:
    """`not_believed`: a line about each of its times that is not used."""
    times = load_version(row["body"], row["source"], row["seen_at"]).not_believed
    lines = [
        f"{name} {display.instant(at) if at else '(unreadable)'} is not near the receipt: not used"
        for name, at in times.items()
    ]
    return {name: row[name] for name in ("source", "status", "updated_at", "seen_at")} | {"not_believed": lines}
