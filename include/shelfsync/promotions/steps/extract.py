"""extract: the ERP's promotions as given, one file a vendor (`*`: all of them), with the proof that they are all."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from shelfsync.erp.open import open_promotions, promotion_settings_in_errors
from shelfsync.errors import DataError
from shelfsync.outages import PROMOTIONS, erp_asked
from shelfsync.promotions import normalise
from shelfsync.promotions.head import EVERY
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.schemas import RAW, REQUIRED
from shelfsync.promotions.warehouse import record
from shelfsync.vendors.partition import Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.context import Context

log = logging.getLogger(__name__)

KIND = "promotion_raw"


def open_run(context: Context, key: str, *, dry_run: bool) -> int:
    """The number of the run of this key; a run that is opened again continues."""
    with context.engine.begin() as connection:
        run_id = promotion_runs.open_run(connection, key=key, dry_run=dry_run)
        record.RUN.copy(connection, [run_id])
    return run_id


def extract(context: Context, run_id: int) -> dict[str, Any]:
    """Reads the ERP's promotions once; `{"rows", "vendors", "proof"}`. A run that was planned is not read again."""
    with promotion_runs.cause_kept(context.engine, run_id):
        return _extract(context, run_id)


def _extract(context: Context, run_id: int) -> dict[str, Any]:
    with context.engine.connect() as connection:
        run = promotion_runs.read(connection, run_id)

    if run.planned_at is not None:
        return {"rows": 0, "vendors": 0, "proof": "planned before"}
    wanted = context.settings.sync.vendors
    source = open_promotions(context.settings, RAW, REQUIRED)
    only = (*wanted, EVERY) if wanted else ()
    with Partition(context.lake, only, kind=KIND, schema=RAW) as partition:
        with (
            promotion_settings_in_errors(context.settings),
            erp_asked(context.engine, PROMOTIONS),
            source.read() as extracted,
        ):
            for chunk in extracted:
                partition.add(_for_all(chunk))
            proof = extracted.proof()
            unread = dict(extracted.failed)
        files = partition.finish()
        nameless, failed = partition.nameless, partition.failed
    unread |= {vendor: f"its rows could not be written: {error}" for vendor, (error, _) in failed.items()}
    if EVERY in unread:
        raise DataError(f"promotions, extract: the rows of all vendors: {unread[EVERY]}")
    for vendor, error in unread.items():
        log.error("promotions, extract: vendor %s: %s", vendor, error)
    read = {vendor: path for vendor, (path, _) in sorted(files.items()) if vendor not in unread}
    manifest = {"rows": proof.rows, "vendors": read, "unread": unread}
    path = context.lake.write_bytes("promotion_manifest", "all", ".json", json.dumps(manifest).encode())
    with context.engine.begin() as connection:
        complete = proof.complete and not proof.doubtful
        how = proof.of_doubtful().how if proof.doubtful else proof.how
        promotion_runs.extracted(connection, run_id, manifest_path=path, proof=how, complete=complete)
        if not run.dry_run:
            record.replace_quarantine(connection, run_id, "", normalise.nameless(nameless))
    if nameless.num_rows:
        log.warning(
            "promotions, extract: %d rows name no usable vendor and were quarantined; see warehouse.promotion_quarantine",
            nameless.num_rows,
        )
    log.info("promotions, extract: %d rows, %s", proof.rows, proof.how)
    return {"rows": proof.rows, "vendors": len(files), "proof": proof.how}


def _for_all(chunk: pa.Table) -> pa.Table:
    """A row that names no vendor means all of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named_vendor = pc.utf8_trim_whitespace(chunk["vendor"])
    blank = pc.fill_null(pc.equal(named_vendor, ""), fill_value=True)
    vendors = pc.if_else(blank, pa.scalar(EVERY), named_vendor)
    return chunk.set_column(chunk.schema.get_field_index("vendor"), RAW.field("vendor"), vendors)
