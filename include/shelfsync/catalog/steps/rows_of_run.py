"""rows_of_run: the rows behind each number of a run, stage by stage, a part at a time. A run of ten million rows is never in memory at once."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from shelfsync.errors import DataError
from shelfsync.schemas import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context


class Stage(StrEnum):
    """Where rows of a run are, in the order of the path."""

    EXTRACTED = "extracted"
    CHANGED = "changed"
    HELD = "held"
    SENT = "sent"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNACCOUNTED = "unaccounted"
    OBSERVED = "observed"


COLUMNS = ("vendor", "sku", "change", "state", "reason", *FIELDS, "job_id")
"""Of a row; null where a stage has no such value."""

COUNTED_MAX = 5_000
"""Accepted changes up to which the observed ones are counted; the file has them for any number."""

_FILES = {
    Stage.EXTRACTED: """
SELECT vendor, file.path FROM ledger.vendor_run CROSS JOIN LATERAL (VALUES (coalesce(erp_path, snapshot_path)), (quarantine_path)) AS file (path)
WHERE run_id = :run ORDER BY vendor
""",
    Stage.CHANGED: "SELECT vendor, delta_path AS path FROM ledger.vendor_run WHERE run_id = :run ORDER BY vendor",
    Stage.HELD: "SELECT vendor, held_path AS path FROM ledger.vendor_run WHERE run_id = :run ORDER BY vendor",
    Stage.SENT: """
SELECT batch.vendor, batch.items_path AS path, job.job_id FROM ledger.batch JOIN ledger.job USING (batch_id)
WHERE batch.run_id = :run AND job.state <> 'superseded' ORDER BY batch.vendor, job.job_id
""",
}
"""Which files of the lake have the rows."""
_JOBS = """
SELECT job.job_id FROM ledger.batch JOIN ledger.job USING (batch_id)
WHERE batch.run_id = :run AND (CAST(:vendor AS text) IS NULL OR batch.vendor = :vendor) AND job.state <> 'superseded' ORDER BY job.job_id
"""
_OUTCOMES = """
SELECT vendor, sku, change, state, reason, price, quantity, active, max_sales_quantity, job_id FROM warehouse.sku_outcome
WHERE job_id = :job AND state = :stage AND sku > :after ORDER BY sku LIMIT :most
"""
_OBSERVED = """
SELECT outcome.vendor, outcome.sku, outcome.change, 'observed' AS state, CAST(NULL AS text) AS reason,
    outcome.price, outcome.quantity, outcome.active, outcome.max_sales_quantity, outcome.job_id
FROM warehouse.sku_outcome AS outcome JOIN warehouse.change_time AS time USING (job_id, sku)
WHERE outcome.job_id = :job AND time.job_id = :job AND time.observed_at IS NOT NULL AND outcome.sku > :after ORDER BY outcome.sku LIMIT :most
"""
_OBSERVED_COUNT = "SELECT count(*) FROM warehouse.change_time WHERE job_id = ANY(:jobs) AND observed_at IS NOT NULL"


def rows_of_run(
    context: Context, run_id: int, stage: Stage, *, vendor: str | None = None, most: int
) -> Iterator[list[dict[str, Any]]]:
    """The rows of a stage, of one vendor or of all, at most so many at a time. DataError: a file is no longer kept."""
    if stage in _FILES:
        return _of_files(context, run_id, stage, vendor, most)
    return _of_outcomes(context, run_id, stage, vendor, most)


def observed(context: Context, run_id: int, accepted: int) -> int | None:
    """How many accepted changes of a run an observation has shown; None: they are too many to be counted for a page."""
    if accepted > COUNTED_MAX:
        return None
    with context.engine.connect() as connection:
        jobs = list(connection.execute(sa.text(_JOBS), {"run": run_id, "vendor": None}).scalars())
        return int(connection.execute(sa.text(_OBSERVED_COUNT), {"jobs": jobs}).scalar_one())


def _of_files(
    context: Context, run_id: int, stage: Stage, vendor: str | None, most: int
) -> Iterator[list[dict[str, Any]]]:
    with context.engine.connect() as connection:
        files = [dict(row) for row in connection.execute(sa.text(_FILES[stage]), {"run": run_id}).mappings()]
    files = [file for file in files if file["path"] is not None and vendor in {None, file["vendor"]}]
    if not all(context.lake.exists(file["path"]) for file in files):
        raise DataError(f"runs: the rows of run {run_id} are no longer kept; its counts are")
    for file in files:
        table = context.lake.read_table(file["path"])
        if stage == Stage.CHANGED:
            table = table.filter(pc.not_equal(table["change"], "same"))
        if (
            "row_sent" in table.column_names
        ):  # of a row that was sent without a value, the row itself stands in the other file
            table = table.filter(pc.invert(table["row_sent"]))
        fixed = {**dict.fromkeys(COLUMNS), "vendor": file["vendor"], "state": str(stage), "job_id": file.get("job_id")}
        for batch in table.select(
            [name for name in table.column_names if name in COLUMNS and name != "vendor"]
        ).to_batches(most):
            yield [fixed | row for row in pa.Table.from_batches([batch]).to_pylist()]


def _of_outcomes(
    context: Context, run_id: int, stage: Stage, vendor: str | None, most: int
) -> Iterator[list[dict[str, Any]]]:
    statement = sa.text(_OBSERVED if stage == Stage.OBSERVED else _OUTCOMES)
    with context.engine.connect() as connection:
        jobs = list(connection.execute(sa.text(_JOBS), {"run": run_id, "vendor": vendor}).scalars())
    for job in jobs:
        after, left = "", True
        while left:
            given = {"job": job, "stage": str(stage), "after": after, "most": most}
            given = {name: value for name, value in given.items() if name != "stage" or stage != Stage.OBSERVED}
            with context.engine.connect() as connection:
                rows = [dict(row) for row in connection.execute(statement, given).mappings()]
            if rows:
                yield rows
                after = rows[-1]["sku"]
            left = len(rows) == most
