"""The warehouse's tables of orders, and the writes of an order in the transaction that changes it in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.store import bulk
from shelfsync.store.metadata import instant, metadata, moment, text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from partner_api.order import OrderItem
    from shelfsync.orders.order_state import OrderState


def _number(name: str, comment: str) -> sa.Column[object]:
    return sa.Column(name, sa.Numeric, comment=comment)


IS_OPEN = "status IN ('RECEIVED', 'ACCEPTED')"
"""SQL: whether the store still has something to do for the order."""
PLACED = "coalesce({0}placed_at, {0}updated_at)"
"""SQL: when the order was placed; if no such time is believed: its last change. `{0}`: the table's name with a point, or nothing."""
_placed = sa.text(f"({PLACED.format('')})")

customer_order = sa.Table(
    "customer_order",
    metadata,
    text("order_id", "The platform's identifier of the order", primary_key=True),
    text("vendor", "The store"),
    text("external_order_id", "The platform's reference, for support"),
    text("order_code", "The short code"),
    text("transport_type", "LOGISTICS_DELIVERY or VENDOR_DELIVERY"),
    text("order_type", "DELIVERY or PICKUP"),
    text("status", "The platform's status", nullable=False),
    moment("placed_at", "When the customer placed it"),
    moment("promised_for", "When the customer was promised it"),
    moment("accepted_for", "The delivery time that the store accepted"),
    moment("fulfilled_at", "When its picking ended; null: it did not, or the time is unknown"),
    moment("cancelled_at", "When it was cancelled"),
    text("cancelled_by", "CUSTOMER, LOGISTICS or VENDOR; null: unknown"),
    text("cancel_reason", "The code of the reason; null: unknown"),
    _number("sub_total", "The sum of the items"),
    _number("order_total", "What the customer pays"),
    moment("updated_at", "The platform's instant of this state; if it has none near its receipt: the receipt"),
    sa.Index("ix_customer_order_newest", _placed, "order_id"),
    sa.Index("ix_customer_order_vendor", "vendor", _placed, "order_id"),
    sa.Index("ix_customer_order_by_status", "status", _placed, "order_id"),
    sa.Index("ix_customer_order_open", _placed, "order_id", postgresql_where=sa.text(IS_OPEN)),
    sa.Index("ix_customer_order_order_code", "order_code"),
    sa.Index("ix_customer_order_external_order_id", "external_order_id"),
    schema="warehouse",
    comment="One row an order, as it is now",
)

