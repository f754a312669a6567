"""absent: SKUs that left an extract without a proof of completeness. They stay on sale, so each report counts them and names the remedy."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shelfsync.errors import ABSENT_PAGE, some_of
from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import ABSENT
from shelfsync.store.lake import OneFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection, RowMapping

    from shelfsync.catalog.ledger.compared import Compared
    from shelfsync.context import Context

_OF_RUN = """
SELECT vr.vendor, vr.skus_absent AS skus, vr.absent_path AS path, e.proof
FROM ledger.vendor_run AS vr JOIN ledger.extract AS e USING (extract_id)
WHERE vr.run_id = :run AND vr.skus_absent > 0 ORDER BY vr.vendor
"""

_LAST = """
SELECT v.vendor, l.skus_absent AS skus, l.absent_path AS path, e.proof
FROM ledger.vendor AS v
CROSS JOIN LATERAL (
    SELECT vr.* FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run AND vr.delta_path IS NOT NULL ORDER BY vr.generation DESC LIMIT 1
) AS l
JOIN ledger.extract AS e ON e.extract_id = l.extract_id
WHERE v.forgotten IS NULL AND l.skus_absent > 0 ORDER BY v.vendor
"""


def without_removals(context: Context, delta: pa.Table, about: Compared) -> tuple[pa.Table, pa.Table]:
    """The delta without removals, and the removals as absent SKUs: absence from an extract without a proof means nothing (I9).

    A SKU that the diff before found absent too keeps its `since`.
    """
    removed = pc.equal(delta["change"], "removed")
    skus = column(delta.filter(removed), "sku")
    before = context.lake.read_if_kept(about.absent_before if len(skus) else None, ABSENT)
    since = aligned(before, skus, ["since"])["since"].fill_null(pa.scalar(about.read_at, ABSENT.field("since").type))
    return delta.filter(pc.invert(removed)), pa.Table.from_arrays([skus, since], schema=ABSENT)


def of_run(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """Vendors of a run with absent SKUs, by name: `vendor`, `skus`, `path` (lake: ABSENT rows) and `proof`, why absence is not believed."""
    return _rows(connection.execute(sa.text(_OF_RUN), {"run": run_id}).mappings().all())


def last(connection: Connection) -> list[dict[str, Any]]:
    """The same of each vendor's last diff."""
    return _rows(connection.execute(sa.text(_LAST)).mappings().all())


def _rows(found: Sequence[RowMapping]) -> list[dict[str, Any]]:
    return [dict(row) for row in found]


def lines(context: Context, found: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each reason: how many SKUs of which vendors, why absence is not believed, and what to do."""
    return [_line(context, [row for row in found if row["proof"] == proof]) for proof in _reasons(found)]


def _reasons(found: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["proof"] for row in found))


def _line(context: Context, rows: Sequence[dict[str, Any]]) -> str:
    first = rows[0]
    names = some_of(f"{row['vendor']}: {row['skus']:,}" for row in rows)
    example = ""
    with contextlib.suppress(OneFileError):
        sku = context.lake.read_table(first["path"], ["sku"])["sku"][0].as_py()
        example = f" (`shelfsync explain {first['vendor']} {sku}` explains one)"
    return (
        f"{sum(row['skus'] for row in rows):,} SKUs are absent from the extract and stay on sale ({names}), because the extract is not"
        f" proven complete: {first['proof']}{example}. Remedy: {ABSENT_PAGE}"
    )
