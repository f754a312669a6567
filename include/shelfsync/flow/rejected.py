"""What a delta leaves out because the platform refuses it, and what lets such a SKU go again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.rejection import kind_of
from shelfsync.errors import DataError
from shelfsync.ledger import observations, rejections
from shelfsync.ledger.rejections import Backoff

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)


def in_force(parts: Parts, vendor: str) -> pa.Table:
    """SKU, barcode and the four values of every refusal that a delta does not repeat now; the newest picture of the platform is asked first."""
    import pyarrow as pa

    from shelfsync.columns import FIELDS, SNAPSHOT

    _release_those_seen(parts, vendor)
    with parts.engine.connect() as connection:
        rows = rejections.of_vendor(connection, vendor)
    return pa.Table.from_pylist(rows, schema=pa.schema([SNAPSHOT.field(name) for name in ("sku", "barcode", *FIELDS)]))


def remember(
    parts: Parts,
    connection: Connection,
    vendor: str,
    job_id: int,
    rows: Sequence[dict[str, Any]],
    *,
    otherwise: str = "unclear",
) -> None:
    """Notes refusals with what their words mean; `otherwise`: what words mean that nobody knows."""
    settings = parts.settings.rejection
    told = [{**row, "kind": kind_of(row["reason"], settings.words, otherwise=otherwise)} for row in rows]
    backoff = Backoff(settings.again_first_s, settings.again_max_s)
    rejections.remember(connection, vendor, job_id, told, backoff)


def forget_gone(
    connection: Connection, vendor: str, snapshot: pa.Table, baseline: pa.Table, quarantined: pa.Table | None
) -> None:
    """Refusals of SKUs that nobody wants any more: they have left a complete extract, and nothing is left to switch off."""
    import pyarrow.compute as pc

    refused = set(rejections.skus_of(connection, vendor))
    if not refused:
        return
    on_sale = baseline.filter(baseline["active"].fill_null(True))["sku"]
    wanted = {*snapshot["sku"].to_pylist(), *on_sale.to_pylist()}
    if quarantined is not None:
        wanted |= set(pc.drop_null(quarantined["sku"]).to_pylist())
    gone = sorted(refused - wanted)
    rejections.release(connection, vendor, gone)
    if gone:
        log.info("diff: vendor %s: %d refused SKUs have left the ERP and are forgotten", vendor, len(gone))


def listed(parts: Parts, vendor: str | None, release: Sequence[str]) -> dict[str, Any]:
    """`{"rejections": [rows of warehouse.rejection], "released": n, "lines": [...]}`; `release`: SKUs of the vendor to let go first."""
    statement = (
        "SELECT * FROM warehouse.rejection WHERE :vendor IS NULL OR vendor = :vendor ORDER BY refused, vendor, sku"
    )
    asked = sa.text(statement).bindparams(sa.bindparam("vendor", vendor, sa.Text))
    with parts.engine.begin() as connection:
        released = rejections.let_go(connection, vendor or "", release, "a person") if release else 0
        rows = [dict(row) for row in connection.execute(asked).mappings()]
    if released < len(set(release)):
        raise DataError(
            f"rejections: of {len(set(release))} SKUs to release, {released} are refused for vendor {vendor};"
            " see `shelfsync rejections` for those that are"
        )
    lines = [f"{len(rows)} SKUs are refused" + (f"; {released} of them were let go" if release else "")]
    for row in rows:
        again = f", again at {row['next_try_at']:%Y-%m-%d %H:%M:%S %Z}" if row["next_try_at"] else ""
        lines.append(
            f"{row['vendor']} {row['sku']}: {row['refused']} since {row['first_at']:%Y-%m-%d}, {row['times']} times{again}:"
            f" {row['reason']}. {row['what_to_do']}"
        )
    return {"rejections": rows, "released": released, "lines": lines}


def unknown_now(parts: Parts, vendor: str) -> dict[str, int]:
    """What a listing may let go, read before it is asked for: SKUs refused as unknown, with the job that said so."""
    with parts.engine.connect() as connection:
        return rejections.unknown_now(connection, vendor)


def release_listed(parts: Parts, vendor: str, before: dict[str, int], shown: Iterable[str | None]) -> None:
    """A SKU that was unknown before the listing was asked for, and stands in it, is sent again. One that lies costs one try."""
    known = {sku: before[sku] for sku in shown if sku in before}
    if not known:
        return
    with parts.engine.begin() as connection:
        released = rejections.let_go_unchanged(connection, vendor, known, "listing")
    log.info("vendor %s: %d SKUs that were unknown stand in the listing, and are sent again", vendor, released)


def _release_those_seen(parts: Parts, vendor: str) -> None:
    """A SKU that was unknown to the platform and is shown by it now is sent again."""
    with parts.engine.connect() as connection:
        seen = observations.newest(connection, vendor)
        unknown = [] if seen is None else rejections.unknown_before(connection, seen)
    if seen is None or not unknown:
        return
    shown = set(parts.lake.read_table(seen.path, columns=["sku"])["sku"].to_pylist())
    known = [sku for sku in unknown if sku in shown]
    with parts.engine.begin() as connection:
        rejections.looked_at(connection, seen, unknown)
        rejections.let_go(connection, vendor, known, seen.how)
    if known:
        log.info("diff: vendor %s: %d SKUs that were unknown stand in the newest %s", vendor, len(known), seen.how)
