"""Findings: conflicts between promotions and catalog. Every run computes them anew, and removes those that no longer exist."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync import display
from shelfsync.promotions.warehouse.record import promotion_finding as finding
from shelfsync.store.lake import OneFileError
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.assortment.state import Observation
    from shelfsync.context import Context

log = logging.getLogger(__name__)

_CHUNK = 5_000
_ROWS_MAX = 10_000
"""How many findings of one cause and vendor are stored; the others are omitted."""
LOOK_BACK_S = 7 * 86_400.0
"""How long after a promotion's end the prices of its SKUs are looked at."""

CAUSES = {
    "base_price_not_above": "The base price is no longer above the promotion's: the platform shows no discount, and customers pay the base price.",
    "base_price_changed": "The base price changed while the promotion runs: the discount differs from the planned one.",
    "inactive_during": "The product is inactive at the vendor while its promotion runs: customers cannot buy it.",
    "price_after_end": "The promotion is over, and the last export showed another price than the one acknowledged.",
    "made_elsewhere": "The first request came back DUPLICATE: the platform has such a promotion, and its values may differ from the ERP's.",
    "not_confirmed": "Its values on the platform are unknown: its last request was not confirmed.",
    "unknown_to_erp": "The platform applied a promotion of this name to an order, and no promotion of the ERP has it.",
}
"""Every cause, with its meaning."""

_RUNNING = """
    FROM warehouse.promotion AS p
    JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
    JOIN warehouse.promotion_sku AS s ON s.promotion_id = p.promotion_id
    JOIN warehouse.baseline AS b ON b.vendor = :vendor AND b.sku = s.sku
    WHERE p.state = 'sent' AND p.start_time <= ledger.instant() AND p.end_time > ledger.instant()
        AND NOT EXISTS (SELECT FROM ledger.promotion_rejection AS r
            WHERE r.promotion_id = p.promotion_id AND r.vendor = :vendor AND r.sku = s.sku)
"""
_OF_CATALOG = {
    "base_price_not_above": (
        "'the base price is ' || trim_scale(b.price) || ', the promotion''s ' || trim_scale(s.value)",
        "AND s.subtype <> 'PERCENTAGE' AND b.price <= s.value",
    ),
    "base_price_changed": (
        "'the base price became ' || trim_scale(b.price) || ' while the promotion runs'",
        """AND b.price IS NOT NULL AND EXISTS (SELECT FROM warehouse.sku_outcome AS o WHERE o.vendor = :vendor AND o.sku = s.sku
            AND o.state = 'accepted' AND o.price IS NOT NULL AND o.change = 'changed'
            AND o.known_at > greatest(p.start_time, p.confirmed_at))""",
    ),
    "inactive_during": ("'it is inactive at the vendor'", "AND b.active IS FALSE"),
}


def vendors_of_interest(connection: Connection) -> list[str]:
    """Vendors of promotions that run, or that ended lately."""
    statement = """
        SELECT DISTINCT b.vendor FROM warehouse.promotion_vendor AS v JOIN warehouse.promotion AS p USING (promotion_id)
        JOIN warehouse.vendor AS b ON v.vendor IN (b.vendor, '*')
        WHERE p.state IN ('sent', 'ended') AND p.start_time <= ledger.instant() AND p.end_time > ledger.instant() - make_interval(secs => :back)
        ORDER BY 1
    """
    return list(connection.execute(sa.text(statement), {"back": LOOK_BACK_S}).scalars())


def of_catalog(connection: Connection, run_id: int, vendor: str) -> None:
    """Running promotions of one vendor against what the platform acknowledged of its products."""
    for cause, (message, condition) in _OF_CATALOG.items():
        statement = f"""
            INSERT INTO warehouse.promotion_finding (promotion_id, vendor, sku, cause, message, run_id, first_at, last_at)
            SELECT p.promotion_id, :vendor, s.sku, :cause, {message}, :run, ledger.instant(), ledger.instant()
            {_RUNNING} {condition} ORDER BY s.sku LIMIT {_ROWS_MAX}
            ON CONFLICT (promotion_id, vendor, sku, cause) DO UPDATE
            SET message = excluded.message, run_id = excluded.run_id, last_at = excluded.last_at
        """  # noqa: S608  every part is written in this file
        connection.execute(sa.text(statement), {"vendor": vendor, "cause": cause, "run": run_id})


