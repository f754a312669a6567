"""Removes rows by a rule, some thousands a transaction, never one that another row points to.

Outcomes that only repeat an earlier state go too: a daily full sync writes ten million of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.store.instant import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection, Engine

    from shelfsync.housekeeping.rules import Rule

ROWS_A_TRANSACTION = 5_000
"""A transaction of this size holds locks for a fraction of a second."""

_REFERENCES = """
SELECT c.conrelid::regclass::text AS child,
       array_agg(ca.attname::text ORDER BY k.place) AS child_columns,
       array_agg(pa.attname::text ORDER BY k.place) AS parent_columns
FROM pg_constraint AS c
CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k (child, parent, place)
JOIN pg_attribute AS ca ON ca.attrelid = c.conrelid AND ca.attnum = k.child
JOIN pg_attribute AS pa ON pa.attrelid = c.confrelid AND pa.attnum = k.parent
WHERE c.contype = 'f' AND c.confrelid = to_regclass(:parent) AND c.conparentid = 0
GROUP BY c.oid, c.conrelid
ORDER BY child
"""


def prune(engine: Engine, rule: Rule, *, dry_run: bool = False) -> int:
    """How many rows went, or with `dry_run` would go by this rule alone. A table that is not there counts as empty."""
    with engine.connect() as connection:
        if connection.execute(sa.text("SELECT to_regclass(:table)"), {"table": rule.table}).scalar_one() is None:
            return 0
        where = f"({rule.where}) AND {_unreferenced(connection, rule.table)}"
        cutoff = connection.execute(
            sa.select(instant() - sa.func.make_interval(0, 0, 0, 0, 0, 0, rule.days * 86_400))
        ).scalar_one()
        if dry_run:
            count = sa.text(f"SELECT count(*) FROM {rule.table} AS old WHERE {where}")  # noqa: S608  constants of ours
            return int(connection.execute(count, {"cutoff": cutoff}).scalar_one())
    delete = sa.text(
        f"DELETE FROM {rule.table} WHERE ctid IN"  # noqa: S608
        f" (SELECT old.ctid FROM {rule.table} AS old WHERE {where} LIMIT {ROWS_A_TRANSACTION})"
    )
    gone = 0
    while True:
        with engine.begin() as connection:
            removed = connection.execute(delete, {"cutoff": cutoff}).rowcount
        gone += removed
        if removed < ROWS_A_TRANSACTION:
            return gone


def _unreferenced(connection: Connection, table: str) -> str:
    """A condition on `old`: no row of any table points to it, whatever tables there are."""
    conditions = ["true"]
    for reference in connection.execute(sa.text(_REFERENCES), {"parent": table}):
        pairs = zip(reference.child_columns, reference.parent_columns, strict=True)
        same = " AND ".join(f'child."{child}" = old."{parent}"' for child, parent in pairs)
        conditions.append(f"NOT EXISTS (SELECT 1 FROM {reference.child} AS child WHERE {same})")  # noqa: S608
    return " AND ".join(conditions)


_JOBS = "SELECT job_id FROM warehouse.catalog_job WHERE repeats_removed IS NULL AND ended_at < :cutoff ORDER BY job_id"
_REPEATS = "FROM warehouse.sku_outcome WHERE job_id = :job_id AND state = 'accepted' AND change = 'same'"


def thin(engine: Engine, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """Returns how many rows it removed, or with `dry_run` would remove; one job per transaction. Rejected, unaccounted and changed rows stay."""
    gone = 0
    with engine.connect() as connection:
        cutoff = connection.execute(sa.select(instant() - older_than)).scalar_one()
        jobs = connection.execute(sa.text(_JOBS), {"cutoff": cutoff}).scalars().all()
    for job_id in jobs:
        with engine.begin() as connection:
            if dry_run:
                gone += connection.execute(sa.text(f"SELECT count(*) {_REPEATS}"), {"job_id": job_id}).scalar_one()
                continue
            removed = connection.execute(sa.text(f"DELETE {_REPEATS}"), {"job_id": job_id}).rowcount
            connection.execute(
                sa.text("UPDATE warehouse.catalog_job SET repeats_removed = :removed WHERE job_id = :job_id"),
                {"job_id": job_id, "removed": removed},
            )
            gone += removed
    return gone
