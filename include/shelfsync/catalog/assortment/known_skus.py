"""The SKUs of a vendor that the platform has: those that it acknowledged, and those that its newest export or listing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.catalog.ledger import compared

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.vendors import BaselineVersion
    from shelfsync.context import Context
    from shelfsync.rows.resembled_sku import Known


class KnownFiles(NamedTuple):
    """Where a vendor's SKUs are: the version in force of its baseline, and its newest export or listing (lake); None: there are none."""

    vendor: str
    acknowledged: BaselineVersion | None
    observed: str | None


def known_files(connection: Connection, names: Collection[str]) -> dict[str, KnownFiles]:
    """By vendor; one of which the ledger has no row is missing."""
    return {name: KnownFiles(name, *found) for name, found in compared.last_known(connection, names).items()}


def known_skus(context: Context, files: KnownFiles, *, whole: bool = True) -> Known:
    """What a SKU of the ERP is compared with; the export is read only if a SKU is not acknowledged. `whole`: as in `Known`."""
    from shelfsync.rows.alignment import column
    from shelfsync.rows.resembled_sku import Known

    acknowledged = acknowledged_rows(context, files.vendor, files.acknowledged, ["sku"])
    return Known(column(acknowledged, "sku"), lambda: _observed(context, files.observed), whole)


def known_of_any(context: Context, names: Collection[str]) -> Known:
    """The same of several vendors, for rows that need not be of all SKUs; read only if a SKU of theirs may be odd."""
    from shelfsync.rows.resembled_sku import Known

    def every() -> pa.Array:
        import pyarrow as pa

        with context.engine.connect() as connection:
            files = known_files(connection, names)
        found = [known_skus(context, files[name]) for name in sorted(files)]
        parts = [part for one in found for part in (one.acknowledged, one.observed())]
        return pa.concat_arrays([pa.array([], pa.string()), *parts]).unique()

    return Known(observed=every, whole=False)


def _observed(context: Context, path: str | None) -> pa.Array:
    from shelfsync.rows.alignment import column
    from shelfsync.schemas import OBSERVED

    return column(context.lake.read_if_kept(path, OBSERVED, ["sku"]), "sku")
