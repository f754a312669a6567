"""The orders' steps together, as tasks, the command line and pages call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shelfsync.flow.house import Parts


@dataclass(frozen=True)
class OrderDesk:
    """Each step may run at any time, by any number of processes, again and again."""

    parts: Parts

    def take(self) -> dict[str, int]:
        """Applies the order events that wait in the inbox."""
        from shelfsync.flow.orders.take import take

        return take(self.parts)

    def hand_over(self) -> dict[str, Any]:
        """Tells stores of new and cancelled orders, and of what became of their results."""
        from shelfsync.flow.orders.hand_over import hand_over

        return hand_over(self.parts)

    def collect(self) -> dict[str, Any]:
        """Reads picking results out of the store's database."""
        from shelfsync.flow.orders.collect import collect

        return collect(self.parts)

    def fulfil(self, order_ids: Iterable[str] = ()) -> dict[str, Any]:
        """Goes on with every picking result whose time has come."""
        from shelfsync.flow.orders.fulfil import fulfil

        return fulfil(self.parts, order_ids)

    def retry(self, order_id: str) -> int:
        """Has the picking results of an order that are set aside worked on again; how many."""
        from shelfsync.ledger import picking

        with self.parts.engine.begin() as connection:
            return picking.retry(connection, order_id.strip().lower())

    def history(self, vendors: Iterable[str] = ()) -> dict[str, Any]:
        """Reads the history on."""
        from shelfsync.flow.orders.history import history

        return history(self.parts, vendors)

    def watch_stores(self) -> list[str]:
        """New alarms about hand-over and results."""
        from shelfsync.flow.orders.watch import watch_stores

        return watch_stores(self.parts)

    def watch_history(self) -> list[str]:
        """New alarms about the history."""
        from shelfsync.flow.orders.watch import watch_history

        return watch_history(self.parts)

    def say(self, order_id: str, raw: dict[str, Any]) -> str:
        """Stores a result that a person gives: new, known or other."""
        from shelfsync.inbox.keep import keep

        return keep(self.parts.engine, order_id, raw, "cli")

    def orders(self, *, vendor: str | None = None, only_open: bool = False, limit: int = 200) -> list[dict[str, Any]]:
        """The last orders, newest first, without anything personal."""
        from shelfsync.flow.orders.board import orders

        return orders(self.parts, vendor=vendor, only_open=only_open, limit=limit)

    def order(self, order_id: str) -> dict[str, Any] | None:
        """One order with its items, results, hand-overs and versions; by order_id, order code or external number."""
        from shelfsync.flow.orders.board import order

        return order(self.parts, order_id)

    def results(self, order_id: str) -> list[dict[str, Any]]:
        """What stores said of an order, also of one that nobody knows, and what became of it."""
        from shelfsync.ledger import picking

        with self.parts.engine.connect() as connection:
            return picking.of_order(connection, order_id.strip().lower())

    def orders_of(self, text: str) -> list[str]:
        """The orders whose customer data hold this text."""
        from shelfsync.flow.orders.forget import orders_of

        return orders_of(self.parts, text)

    def forget(self, order_ids: Sequence[str]) -> dict[str, Any]:
        """Removes whatever tells who the customers of these orders are."""
        from shelfsync.flow.orders.forget import forget

        return forget(self.parts, order_ids)

    def secret(self, vendor: str) -> str:
        """What a store shows when it sends picking results."""
        from shelfsync.inbox.secret import StoreSecrets

        key = self.parts.settings.orders.picking_secret
        if not (secrets := StoreSecrets(key)):
            raise ConfigurationError(
                "SHELFSYNC_ORDERS__PICKING_SECRET",
                "is not set, so no store has a secret",
                "Set it to a long random text, for the receiver and here alike.",
            )
        return secrets.of(vendor)

    def today(self) -> dict[str, Any]:
        """Today's orders and what stands in their way."""
        from shelfsync.flow.orders.board import today

        return today(self.parts)
