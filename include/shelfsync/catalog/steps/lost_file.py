"""A store's acknowledged state whose file the lake has lost, or has only in part: the warehouse has the same values, committed with it.

A bucket's own rule removes what is old, and a store that seldom changes has an old file. The file is written anew under its name.
What the warehouse does not have comes from what is left: barcodes from snapshot and export, why a SKU is off sale from the snapshot. The
buffers are unknown until the next quantity is sent.
"""

from __future__ import annotations

import contextlib
import io
import logging
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shelfsync import logs
from shelfsync.catalog.ledger import compared, vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.errors import DataError
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import BASELINE, SNAPSHOT
from shelfsync.store.lake import LostFileError, how_written

if TYPE_CHECKING:
    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.context import Context

log = logging.getLogger(__name__)
in_report = logs.in_report(__name__)

_SNAPSHOTS_READ = 20
"""So many earlier snapshots are read for the barcodes of products that have left the ERP."""


def acknowledged(context: Context, vendor: str, base: BaselineVersion | None) -> pa.Table:
    """The rows of the version in force (BASELINE). None: nothing was ever acknowledged, so there are none.

    DataError: its file is lost, and the warehouse does not know the same SKUs, or another process has moved the version meanwhile.
    """
    if base is None:
        return BASELINE.empty_table()
    try:
        return context.lake.read_table(base.path)
    except LostFileError as lost:
        rows = _from_warehouse(context, vendor, base)
        if rows is None:
            raise DataError(
                f"the lake {context.lake.root} has lost {base.path!r}, what the platform has acknowledged, and the warehouse"
                " does not know all of it, so nothing is sent to this store. Restore the file (docs/how-to/backup.md#restore), or"
                " `shelfsync forget` the store, and a full sync begins anew"
            ) from lost
    file = io.BytesIO()
    pq.write_table(rows, file, **how_written(rows.column_names))
    file.seek(0)
    context.lake.put(base.path, file)
    in_report.warning(
        "vendor %s: the lake had lost %s, what the platform has acknowledged. The %s SKUs were read from the warehouse."
        " See who removes files from %s (docs/how-to/backup.md)",
        vendor,
        base.path,
        f"{rows.num_rows:,}",
        context.lake.root,
    )
    return rows


def last_known(context: Context, vendor: str, path: str, rows: pa.Table) -> pa.Table:
    """The acknowledged `rows` with the last known value where one is unknown; `path`: lake, the file that has them."""
    try:
        return context.lake.read_table(path)
    except LostFileError:
        with context.engine.connect() as connection:
            return baseline_history.with_last_known(connection, vendor, rows)


def _from_warehouse(context: Context, vendor: str, base: BaselineVersion) -> pa.Table | None:
    """None: the warehouse has another version or other SKUs, or the barcode that takes a product off sale is known nowhere."""
    with context.engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        if vendors.current_baseline(connection, vendor) != base:
            return None
        rows = baseline_history.in_force(connection, vendor)
        snapshots = compared.snapshot_paths(connection, vendor, most=_SNAPSHOTS_READ)
        observed = compared.known_paths(connection, [vendor])[vendor][1]
    if rows.num_rows != base.rows:
        return None
    skus, active = column(rows, "sku"), column(rows, "active")
    newest = if_kept(context, snapshots[0] if snapshots else None)
    stated = aligned(SNAPSHOT.empty_table() if newest is None else newest, skus, ["active"])["active"]
    # off sale, and the ERP does not say so: it had left the ERP, so its presence alone switches it on
    left = pc.and_(pc.equal(active, False).fill_null(False), stated.is_null())
    barcode, on_sale = pa.nulls(len(skus), pa.string()), active.fill_null(True)
    by_barcode = context.settings.platform.item_key == "barcode"
    for path in (*snapshots, observed) if by_barcode else snapshots[:1]:
        found = if_kept(context, path)
        if found is not None:
            barcode = pc.coalesce(barcode, aligned(found, skus, ["barcode"])["barcode"])
        if not pc.any(pc.and_(on_sale, barcode.is_null())).as_py():
            break
    else:
        if by_barcode:
            return None
    columns = {name: column(rows, name) for name in BASELINE.names}
    columns |= {"barcode": barcode, "left": pc.if_else(left, True, pa.scalar(None, pa.bool_()))}
    return pa.Table.from_arrays([columns[name] for name in BASELINE.names], schema=BASELINE)


def if_kept(context: Context, path: str | None) -> pa.Table | None:
    """A table that only helps; None: there is none, or the lake has lost it."""
    if path is not None:
        with contextlib.suppress(LostFileError):
            return context.lake.read_table(path)
    return None
