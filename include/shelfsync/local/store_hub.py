"""Simulates the system that a chain's stores pick with: takes orders from the outbox, returns picking results.

`python -m shelfsync.local.store_hub`, started with the sample. It keeps its own list of orders in the sample ERP, as such a system does,
and books what was sold. It may be killed at any time: the same order gives the same result, and a repeat is known by its `result_id`.
"""

from __future__ import annotations

import json
import sys
import time
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp.sample import tables
from shelfsync.errors import ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.local.ports import LOOPBACK
from shelfsync.receiver.secret import StoreSecrets
from shelfsync.secret_mask import mask_streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr
    from sqlalchemy.engine import Connection

LOOK_EVERY_S = 1.0
TIDY_EVERY_S = 600.0
KEPT_DAYS = 1
TIMEOUT_S = 10.0
AT_ONCE = 100
ATTEMPTS = 2
"""A result, and one correction of it."""
NOT_FOUND_SHARE = 0.1
_GRAM = Decimal("0.001")


class StoreHub:
    """The hub of all stores. `picking_delay_s`: how long a store needs for an order."""

    def __init__(
        self, erp: sa.Engine, outbox: str, receiver_url: str, picking_secret: SecretStr, *, picking_delay_s: float
    ) -> None:
        from partner_api.http_library import httpx

        self._erp = erp
        self._outbox = sa.table(
            outbox, *map(sa.column, ("hand_over_id", "order_id", "kind", "vendor", "document", "taken_at"))
        )
        self._picking_s = picking_delay_s
        self._secrets = StoreSecrets(picking_secret)
        self._client = httpx.Client(base_url=receiver_url, timeout=TIMEOUT_S, trust_env=False)
        self._trouble: str | None = None

    def close(self) -> None:
        self._client.close()

    def look(self) -> dict[str, int]:
        """Takes new documents of the outbox and returns picking results; returns the number of each."""
        if not self._is_there():
            return {"taken": 0, "returned": 0}
        return {"taken": self._take(), "returned": sum(self._return(row) for row in self._picked())}

    def tidy(self) -> None:
        """Removes documents that stores took a day ago, and with them their data of customers."""
        if self._is_there():
            taken, order = self._outbox.c, tables.store_order.c
            busy = sa.exists().where(order.hand_over_id == taken.hand_over_id, order.state == "picking")
            old = taken.taken_at < _now() - sa.text(f"interval '{KEPT_DAYS} days'")
            with self._erp.begin() as connection:
                connection.execute(sa.delete(self._outbox).where(old, ~busy))

    def _is_there(self) -> bool:
        """Whether the ERP exists and an order has ever been handed over."""
        found = sa.select(
            *(sa.func.to_regclass(name).is_not(None) for name in (tables.store_order.fullname, self._outbox.name))
        )
        with self._erp.connect() as connection:
            return all(connection.execute(found).one())

    def _take(self) -> int:
        """A document is taken in the transaction that notes its content."""
        box = self._outbox.c
        waiting = sa.select(self._outbox).where(box.taken_at.is_(None)).order_by(box.hand_over_id).limit(AT_ONCE)
        with self._erp.begin() as connection:
            rows = connection.execute(waiting.with_for_update(skip_locked=True)).all()
            for row in rows:
                _note(connection, row, json.loads(row.document), self._document)
                mine = box.hand_over_id == row.hand_over_id
                connection.execute(sa.update(self._outbox).where(mine).values(taken_at=_now()))
        return len(rows)

    def _picked(self) -> list[Any]:
        """Orders whose store has had enough time."""
        order = tables.store_order
        since = sa.func.clock_timestamp() - sa.bindparam("picking", self._picking_s) * sa.text("interval '1 second'")
        found = sa.select(order).where(order.c.state == "picking", order.c.since <= since).order_by(order.c.since)
        with self._erp.connect() as connection:
            return list(connection.execute(found.limit(AT_ONCE)).all())

    def _return(self, row: Any) -> bool:
        """Posts the result of one order; False if it has to be retried."""
        from partner_api.http_library import httpx

        with self._erp.connect() as connection:
            document = self._document(connection, row.hand_over_id)
        try:
            answer = self._client.post(
                f"/picking/{row.order_id}",
                json=picking_result(document, attempt=row.attempt),
                headers={"Authorization": self._secrets.of(row.store)},
            )
        except httpx.HTTPError as error:
            return self._waits(f"the receiver does not answer: {type(error).__name__}")
        if answer.status_code >= 500 or answer.status_code == 401:
            return self._waits(f"the receiver answers {answer.status_code}")
        self._trouble = None
        with self._erp.begin() as connection:
            _became(connection, row, "returned" if answer.is_success else "failed")
        _echo(
            f"order {row.order_id} is picked" if answer.is_success else f"order {row.order_id}: the result was rejected"
        )
        return answer.is_success

    def _waits(self, why: str) -> bool:
        """Reported once, not every second."""
        if why != self._trouble:
            self._trouble = why
            _echo(f"{why}; results wait")
        return False

    def _document(self, connection: Connection, hand_over_id: int) -> dict[str, Any]:
        box = self._outbox.c
        text = connection.execute(sa.select(box.document).where(box.hand_over_id == hand_over_id)).scalar_one()
        document: dict[str, Any] = json.loads(text, parse_float=str)
        return document


