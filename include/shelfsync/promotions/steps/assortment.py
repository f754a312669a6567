"""The known assortment of a vendor: what the platform acknowledged, what its export shows, and what shelfsync sends next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.assortment import state
from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.store.lake import OneFileError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.context import Context


def known_assortment(context: Context, vendor: str) -> pa.Table:
    """ASSORTMENT of one vendor, unique and sorted by sku; empty if nothing is known of it.

    A SKU is known if the platform acknowledged it or its export has it. Its price is the lowest of the acknowledged one, the exported
    one and the one to be sent next: a promotion has to be below all of them. `price_max` is the highest of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.promotions.schemas import ASSORTMENT
    from shelfsync.rows.alignment import aligned, ascending, column

    with context.engine.connect() as connection:
        base = state.acknowledged(connection, vendor)
        seen = state.observed(connection, vendor)
        snapshot = state.wanted(connection, vendor)
        newer = [] if seen is None else _priced_since(connection, vendor, seen.last_job_id or 0)
    known = []
    columns = ["sku", "price", "active"]
    if base is not None:
        known.append(acknowledged_rows(context, vendor, base, columns))
    if seen is not None:
        known.append(_without_prices(context.lake.read_table(seen.path, columns=columns), newer))
    if not known:
        return ASSORTMENT.empty_table()
    merged = known[0]
    if len(known) > 1:
        both = pa.concat_tables(
            [table.cast(pa.schema([ASSORTMENT.field(name) for name in ("sku", "price", "active")])) for table in known]
        )
        grouped = both.group_by("sku", use_threads=False).aggregate(
            [("price", "min"), ("price", "max"), ("active", "first")]
        )
        names = {"sku": "sku", "price": "price_min", "price_max": "price_max", "active": "active_first"}
        merged = pa.table({name: grouped[of] for name, of in names.items()})
    skus = column(merged, "sku")
    price, highest = column(merged, "price"), column(merged, "price_max" if len(known) > 1 else "price")
    cost = pa.nulls(len(skus), ASSORTMENT.field("cost").type)
    if snapshot is not None:
        wanted = aligned(_asked(context, snapshot), skus, ("price", "cost"))
        price, cost = pc.min_element_wise(price, wanted["price"], skip_nulls=True), wanted["cost"]
        highest = pc.max_element_wise(highest, wanted["price"], skip_nulls=True)
    arrays = [skus, price, highest, column(merged, "active"), cost]
    assortment = pa.Table.from_arrays(arrays, schema=ASSORTMENT)
    return assortment if ascending(skus) else assortment.sort_by("sku").combine_chunks()


def asked_beside(context: Context, vendor: str, rows: pa.Table, assortment: pa.Table) -> pa.Table | None:
    """ASKED of the SKUs of these rows (ROWS) that the vendor's assortment lacks and the ERP's newest reading has; None: there is none.

    A campaign may name them before the platform has acknowledged them. Of a vendor without a known assortment every row waits.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.promotions.schemas import ASKED
    from shelfsync.rows.alignment import column

    if not assortment.num_rows:
        return None
    skus = column(rows, "sku")
    lacking = pc.unique(skus.filter(pc.invert(pc.is_in(skus, value_set=column(assortment, "sku")))))
    if not len(lacking):
        return None
    with context.engine.connect() as connection:
        last = state.last_reading(connection, vendor)
    if last is None:
        return None
    asked = _asked(context, last.snapshot_path)
    asked = asked.filter(pc.is_in(asked["sku"], value_set=lacking))
    if last.quarantine_path is None:
        return asked
    quarantined = column(context.lake.read_table(last.quarantine_path, columns=["sku"]), "sku")
    faulty = lacking.filter(
        pc.and_(pc.is_in(lacking, value_set=quarantined), pc.invert(pc.is_in(lacking, value_set=column(asked, "sku"))))
    )
    nulls = [pa.nulls(len(faulty), ASKED.field(name).type) for name in ("price", "cost")]
    return pa.concat_tables([asked, pa.Table.from_arrays([faulty, *nulls], schema=ASKED)])


def asked_elsewhere(context: Context, vendors: Iterable[str], skus: pa.Array) -> pa.Table:
    """ASKED without costs: the lowest price of each of these SKUs in the newest snapshots of these vendors."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.promotions.schemas import ASKED

    found = ASKED.empty_table()
    for vendor in vendors:
        with context.engine.connect() as connection:
            snapshot = state.wanted(connection, vendor)
        if snapshot is None:
            continue
        try:
            asked = _asked(context, snapshot)
        except OneFileError:  # its own store says so
            continue
        both = pa.concat_tables([found, asked.filter(pc.is_in(asked["sku"], value_set=skus))])
        lowest = both.group_by("sku", use_threads=False).aggregate([("price", "min")])
        costs = pa.nulls(lowest.num_rows, ASKED.field("cost").type)
        found = pa.Table.from_arrays([lowest["sku"], lowest["price_min"], costs], schema=ASKED)
    return found


def _asked(context: Context, snapshot: str) -> pa.Table:
    import pyarrow as pa

    from shelfsync.promotions.schemas import ASKED
    from shelfsync.schemas import SNAPSHOT, completed

    columns = pa.schema([SNAPSHOT.field(name) for name in ASKED.names])
    return completed(context.lake.read_table(snapshot, columns=columns.names), columns).cast(ASKED)


def _without_prices(shown: pa.Table, skus: list[str]) -> pa.Table:
    """The export without the prices that are older than an acknowledged change."""
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


def known_vendors(context: Context) -> tuple[str, ...]:
    """The vendors that `*` means: those the catalog has been synced with, as far as they are not left out by setting."""
    with context.engine.connect() as connection:
        known = sorted(state.known_vendors(connection))
    wanted = context.settings.sync.vendors
    return tuple(name for name in known if not wanted or name in wanted)
