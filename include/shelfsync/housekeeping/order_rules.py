"""What of orders may go: customers first of all, children before parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.housekeeping.rule import Rule

if TYPE_CHECKING:
    from shelfsync.settings import HousekeepingSettings

_OLD_ORDER = (
    "EXISTS (SELECT 1 FROM ledger.customer_order AS o WHERE o.order_id = old.order_id"
    " AND greatest(o.first_seen_at, o.placed_at) < :cutoff)"
)
_OLD_ROW = (
    "EXISTS (SELECT 1 FROM warehouse.customer_order AS o WHERE o.order_id = old.order_id"
    " AND coalesce(o.placed_at, o.updated_at) < :cutoff)"
)
_PRODUCT_DAYS = 2
_LEASE_DAYS = 2


def customer_rules(personal_days: int) -> tuple[Rule, ...]:
    """Whatever tells who a customer is: sealed, or in an event that was not applied, or was set aside, for so long."""
    return (
        Rule("warehouse.order_customer", 0, "old.remove_at <= :cutoff"),
        Rule(
            "inbox.event",
            personal_days,
            "old.received_at < :cutoff AND old.kind = 'order' AND (old.processed_at IS NULL OR old.set_aside IS NOT NULL)",
        ),
    )


def order_rules(keep: HousekeepingSettings) -> tuple[Rule, ...]:
    """The rest. What the platform's history may still tell again is younger than all of this."""
    return (
        Rule("ledger.order_version", keep.order_days, _OLD_ORDER),
        Rule("ledger.hand_over", keep.order_days, _OLD_ORDER),
        Rule("ledger.order_gap", keep.order_days, _OLD_ORDER),
        Rule(
            "ledger.picking_result",
            keep.order_days,
            "old.received_at < :cutoff AND old.state NOT IN ('waiting', 'sending', 'answered')",
        ),
        Rule("ledger.customer_order", keep.order_days, "greatest(old.first_seen_at, old.placed_at) < :cutoff"),
        Rule("ledger.order_alarm", keep.order_days, "old.ended_at < :cutoff"),
        Rule("ledger.order_product", _PRODUCT_DAYS, "old.asked_at < :cutoff"),
        Rule("ledger.lease", _LEASE_DAYS, "old.until_at < :cutoff AND old.vendor LIKE 'order:%'"),
        Rule("ledger.order_day", keep.history_days, "old.day < :cutoff"),
        Rule("warehouse.order_promotion", keep.history_days, _OLD_ROW),
        Rule("warehouse.order_item", keep.history_days, _OLD_ROW),
        Rule("warehouse.customer_order", keep.history_days, "coalesce(old.placed_at, old.updated_at) < :cutoff"),
    )
