"""The rows to remove, table by table, children before parents. A row that a foreign key points to always stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def customer_rules(customer_days: int) -> tuple[Rule, ...]:
    """Customer data for this number of days: encrypted, in an event, or as the hash in an event's identity.

    An event that is neither of a job nor an order may be an order in another form.
    """
    return (
        Rule("warehouse.order_customer", 0, "old.remove_at <= :cutoff"),
        Rule("inbox.event", customer_days, "old.received_at < :cutoff AND old.kind <> 'job'"),
    )


def order_rules(keep: HousekeepingSettings) -> tuple[Rule, ...]:
    """The rest. What the platform's history can still return is younger."""
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
        Rule("ledger.order_product", _PRODUCT_DAYS, "old.asked_at < :cutoff"),
        Rule("ledger.lease", _LEASE_DAYS, "old.until_at < :cutoff AND old.vendor LIKE 'order:%'"),
        Rule("ledger.order_day", keep.history_days, "old.day < :cutoff"),
        Rule("warehouse.order_promotion", keep.history_days, _OLD_ROW),
        Rule("warehouse.order_item", keep.history_days, _OLD_ROW),
        Rule("warehouse.customer_order", keep.history_days, "coalesce(old.placed_at, old.updated_at) < :cutoff"),
    )


@dataclass(frozen=True)
class Rule:
    """Rows of `table` for which `where` is true may be removed; `:cutoff` in it is `days` before the present."""

    table: str
    days: float
    where: str


_ENDED_RUN = "EXISTS (SELECT 1 FROM ledger.run AS r WHERE r.run_id = old.run_id AND r.state <> 'running' AND r.finished_at < :cutoff)"
NEWEST_SNAPSHOT = """
    (SELECT newer.generation FROM ledger.vendor_run AS newer JOIN ledger.run USING (run_id)
     WHERE newer.vendor = {row}.vendor AND NOT run.dry_run AND newer.snapshot_path IS NOT NULL
     ORDER BY newer.generation DESC LIMIT 1)
"""
"""The generation of a vendor's newest snapshot. Each row asks, so the answer ends at the first row of an index: a max() would read all runs."""
_OLD_SYNC = "EXISTS (SELECT 1 FROM warehouse.sync_run AS r WHERE r.run_id = old.run_id AND r.started_at < :cutoff)"
_OVER = """{row}.state NOT IN ('open', 'declined') AND {row}.decided_at < :cutoff AND NOT (
    {row}.subject = 'promotions' AND {row}.state = 'approved'
    AND EXISTS (
        SELECT 1 FROM ledger.promotion_run AS found
        WHERE found.run_id = {row}.run_id AND (found.finished_at IS NULL OR found.finished_at >= :cutoff)))"""
"""The approval of a campaign is in effect as long as runs find its rows: `run_id` is the last one that did."""
_NEWER_OBSERVATION = """
    EXISTS (SELECT 1 FROM ledger.observation AS newer WHERE newer.vendor = old.vendor
            AND (newer.observed_at, newer.observation_id) > (old.observed_at, old.observation_id))
    AND old.observation_id IS DISTINCT FROM (
        SELECT loaded.observation_id FROM warehouse.observation AS loaded
        WHERE loaded.vendor = old.vendor AND loaded.in_history ORDER BY loaded.observed_at DESC LIMIT 1)
"""
"""The newest, and the one that the next load compares with, stay."""


