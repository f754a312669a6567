"""What the platform has acknowledged of a store: a file of the lake, and the same rows in the warehouse, committed with it.

The lake may have lost the file: a bucket's own rule removes what is old, and a store that seldom changes has an old file. Then the file is
written anew from the warehouse, under its name.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from shelfsync import logs
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.schemas import BASELINE
from shelfsync.store.lake import LostFileError, OneFileError

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.context import Context

in_report = logs.in_report(__name__)


def acknowledged_rows(
    context: Context, vendor: str, base: BaselineVersion | None, columns: list[str] | None = None
) -> pa.Table:
    """The rows of the version in force (BASELINE, or some columns). None: nothing was ever acknowledged, so there are none.

    OneFileError: its file is lost, and the warehouse has another version or other SKUs.
    """
    try:
        return context.lake.read_or_empty(base and base.path, BASELINE, columns)
    except LostFileError as lost:
        assert base is not None
        rows = _from_warehouse(context, vendor, base, lost)
    context.lake.write_table("baseline", vendor, rows, digest=PurePosixPath(base.path).stem)
    in_report.warning(
        "vendor %s: the lake %s had lost %s, what the platform has acknowledged. It is written anew from the warehouse, %s SKUs."
        " See who removes files (docs/how-to/backup.md#a-file-of-the-lake-is-lost)",
        vendor,
        context.lake.root,
        base.path,
        f"{rows.num_rows:,}",
    )
    return rows if columns is None else rows.select(columns)


def _from_warehouse(context: Context, vendor: str, base: BaselineVersion, lost: LostFileError) -> pa.Table:
    with context.engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        moved = vendors.current_baseline(connection, vendor) != base
        rows = baseline_history.in_force(connection, vendor)
    if moved:
        raise OneFileError(
            "SHELFSYNC_LAKE_URL",
            f"{context.lake.root} has lost {base.path!r}, and another process has moved what the platform acknowledged meanwhile",
            "The next run compares again.",
        ) from lost
    if rows.num_rows != base.rows:
        raise OneFileError(
            "SHELFSYNC_LAKE_URL",
            f"{context.lake.root} has lost {base.path!r}, what the platform has acknowledged, and the warehouse has"
            f" {rows.num_rows:,} of its {base.rows:,} SKUs, so nothing is sent to this store",
            "Restore the file (docs/how-to/backup.md#a-file-of-the-lake-is-lost).",
        ) from lost
    return rows


def last_known_rows(context: Context, vendor: str, path: str, rows: pa.Table) -> pa.Table:
    """The acknowledged `rows` with the last known value where one is unknown.

    `path`: the file that has them. If it is lost, the values come from the history that the warehouse keeps.
    """
    try:
        return context.lake.read_table(path)
    except LostFileError as lost:
        in_report.warning("vendor %s: %s The guards compare with the history of the warehouse", vendor, lost)
        with context.engine.connect() as connection:
            return baseline_history.with_last_known(connection, vendor, rows)
