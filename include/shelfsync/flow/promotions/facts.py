"""What is known of a vendor's assortment: what the platform acknowledged, what it was seen to show, and what it is about to get."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.ledger import observations, tables, vendors

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.flow.house import Parts


def facts_of(parts: Parts, vendor: str) -> pa.Table:
    """FACTS of one vendor, unique and sorted by sku; empty where nothing is known of it.

    A SKU is known when the platform acknowledged or showed it. Its price is the lowest of those acknowledged, shown and wanted next:
    a promotion has to be below all of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import ascending, column
    from shelfsync.promotions.shape import FACTS

    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, vendor)
        seen = observations.newest(connection, vendor)
        snapshot = _newest_snapshot(connection, vendor)
    columns = ["sku", "price", "active"]
    tables_known = [
        parts.lake.read_table(path, columns=columns) for path in (base and base.path, seen and seen.path) if path
    ]
    if not tables_known:
        return FACTS.empty_table()
    merged = tables_known[0].select(columns)
    if len(tables_known) > 1:
        known = pa.concat_tables([table.select(columns).cast(FACTS) for table in tables_known])
        grouped = known.group_by("sku", use_threads=False).aggregate([("price", "min"), ("active", "first")])
        merged = pa.table({"sku": grouped["sku"], "price": grouped["price_min"], "active": grouped["active_first"]})
    if snapshot is not None:
        wanted = parts.lake.read_table(snapshot, columns=["sku", "price"])
        places = pc.index_in(merged["sku"], value_set=wanted["sku"].combine_chunks())
        coming = wanted["price"].combine_chunks().take(places.combine_chunks())
        lowest = pc.min_element_wise(merged["price"].combine_chunks(), coming, skip_nulls=True)
        merged = merged.set_column(1, "price", lowest)
    facts = merged.cast(FACTS).combine_chunks()
    return facts if ascending(column(facts, "sku")) else facts.sort_by("sku").combine_chunks()


def known_vendors(parts: Parts) -> tuple[str, ...]:
    """The vendors that `*` means: those the catalog has been synced with, as far as they are not left out by setting."""
    with parts.engine.connect() as connection:
        known = sorted(vendors.known_vendors(connection))
    wanted = parts.settings.sync.vendors
    return tuple(name for name in known if not wanted or name in wanted)


def _newest_snapshot(connection: sa.engine.Connection, vendor: str) -> str | None:
    row = tables.vendor_run.c
    statement = (
        sa.select(row.snapshot_path)
        .join(tables.run, tables.run.c.run_id == row.run_id)
        .where(row.vendor == vendor, row.snapshot_path.is_not(None), ~tables.run.c.dry_run)
        .order_by(row.generation.desc())
        .limit(1)
    )
    return connection.execute(statement).scalar_one_or_none()