def rules(keep: HousekeepingSettings, *, customer_days: int) -> tuple[Rule, ...]:
    """All of them, in the order in which they have to be applied; customers are forgotten first."""
    return (
        *customer_rules(customer_days),
        *order_rules(keep),
        Rule("ledger.restoration", keep.run_days, "old.until_at < :cutoff OR old.ended_at < :cutoff"),
        Rule(
            "ledger.baseline",
            keep.baseline_days,
            "old.created_at < :cutoff AND old.version < (SELECT v.baseline_version FROM ledger.vendor AS v WHERE v.vendor = old.vendor)"
            # the one that was in force at the cutoff is what that day's state was
            " AND EXISTS (SELECT 1 FROM ledger.baseline AS next WHERE next.vendor = old.vendor AND next.version > old.version"
            " AND next.created_at < :cutoff)",
        ),
        Rule(
            "ledger.job",
            keep.run_days,
            "old.kind = 'catalog' AND old.ended_at < :cutoff AND old.state NOT IN ('submitting', 'open', 'confirmed')",
        ),
        Rule("ledger.batch", keep.run_days, "old.created_at < :cutoff AND old.state <> 'planned'"),
        Rule(
            "ledger.vendor_run", keep.run_days, f"{_ENDED_RUN} AND old.generation < {NEWEST_SNAPSHOT.format(row='old')}"
        ),
        Rule("ledger.extract", keep.run_days, "old.read_at < :cutoff"),
        Rule("ledger.run", keep.run_days, "old.finished_at < :cutoff AND old.state <> 'running'"),
        Rule(
            "ledger.decision",
            keep.history_days,
            f"EXISTS (SELECT 1 FROM ledger.hold AS h WHERE h.hold_id = old.hold_id AND {_OVER.format(row='h')})",  # noqa: S608  constants of ours
        ),
        Rule("ledger.hold", keep.history_days, _OVER.format(row="old")),
        Rule("ledger.feed", keep.history_days, "old.read_at < :cutoff"),
        Rule("ledger.resending", keep.observation_days, "old.resent_at < :cutoff"),
        Rule(
            "ledger.job",
            keep.observation_days,
            "old.kind = 'export' AND old.ended_at < :cutoff AND old.state IN ('acknowledged', 'failed')",
        ),
        Rule("ledger.export", keep.observation_days, "true"),  # its job kept it
        Rule("ledger.observation", keep.observation_days, f"old.observed_at < :cutoff AND {_NEWER_OBSERVATION}"),
        *_promotions(keep),
        Rule("inbox.event", keep.event_days, "old.received_at < :cutoff"),
        Rule("inbox.refusal", keep.event_days, "old.refused_at < :cutoff"),
        Rule("rate_limit.usage", keep.history_days, "old.hour_at < :cutoff"),
        Rule("rate_limit.pause", keep.history_days, "old.until_at < :cutoff"),
        Rule(
            "ledger.source_columns",
            keep.history_days,
            "old.seen_at < :cutoff AND EXISTS (SELECT 1 FROM ledger.source_columns AS newer WHERE newer.source_columns_id > old.source_columns_id"
            " AND newer.vendor IS NOT DISTINCT FROM old.vendor AND NOT newer.dry_run)",
        ),
        Rule("ledger.outage", keep.history_days, "old.ended_at < :cutoff"),
        Rule("ledger.alert", keep.history_days, "old.closed_at < :cutoff"),
        Rule("ledger.alert_mute", keep.history_days, "old.until_at < :cutoff"),
        Rule("warehouse.quarantine", keep.quarantine_days, _OLD_SYNC),
        Rule("warehouse.missed_change", keep.quarantine_days, _OLD_SYNC),
        Rule("warehouse.drift", keep.history_days, "old.observed_at < :cutoff"),
        Rule("warehouse.drift_count", keep.history_days, "old.observed_at < :cutoff"),
        Rule("warehouse.assortment_history", keep.history_days, "old.valid_to < :cutoff"),
        Rule(
            "warehouse.observation",
            keep.history_days,
            # after drift and history: without these its counts would be those of a part. The newest loaded one bounds the next load.
            "old.observed_at < :cutoff AND EXISTS (SELECT 1 FROM warehouse.observation AS newer WHERE newer.vendor = old.vendor"
            " AND newer.in_history AND newer.observed_at > old.observed_at)",
        ),
        Rule("warehouse.catalog_job", keep.history_days, "old.ended_at < :cutoff"),
        Rule("warehouse.sync_run", keep.history_days, "old.finished_at < :cutoff"),
    )


def _promotions(keep: HousekeepingSettings) -> tuple[Rule, ...]:
    """No row of a promotion is removed before its end: the body of its creation ends it, and its outcomes explain it."""
    over = "EXISTS (SELECT 1 FROM {schema}.promotion AS p WHERE p.promotion_id = old.promotion_id AND p.end_time < :cutoff)"
    of_job = (
        "EXISTS (SELECT 1 FROM warehouse.promotion_job AS j JOIN warehouse.promotion AS p USING (promotion_id)"
        " WHERE j.job_id = old.job_id AND p.end_time < :cutoff)"
    )
    over_request = (
        "EXISTS (SELECT 1 FROM ledger.promotion_request AS q JOIN ledger.promotion AS p USING (promotion_id)"
        " WHERE q.request_id = old.request_id AND p.end_time < :cutoff)"
    )
    done = "old.state NOT IN ('planned', 'submitting', 'open')"
    return (
        Rule("ledger.promotion_rejection", keep.run_days, over.format(schema="ledger")),
        Rule("ledger.job", keep.run_days, f"old.kind = 'promotion' AND {done} AND {over_request}"),
        Rule("ledger.promotion_request", keep.run_days, over.format(schema="ledger")),
        Rule("ledger.promotion", keep.run_days, "old.end_time < :cutoff"),
        Rule(
            "ledger.promotion_run",
            keep.run_days,
            "old.finished_at < :cutoff AND old.state NOT IN ('running', 'planned')",
        ),
        Rule(
            "warehouse.promotion_quarantine",
            keep.quarantine_days,
            "EXISTS (SELECT 1 FROM warehouse.promotion_run AS r WHERE r.run_id = old.run_id AND r.started_at < :cutoff)",
        ),
        Rule("warehouse.promotion_outcome", keep.history_days, of_job),
        Rule("warehouse.promotion_job", keep.history_days, over.format(schema="warehouse")),
        Rule("warehouse.promotion_sku", keep.history_days, over.format(schema="warehouse")),
        Rule("warehouse.promotion_vendor", keep.history_days, over.format(schema="warehouse")),
        Rule("warehouse.promotion", keep.history_days, "old.end_time < :cutoff"),
        Rule("warehouse.promotion_run", keep.history_days, "old.finished_at < :cutoff"),
    )