order_item = sa.Table(
    "order_item",
    metadata,
    text("order_id", "The order", sa.ForeignKey("warehouse.customer_order.order_id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False, comment="Place in the order, from 1"),
    text("item_id", "The platform's _id"),
    text("sku", "The SKU"),
    text("name", "Its name"),
    text("status", "NOT_PROCESSED, IN_CART, NOT_FOUND, REPLACED or ADDITION"),
    text("replaced_id", "The item_id of what it replaces"),
    text("pricing_type", "UNIT or KG"),
    _number("quantity", "Pieces now"),
    _number("weight", "Kilograms now"),
    _number("unit_price", "Price of a piece or a kilogram"),
    _number("total_price", "Its total price"),
    _number("list_price", "Price before discounts"),
    _number("ordered_quantity", "Pieces that were ordered; null for what was not ordered"),
    _number("ordered_weight", "Kilograms that were ordered"),
    _number("ordered_total_price", "Its total price when it was ordered"),
    sa.Index("ix_order_item_sku", "sku"),
    schema="warehouse",
    comment="One row an item of an order, as it is now and as it was ordered",
)

order_promotion = sa.Table(
    "order_promotion",
    metadata,
    text("order_id", "The order", primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False, comment="The item's place in the order"),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False, comment="From 1, where an item has several"),
    text("name", "Its display name"),
    text("type", "STRIKETHROUGH and the like"),
    _number("discount_amount", "What it takes off"),
    _number("vendor_amount", "What of it the store pays"),
    sa.ForeignKeyConstraint(
        ["order_id", "position"], ["warehouse.order_item.order_id", "warehouse.order_item.position"], ondelete="CASCADE"
    ),
    schema="warehouse",
    comment="Promotions that were fixed on an item when the order was placed",
)

order_customer = sa.Table(
    "order_customer",
    metadata,
    text("order_id", "The order", sa.ForeignKey("warehouse.customer_order.order_id"), primary_key=True),
    sa.Column(
        "encrypted",
        sa.LargeBinary,
        nullable=False,
        comment="Name, phone, address and all other personal data, encrypted with SHELFSYNC_ORDERS__ENCRYPTION_KEY; empty: forgotten on request",
    ),
    moment("remove_at", "When this row is removed", nullable=False),
    sa.Index("ix_order_customer_remove_at", "remove_at"),
    schema="warehouse",
    comment="One row an order whose customer data is stored; removed after the retention time",
)


FORGOTTEN = b""
"""The value for a customer who was forgotten on request."""
_ENCRYPTED = sa.select(order_customer.c.order_id, order_customer.c.encrypted).where(
    order_customer.c.encrypted != FORGOTTEN
)


def write(connection: Connection, orders: Collection[OrderState]) -> None:
    """Writes these orders with their items and promotions as they are now. The caller has locked the orders."""
    if not orders:
        return
    insertion = bulk.insertion(customer_order, [_order(order) for order in orders])
    names = [column.name for column in customer_order.columns if not column.primary_key]
    connection.execute(
        insertion.on_conflict_do_update(
            index_elements=[customer_order.c.order_id], set_={name: insertion.excluded[name] for name in names}
        )
    )
    connection.execute(
        order_item.delete().where(bulk.among(order_item.c.order_id, [order.order_id for order in orders]))
    )
    for table, rows in (
        (
            order_item,
            [_item(order, position, item) for order in orders for position, item in enumerate(order.items, 1)],
        ),
        (order_promotion, [row for order in orders for row in _promotions(order)]),
    ):
        if rows:
            connection.execute(bulk.insertion(table, rows))


def _order(order: OrderState) -> dict[str, Any]:
    of_cancellation = {
        "cancelled_by": order.cancellation.get("cancelled_by"),
        "cancel_reason": order.cancellation.get("reason"),
    }
    names = [column.name for column in customer_order.columns if column.name not in of_cancellation]
    return {name: getattr(order, name) for name in names} | of_cancellation


def _promotions(order: OrderState) -> Iterator[dict[str, Any]]:
    for position, item in enumerate(order.items, 1):
        for number, promotion in enumerate(item.promotions, 1):
            paid = (amount for sponsor, amount in promotion.sponsorships if sponsor == "VENDOR")
            yield {
                "order_id": order.order_id,
                "position": position,
                "number": number,
                "name": promotion.name,
                "type": promotion.type,
                "discount_amount": promotion.discount_amount,
                "vendor_amount": next(paid, None),
            }


def _item(order: OrderState, position: int, item: OrderItem) -> dict[str, Any]:
    pricing, ordered = item.pricing, item.original_pricing
    if item.status == "ADDITION" or item.replaced_id is not None:
        ordered = None  # the platform gives such an item an original pricing too, but it was not ordered
    elif ordered is None:
        named = (item.item_id, item.sku)
        ordered = next((first.pricing for first in order.ordered if (first.item_id, first.sku) == named), None)
    return {
        "order_id": order.order_id,
        "position": position,
        "item_id": item.item_id,
        "sku": item.sku,
        "name": item.name,
        "status": item.status,
        "replaced_id": item.replaced_id,
        "pricing_type": pricing.pricing_type,
        "quantity": pricing.quantity,
        "weight": pricing.weight,
        "unit_price": pricing.unit_price,
        "total_price": pricing.total_price,
        "list_price": pricing.list_price,
        "ordered_quantity": ordered.quantity if ordered else None,
        "ordered_weight": ordered.weight if ordered else None,
        "ordered_total_price": ordered.total_price if ordered else None,
    }


def encrypted_customer(connection: Connection, order_id: str) -> bytes | None:
    """The encrypted customer data; None if there is none, or it is removed."""
    return encrypted_customers(connection, [order_id]).get(order_id)


def all_encrypted_customers(connection: Connection) -> Iterator[tuple[str, bytes]]:
    """(order_id, encrypted customer data) of every order with customer data."""
    by_order = _ENCRYPTED.order_by(order_customer.c.order_id)
    for row in connection.execution_options(yield_per=1000).execute(by_order):
        yield row.order_id, bytes(row.encrypted)


def encrypted_customers(connection: Connection, order_ids: Collection[str]) -> dict[str, bytes]:
    """order_id -> encrypted customer data. Orders without it are absent."""
    rows = connection.execute(_ENCRYPTED.where(bulk.among(order_customer.c.order_id, order_ids)))
    return {row.order_id: bytes(row.encrypted) for row in rows}


def keep_customers(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stores rows of `order_id`, `encrypted`, `remove_at`. A forgotten customer is not stored again."""
    names = ["order_id", "encrypted", "remove_at"]
    coming = bulk.coming(order_customer, names, rows)
    kept = sa.select(*(coming.c[name] for name in names)).where(coming.c.remove_at > instant())
    insertion = insert(order_customer).from_select(names, kept)
    connection.execute(
        insertion.on_conflict_do_update(
            index_elements=[order_customer.c.order_id],
            set_={"encrypted": insertion.excluded.encrypted},
            where=order_customer.c.encrypted != FORGOTTEN,
        )
    )


def forget_customers_of(connection: Connection, order_ids: Sequence[str], *, days: int) -> int:
    """Removes the customers of these orders at once; returns how many there were.

    A mark stays for `days` days, so a later version of the order does not store its customer again.
    """
    known = sa.select(sa.func.count()).where(
        order_customer.c.order_id.in_(order_ids), order_customer.c.encrypted != FORGOTTEN
    )
    count: int = connection.execute(known).scalar_one()
    until = instant() + sa.func.make_interval(0, 0, 0, days)
    orders = sa.select(customer_order.c.order_id, sa.literal(FORGOTTEN), until)
    mark = insert(order_customer).from_select(
        ["order_id", "encrypted", "remove_at"], orders.where(customer_order.c.order_id.in_(order_ids))
    )
    connection.execute(
        mark.on_conflict_do_update(index_elements=[order_customer.c.order_id], set_={"encrypted": FORGOTTEN})
    )
    return count


def forgotten(connection: Connection, order_ids: Collection[str]) -> set[str]:
    """Those of these orders whose customer was forgotten on request."""
    marks = sa.select(order_customer.c.order_id).where(
        order_customer.c.encrypted == FORGOTTEN, bulk.among(order_customer.c.order_id, order_ids)
    )
    return set(connection.execute(marks).scalars())


def forget_customers(connection: Connection) -> int:
    """Removes every customer whose retention time is over; returns how many."""
    return connection.execute(order_customer.delete().where(order_customer.c.remove_at <= instant())).rowcount
