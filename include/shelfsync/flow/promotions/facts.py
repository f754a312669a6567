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

    A SKU is known when the platform acknowledged or showed it. Its price is the lowest of those acknowledged, shown since, and wanted
    next: a promotion has to be below all of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import aligned, ascending, column
    from shelfsync.columns import SNAPSHOT, completed
    from shelfsync.promotions.shape import FACTS

    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, vendor)
        seen = observations.newest(connection, vendor)
        snapshot = _newest_snapshot(connection, vendor)
        newer = [] if seen is None else _priced_since(connection, vendor, seen.last_job_id or 0)
    known = []
    if base is not None:
        known.append(parts.lake.read_table(base.path, columns=["sku", "price", "active"]))
    if seen is not None:
        known.append(_without_prices(parts.lake.read_table(seen.path, columns=["sku", "price", "active"]), newer))
    if not known:
        return FACTS.empty_table()
    merged = known[0]
    if len(known) > 1:
        both = pa.concat_tables([table.cast(pa.schema(list(FACTS)[:3])) for table in known])
        grouped = both.group_by("sku", use_threads=False).aggregate([("price", "min"), ("active", "first")])
        merged = pa.table({"sku": grouped["sku"], "price": grouped["price_min"], "active": grouped["active_first"]})
    skus = column(merged, "sku")
    price, cost = column(merged, "price"), pa.nulls(len(skus), FACTS.field("cost").type)
    if snapshot is not None:
        asked = pa.schema([SNAPSHOT.field(name) for name in ("sku", "price", "cost")])
        said = completed(parts.lake.read_table(snapshot, columns=asked.names), asked)
        wanted = aligned(said, skus, ("price", "cost"))
        price, cost = pc.min_element_wise(price, wanted["price"], skip_nulls=True), wanted["cost"]
    columns = [skus, price, column(merged, "active"), cost]
    facts = pa.Table.from_arrays(columns, schema=FACTS)
    return facts if ascending(skus) else facts.sort_by("sku").combine_chunks()


def _without_prices(shown: pa.Table, skus: list[str]) -> pa.Table:
    """A picture without the prices that it is too old for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stale = pc.is_in(shown["sku"], value_set=pa.array(skus, pa.string()))
    prices = pc.if_else(stale, pa.scalar(None, shown.schema.field("price").type), shown["price"])
    return shown.set_column(shown.schema.get_field_index("price"), "price", prices)


def _priced_since(connection: sa.engine.Connection, vendor: str, job_id: int) -> list[str]:
    """SKUs whose price the platform acknowledged in a job above this number."""
    statement = sa.text(
        "SELECT DISTINCT sku FROM warehouse.sku_outcome WHERE vendor = :vendor AND job_id > :job AND state = 'accepted' AND price IS NOT NULL"
    )
    return list(connection.execute(statement, {"vendor": vendor, "job": job_id}).scalars())


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
