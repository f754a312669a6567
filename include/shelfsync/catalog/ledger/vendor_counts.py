"""The last count of each vendor's rows, and the facts it was made from. A count is valid while its facts are the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables
from shelfsync.store.metadata import instant, metadata, moment, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection

NUMBERS = {
    "erp_rows": "Rows of the ERP, as it was read last",
    "not_in_erp": "SKUs without a row in the ERP that are counted too: being switched off, absent, still carried, or kept by a restoration",
    "acknowledged": "The platform has every value of the ERP, by success lines or by observations",
    "suppressed": "Only a quantity differs, which changes nothing for a customer and waits for the full sync",
    "pending": "To be sent",
    "in_flight": "Sent in a job that is open",
    "unconfirmed": "Sent, and the job ended without a result for them: unknown until they are sent again",
    "held": "Held by a guard, and not approved",
    "rejected_for_good": "Rejected by the platform, and not repeated until something changes",
    "rejected_for_now": "Rejected by the platform, and retried automatically",
    "absent": "On sale, and not in an extract that is not proven complete: they stay on sale",
    "quarantined": "Rows that cannot be sent",
}
"""Each number and its meaning; catalog.sku_state defines them."""

vendor_count = sa.Table(
    "vendor_count",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    text("facts", "Hash of the facts that were counted; another one: count again", nullable=False),
    *(sa.Column(name, sa.BigInteger, nullable=False, comment=meaning) for name, meaning in NUMBERS.items()),
    moment("counted_at", "When they were counted", nullable=False),
    sa.CheckConstraint(f"erp_rows + not_in_erp = {' + '.join([*NUMBERS][2:])}", name="conservation"),
    schema="ledger",
    comment="The one column that each row of a vendor counts in, as counted last",
)

_FACTS = """
SELECT v.vendor, v.baseline_version, b.path AS baseline_path,
    l.generation IS NOT NULL AS was_read, l.snapshot_path, l.quarantine_path, l.suppressed_path, l.rows_snapshot, l.rows_quarantined,
    coalesce(e.complete, false) AS complete,
    ARRAY(SELECT batch.items_path FROM ledger.job JOIN ledger.batch USING (batch_id)
        WHERE job.vendor = v.vendor AND job.state IN ('submitting', 'open', 'confirmed') ORDER BY job_id) AS in_flight,
    ARRAY(SELECT batch.items_path FROM ledger.batch WHERE batch.vendor = v.vendor AND batch.state = 'planned'
        ORDER BY batch_id) AS planned,
    ARRAY(SELECT hold.rows_path FROM ledger.hold WHERE hold.subject = 'catalog' AND hold.vendor = v.vendor AND hold.superseded_by IS NULL
        AND hold.state IN ('open', 'declined', 'expired') ORDER BY hold_id) AS held,
    (SELECT md5(string_agg(r.skus_md5 || r.kind, ',' ORDER BY r.group_number)) FROM ledger.rejection_count AS r
        WHERE r.vendor = v.vendor) AS rejections,
    (SELECT max(h.observation_id) FROM ledger.resending AS h WHERE h.vendor = v.vendor) AS resent