def of_promotions(connection: Connection, run_id: int) -> None:
    """Findings of whole promotions: created by another user of the platform, or with unknown values on the platform."""
    for cause, condition in (
        ("made_elsewhere", "p.made_elsewhere AND p.state = 'sent'"),
        (
            "not_confirmed",
            "EXISTS (SELECT FROM warehouse.promotion_sku AS s WHERE s.promotion_id = p.promotion_id AND NOT s.known)",
        ),
    ):
        statement = f"""
            INSERT INTO warehouse.promotion_finding (promotion_id, vendor, sku, cause, message, run_id, first_at, last_at)
            SELECT p.promotion_id, '*', '', :cause, :message, :run, ledger.instant(), ledger.instant()
            FROM ledger.promotion AS p WHERE p.end_time > ledger.instant() AND {condition}
            ON CONFLICT (promotion_id, vendor, sku, cause) DO UPDATE SET run_id = excluded.run_id, last_at = excluded.last_at
        """  # noqa: S608
        connection.execute(sa.text(statement), {"cause": cause, "message": CAUSES[cause], "run": run_id})


def of_orders(connection: Connection, run_id: int) -> None:
    """Promotions that the platform applied to orders of the last days, and that shelfsync never sent for that vendor and instant.

    They are compared by display name, the only field that an order has of a promotion (interface.md 2.6). An hour of grace at both ends: a change takes up to 50
    minutes to reach the app.
    """
    statement = """
        INSERT INTO warehouse.promotion_finding (promotion_id, vendor, sku, cause, message, run_id, first_at, last_at)
        SELECT 0, o.vendor, coalesce(i.sku, ''), 'unknown_to_erp',
            'order ' || max(o.order_id) || ' has promotion ' || string_agg(DISTINCT a.name, ', ') || ', which no campaign of the ERP made',
            :run, ledger.instant(), ledger.instant()
        FROM warehouse.order_promotion AS a
        JOIN warehouse.customer_order AS o USING (order_id)
        LEFT JOIN warehouse.order_item AS i USING (order_id, position)
        WHERE o.vendor IS NOT NULL AND a.name IS NOT NULL AND o.placed_at > ledger.instant() - make_interval(secs => :back)
            AND NOT EXISTS (
                SELECT FROM warehouse.promotion AS p
                JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (o.vendor, '*')
                WHERE a.name IN (SELECT value FROM jsonb_each_text(p.display_name))
                    AND o.placed_at >= p.start_time - interval '1 hour'
                    AND o.placed_at <= least(p.end_time, coalesce(p.ended_at, p.end_time)) + interval '1 hour')
        GROUP BY o.vendor, coalesce(i.sku, '') ORDER BY 2, 3 LIMIT :most
        ON CONFLICT (promotion_id, vendor, sku, cause) DO UPDATE
        SET message = excluded.message, run_id = excluded.run_id, last_at = excluded.last_at
    """
    connection.execute(sa.text(statement), {"run": run_id, "back": LOOK_BACK_S, "most": _ROWS_MAX})


def ended(connection: Connection, vendor: str, seen_at: dt.datetime) -> dict[str, int]:
    """SKUs whose promotion had ended when the vendor was observed, and that no other promotion has then: SKU -> promotion."""
    statement = """
        SELECT o.sku, max(p.promotion_id) AS promotion_id
        FROM warehouse.promotion AS p
        JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
        JOIN warehouse.promotion_job AS j ON j.promotion_id = p.promotion_id
        JOIN warehouse.promotion_outcome AS o ON o.job_id = j.job_id AND o.state = 'accepted' AND o.active
        WHERE least(p.end_time, p.ended_at) <= :seen AND p.end_time > ledger.instant() - make_interval(secs => :back)
            AND NOT EXISTS (
                SELECT FROM warehouse.promotion AS q
                JOIN warehouse.promotion_vendor AS w ON w.promotion_id = q.promotion_id AND w.vendor IN (:vendor, '*')
                JOIN warehouse.promotion_sku AS t ON t.promotion_id = q.promotion_id AND t.sku = o.sku
                WHERE q.state = 'sent' AND q.start_time <= :seen AND q.end_time > :seen)
        GROUP BY o.sku ORDER BY o.sku LIMIT :most
    """
    values = {"vendor": vendor, "seen": seen_at, "back": LOOK_BACK_S, "most": _ROWS_MAX}
    return {row.sku: row.promotion_id for row in connection.execute(sa.text(statement), values)}


