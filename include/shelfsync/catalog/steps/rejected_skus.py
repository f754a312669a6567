"""Rejections: what a delta leaves out because the platform rejected it, and what releases such a SKU."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.assortment.product_names import with_names_of_vendors
from shelfsync.catalog.ledger import rejections, vendors
from shelfsync.catalog.rejection_kind import kind_of
from shelfsync.catalog.rejection_retry import RetryWaits
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

log = logging.getLogger(__name__)


def in_force(connection: Connection, vendor: str) -> pa.Table:
    """SKU, barcode and the four values of every rejection that a delta does not repeat now; call `unknown_skus.release_seen` first."""
    return _table(rejections.of_vendor(connection, vendor))


def none_in_force() -> pa.Table:
    """The same of a vendor of which no SKU is rejected."""
    return _table([])


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    from shelfsync.schemas import FIELDS, SNAPSHOT

    return pa.Table.from_pylist(rows, schema=pa.schema([SNAPSHOT.field(name) for name in ("sku", "barcode", *FIELDS)]))


def remember(
    context: Context,
    connection: Connection,
    vendor: str,
    job_id: int,
    rows: Sequence[dict[str, Any]],
    *,
    otherwise: str = "unclear",
    released: Iterable[str] = (),
) -> None:
    """Records rejections with the kind of their reason, and removes those of `released`; `otherwise`: the kind of an unknown reason."""
    settings = context.settings.rejection
    with_kind = [{**row, "kind": kind_of(row["reason"], settings.reason_keywords, otherwise=otherwise)} for row in rows]
    retry = RetryWaits(settings.retry_first_s, settings.retry_max_s)
    rejections.remember(connection, vendor, job_id, with_kind, retry, released=released)


def forget_gone(
    connection: Connection, vendor: str, snapshot: pa.Table, baseline: pa.Table, quarantined: pa.Table | None
) -> None:
    """Removes rejections of SKUs that have left a complete extract and are off sale."""
    import pyarrow.compute as pc

    rejected = set(rejections.skus_of(connection, vendor))
    if not rejected:
        return
    on_sale = baseline.filter(baseline["active"].fill_null(True))["sku"]
    wanted = {*snapshot["sku"].to_pylist(), *on_sale.to_pylist()}
    if quarantined is not None:
        wanted |= set(pc.drop_null(quarantined["sku"]).to_pylist())
    gone = sorted(rejected - wanted)
    rejections.release(connection, vendor, gone)
    if gone:
        log.info("diff: vendor %s: %d rejected SKUs have left the ERP; their rejections are removed", vendor, len(gone))


def listed(context: Context, vendor: str | None, limit: int | None = None) -> dict[str, Any]:
    """`{"count": n, "rejections": [rows of warehouse.rejection, with the product's name], "lines": [...]}`, of one vendor or of all.

    At most `limit` rows of them, if it is given.
    """
    asked = {"vendor": vendor, "limit": limit}
    with context.engine.connect() as connection:
        count = connection.execute(_COUNT, {"vendor": vendor}).scalar_one()
        found = [dict(row) for row in connection.execute(_LISTED, asked).mappings()]
    rows = with_names_of_vendors(context, found)
    lines = [f"{count} SKUs are rejected"]
    for row in rows:
        again = f", again at {display.instant(row['next_try_at'])}" if row["next_try_at"] else ""
        lines.append(
            f"{row['vendor']} {display.product(row['sku'], row['name'])}: {row['duration']} since {display.day(row['first_at'])}, {row['times']} times{again}:"
            f" {row['reason']}. {row['what_to_do']}"
        )
    if count > len(rows):
        lines.append(f"{count - len(rows)} more: `--limit 0` lists all, `--csv` has them as a file")
    return {"count": count, "rejections": rows, "lines": lines}


_OF_VENDOR = "FROM warehouse.rejection WHERE CAST(:vendor AS text) IS NULL OR vendor = :vendor"
_COUNT = sa.text(f"SELECT count(*) {_OF_VENDOR}")
_LISTED = sa.text(f"SELECT * {_OF_VENDOR} ORDER BY duration, vendor, sku LIMIT :limit")


def release(context: Context, vendor: str, skus: Sequence[str]) -> dict[str, Any]:
    """Lets the next run send these SKUs of the vendor again: `{"released": n, "lines": [...]}`."""
    with context.engine.begin() as connection:
        if vendor not in vendors.names(connection):
            raise DataError(
                f"rejections: no extract had vendor {vendor!r}, so nothing was released; `shelfsync status` lists the vendors"
            )
        released = rejections.let_go(connection, vendor, skus, "a person")
        if released < len(set(skus)):
            raise DataError(
                f"rejections: of {len(set(skus))} SKUs to release, {released} are rejected for vendor {vendor}, so none was"
                f" released; `shelfsync rejections list --vendor {vendor}` lists those that are"
            )
    return {"released": released, "lines": [f"{released} SKUs of vendor {vendor} are sent again by the next run"]}