def _note(connection: Connection, row: Any, document: Mapping[str, Any], read: Any) -> None:
    """What one document means for the hub's own list."""
    from sqlalchemy.dialects.postgresql import insert

    order = tables.store_order
    if row.kind == "new":
        new = insert(order).values(
            order_id=row.order_id, store=row.vendor, hand_over_id=row.hand_over_id, state="picking", attempt=0
        )
        connection.execute(new.on_conflict_do_nothing())
        return
    known = connection.execute(sa.select(order).where(order.c.order_id == row.order_id).with_for_update()).one_or_none()
    if known is None:
        return
    if row.kind == "cancelled" or document.get("state") == "overtaken":
        _became(connection, known, "cancelled")
    elif document.get("state") == "done" and known.state != "done":
        _became(connection, known, "done")
        _book(connection, known, sold_goods(read(connection, known.hand_over_id), attempt=known.attempt))
    elif document.get("state") == "rejected":
        again = known.attempt + 1 < ATTEMPTS
        _became(connection, known, "picking" if again else "failed", attempt=known.attempt + again)


def _became(connection: Connection, row: Any, state: str, **more: Any) -> None:
    order = tables.store_order
    values = {"state": state, "since": sa.func.clock_timestamp(), **more}
    connection.execute(sa.update(order).where(order.c.order_id == row.order_id).values(values))


def _book(connection: Connection, row: Any, sold: Mapping[str, Any]) -> None:
    """Subtracts the goods of fulfilled orders from the stock."""
    movement, store, product = tables.stock_movement, tables.store, tables.product
    for sku, amount in sold.items():
        sale = sa.select(
            store.c.store_id, product.c.product_id, sa.func.now(), sa.literal("sale"), sa.literal(-amount)
        ).select_from(store.join(product, sa.and_(store.c.code == row.store, product.c.item_code == sku)))
        columns = ["store_id", "product_id", "booked_at", "kind", "quantity"]
        connection.execute(sa.insert(movement).from_select(columns, sale))


def picking_result(document: Mapping[str, Any], *, attempt: int) -> dict[str, Any]:
    """The picking result (docs/how-to/orders.md) for a document of kind new. At the second attempt everything is as it was ordered.

    Mostly everything is found. Weighed goods weigh a little more or less; at least one item is always there.
    """
    chance = Random(str(document["order_id"]))  # noqa: S311  a sample, not a secret
    lines = [_line(chance, item, attempt) for item in document["items"]]
    if all(line["status"] == "not_found" for line in lines):
        lines[0] = _picked_line(document["items"][0])
    return {"result_id": f"hub-{document['order_id']}-{attempt}", "action": "fulfil", "items": lines}


def sold_goods(document: Mapping[str, Any], *, attempt: int) -> dict[str, Decimal]:
    """SKU -> pieces or kilograms that left the shelves with this result."""
    ordered = {item["item_id"]: item for item in document["items"]}
    found: dict[str, Decimal] = {}
    for line in picking_result(document, attempt=attempt)["items"]:
        if line["status"] == "picked":
            item = ordered[line["item_id"]]
            by_weight = item["pricing_type"] == "KG"
            amount = Decimal(str(line.get("weight", item["weight"] if by_weight else item["quantity"])))
            found[line["sku"]] = found.get(line["sku"], Decimal(0)) + amount
    return found


def _line(chance: Random, item: Mapping[str, Any], attempt: int) -> dict[str, Any]:
    missing, heavier = chance.random() < NOT_FOUND_SHARE, Decimal(chance.randint(-50, 50)).scaleb(-3)
    if attempt:
        return _picked_line(item)
    if missing:
        return {"item_id": item["item_id"], "sku": item["sku"], "status": "not_found"}
    if item["pricing_type"] == "KG" and item.get("weight") is not None:
        weight = (Decimal(str(item["weight"])) * (1 + heavier)).quantize(_GRAM, ROUND_HALF_UP)
        least, most = (item.get(name) for name in ("min_quantity", "max_quantity"))
        if least is not None and most is not None and Decimal(str(least)) <= weight <= Decimal(str(most)):
            return {**_picked_line(item), "weight": str(weight)}
    return _picked_line(item)


def _picked_line(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"item_id": item["item_id"], "sku": item["sku"], "status": "picked"}


def _now() -> sa.ColumnElement[Any]:
    """As the outbox has it: UTC without a zone."""
    return sa.func.timezone("UTC", sa.func.clock_timestamp())


def _echo(text: str) -> None:
    print(f"store hub  {text}", flush=True)  # noqa: T201  its log


def main() -> int:
    """Runs until it is stopped; waits while the database is unavailable."""
    keep_private()
    mask_streams()
    from shelfsync.settings import read_settings
    from shelfsync.store.engine import create_engine

    try:
        settings = read_settings()
    except ShelfsyncError as error:
        _echo(str(error))
        return error.exit_code
    assert settings.erp.url
    assert settings.orders.picking_secret
    erp = create_engine(settings.erp.url.get_secret_value())
    hub = StoreHub(
        erp,
        settings.orders.hand_over_table,
        f"http://{LOOPBACK}:{settings.webhook.port}",
        settings.orders.picking_secret,
        picking_delay_s=settings.local.picking_delay_s,
    )
    tidied_s = 0.0
    while True:
        try:
            hub.look()
            if time.monotonic() - tidied_s > TIDY_EVERY_S:
                hub.tidy()
                tidied_s = time.monotonic()
        except sa.exc.SQLAlchemyError as error:
            _echo(f"the ERP's database: {type(error).__name__}; looked at again")
        time.sleep(LOOK_EVERY_S)


if __name__ == "__main__":
    sys.exit(main())