def base_prices(connection: Connection, vendor: str, skus: list[str], seen: Observation) -> dict[str, Decimal]:
    """The acknowledged prices of these SKUs, without those that `seen` may be too old to show."""
    statement = sa.text("""
        SELECT sku, price FROM warehouse.baseline AS b WHERE vendor = :vendor AND sku = ANY(:skus) AND price IS NOT NULL
            AND NOT EXISTS (SELECT FROM warehouse.sku_outcome AS o WHERE o.vendor = :vendor AND o.sku = b.sku
                AND (o.job_id > :job OR o.job_id = ANY(:open)) AND o.state = 'accepted' AND o.price IS NOT NULL)
    """)
    values = {"vendor": vendor, "skus": skus, "job": seen.last_job_id or 0, "open": seen.open_job_ids or []}
    return {row.sku: row.price for row in connection.execute(statement, values)}


def note(connection: Connection, run_id: int, rows: Sequence[dict[str, Any]]) -> None:
    """Findings made elsewhere: promotion_id, vendor, sku, cause, message."""
    for start in range(0, len(rows), _CHUNK):
        statement = insert(finding).values(run_id=run_id, first_at=instant(), last_at=instant())
        new = statement.excluded
        again = {"message": new.message, "run_id": new.run_id, "last_at": new.last_at}
        keys = [finding.c.promotion_id, finding.c.vendor, finding.c.sku, finding.c.cause]
        connection.execute(
            statement.on_conflict_do_update(index_elements=keys, set_=again), list(rows[start : start + _CHUNK])
        )


def look(context: Context, run_id: int) -> dict[str, int]:
    """Computes the findings vendor by vendor and replaces the former ones; returns their counts by cause."""
    with context.engine.begin() as connection:
        began = connection.execute(sa.select(instant())).scalar_one()
        vendors = vendors_of_interest(connection)
    for vendor in vendors:
        with context.engine.begin() as connection:
            of_catalog(connection, run_id, vendor)
        try:
            after_end(context, run_id, vendor)
        except OneFileError as error:  # a finding less keeps no run from its report
            log.warning("promotions, report: vendor %s: %s", vendor, error)
    with context.engine.begin() as connection:
        of_promotions(connection, run_id)
        of_orders(connection, run_id)
        connection.execute(finding.delete().where(finding.c.last_at < began))
        by_cause = sa.select(finding.c.cause, sa.func.count()).group_by(finding.c.cause).order_by(finding.c.cause)
        return {row.cause: row[1] for row in connection.execute(by_cause)}


def after_end(context: Context, run_id: int, vendor: str) -> None:
    """What the platform showed of a SKU after its promotion had ended, against the price that it had acknowledged by then."""
    from shelfsync.catalog.assortment.state import observed

    with context.engine.connect() as connection:
        seen = observed(connection, vendor)
        if seen is None:
            return
        over = ended(connection, vendor, seen.observed_at)
        held = base_prices(connection, vendor, list(over), seen) if over else {}
    if not held:
        return
    shown = context.lake.read_table(seen.path, columns=["sku", "price"])
    rows = [
        {
            "promotion_id": over[sku],
            "vendor": vendor,
            "sku": sku,
            "cause": "price_after_end",
            "message": f"the promotion is over and the platform shows {display.price(price)}; acknowledged is {display.price(held[sku])}",
        }
        for sku, price in _prices(shown, held)
        if price is not None and held[sku] is not None and price != held[sku]
    ]
    with context.engine.begin() as connection:
        note(connection, run_id, rows)


def _prices(shown: pa.Table, wanted: Iterable[str]) -> list[tuple[str, Decimal | None]]:
    """The prices shown of these SKUs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = shown.filter(pc.is_in(shown["sku"], value_set=pa.array(list(wanted), pa.string())))
    return list(zip(table["sku"].to_pylist(), table["price"].to_pylist(), strict=True))