FROM ledger.vendor AS v
LEFT JOIN ledger.baseline AS b ON b.vendor = v.vendor AND b.version = v.baseline_version
LEFT JOIN LATERAL (
    SELECT vr.* FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run
        AND (vr.snapshot_path IS NOT NULL OR vr.rows_snapshot = 0 AND vr.rows_quarantined > 0)
    ORDER BY vr.generation DESC LIMIT 1
) AS l ON true
LEFT JOIN ledger.extract AS e ON e.extract_id = l.extract_id
WHERE v.forgotten IS NULL AND (CAST(:vendors AS text[]) IS NULL OR v.vendor = ANY (:vendors))
ORDER BY v.vendor
"""

_REJECTED = "SELECT sku, kind IN ('for_now', 'unclear') AS for_now FROM ledger.rejection WHERE vendor = :vendor AND starts_with(sku, :begin)"

_REJECTING = """
SELECT vendor FROM unnest(CAST(:vendors AS text[])) AS named (vendor)
WHERE EXISTS (SELECT FROM ledger.rejection AS r WHERE r.vendor = named.vendor AND starts_with(r.sku, :begin))
"""

_UNCONFIRMED = """
SELECT named.sku FROM unnest(CAST(:skus AS text[])) AS named (sku)
CROSS JOIN LATERAL (
    SELECT o.state, o.known_at FROM warehouse.sku_outcome AS o WHERE o.vendor = :vendor AND o.sku = named.sku
    ORDER BY o.known_at DESC, o.job_id DESC LIMIT 1
) AS last
WHERE last.state = 'unaccounted' AND NOT EXISTS (
    SELECT FROM ledger.resending AS h WHERE h.vendor = :vendor AND h.sku = named.sku AND h.resent_at > last.known_at)
"""


class Facts(NamedTuple):
    """The inputs of one vendor's count, in the order of the query; paths are files of the lake. Another reading with the same results counts the same."""

    vendor: str
    baseline_version: int
    baseline_path: str | None
    was_read: bool
    snapshot_path: str | None
    quarantine_path: str | None
    suppressed_path: str | None
    rows_snapshot: int | None
    rows_quarantined: int | None
    complete: bool
    in_flight: list[str]
    planned: list[str]
    held: list[str]
    rejections: str | None
    resent: int | None

    def digest(self, *more: str) -> str:
        """A hash of the facts and of `more`, which describes how they are counted."""
        return hashlib.sha256(repr((self, more)).encode()).hexdigest()[:32]


def facts(connection: Connection, vendors: Sequence[str] | None = None) -> list[Facts]:
    """Of these vendors or of all, by name."""
    bound = sa.text(_FACTS).bindparams(sa.bindparam("vendors", type_=sa.ARRAY(sa.Text)))
    rows = connection.execute(bound, {"vendors": None if vendors is None else list(vendors)})
    return [Facts(*row) for row in rows.all()]


def rejected(connection: Connection, vendor: str, begin: str = "") -> dict[str, bool]:
    """SKUs with this begin that the platform rejects, and whether only for now."""
    found = connection.execute(sa.text(_REJECTED), {"vendor": vendor, "begin": begin})
    return {row.sku: row.for_now for row in found}


def rejecting(connection: Connection, vendors: list[str], begin: str) -> set[str]:
    """Of these vendors those that have a rejected SKU with this begin."""
    return set(connection.execute(sa.text(_REJECTING), {"vendors": vendors, "begin": begin}).scalars())


def unconfirmed(connection: Connection, vendor: str, skus: list[str]) -> list[str]:
    """Of these SKUs those whose last job ended without an outcome for them, unless an observation came since."""
    return list(connection.execute(sa.text(_UNCONFIRMED), {"vendor": vendor, "skus": skus}).scalars())


class Counted(NamedTuple):
    """The last count of a vendor: the digest of its facts, and each of NUMBERS in their order."""

    facts: str
    numbers: list[int]


def counted(connection: Connection) -> dict[str, Counted]:
    """The last count of every vendor, by name."""
    columns = [vendor_count.c[name] for name in ("vendor", "facts", *NUMBERS)]
    return {name: Counted(facts, numbers) for name, facts, *numbers in connection.execute(sa.select(*columns)).all()}


def keep(connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Replaces the last count of each vendor: vendor, facts and NUMBERS.

    The order of names prevents a deadlock of two processes that count.
    """
    every = sorted(rows, key=lambda row: str(row["vendor"]))
    if not every:
        return
    statement = insert(vendor_count)
    again = {name: statement.excluded[name] for name in ("facts", *NUMBERS, "counted_at")}
    statement = statement.on_conflict_do_update(index_elements=[vendor_count.c.vendor], set_=again)
    connection.execute(statement.values(counted_at=instant()), every)
