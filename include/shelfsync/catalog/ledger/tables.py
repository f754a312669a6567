"""Tables of the ledger: runs, the fence of each vendor, batches and baselines.

Large data (rows) is in files of the lake; a row here holds the path and hash.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from shelfsync.catalog.state import BatchState, RunState, VendorState
from shelfsync.platform.jobs import table as _jobs  # noqa: F401  foreign keys name its table
from shelfsync.store.metadata import (
    boolean,
    count,
    flag,
    identity,
    lake_file,
    line,
    metadata,
    moment,
    number,
    one_of,
    text,
    written,
)

plan_sequence = sa.Sequence("plan", metadata=metadata, schema="ledger")
"""Batches that were planned together have one number: they are of one generation and share no SKU."""

generation_sequence = sa.Sequence("generation", metadata=metadata, schema="ledger")
"""The order of snapshots: a later extract has a higher generation, independent of any clock (I17)."""

vendor = sa.Table(
    "vendor",
    metadata,
    text("vendor", "The platform's identifier of the store", primary_key=True),
    count("fence", "Highest generation whose batches were planned; nothing older may be sent any more"),
    number(
        "open_plan", "Plan of the vendor's open jobs, or of its last ones; cannot change while one of them is open (I5)"
    ),
    count("baseline_version", "Version of the baseline in force; 0: nothing was ever acknowledged"),
    count(
        "consecutive_failures",
        "Requests in a row without an outcome for any SKU: rejected whole, or their job failed without a log",
    ),
    moment("retry_at", "When the next request is allowed after so many failures; null: now"),
    lake_file("names_path", "Lake: SKU and what the ERP calls it, also of SKUs that have left; null: it gave no name"),
    text("forgotten", "Why and by whom it was taken out, until an extract has a row of it again; null: it takes part"),
    written("created_at", "When the vendor was first seen in an extract"),
    sa.UniqueConstraint("vendor", "open_plan", name="uq_vendor_open_plan"),
    schema="ledger",
    comment="One row a vendor: the fence and the version of its baseline; locked while either moves",
)

run = sa.Table(
    "run",
    metadata,
    identity("run_id", "Number of the run"),
    text("run_key", "The caller's name for it: DAG and run id, or the command line's own", nullable=False, unique=True),
    text("kind", "full: everything is sent; delta: only what changed", nullable=False),
    flag("dry_run", "True: plan only, nothing is sent"),
    sa.Column(
        "vendors",
        ARRAY(sa.Text),
        nullable=False,
        server_default="{}",
        comment="The vendors asked for; empty: all of the extract",
    ),
    sa.Column(
        "skus",
        ARRAY(sa.Text),
        nullable=False,
        server_default="{}",
        comment="The SKUs of an urgent run, which sends no others; empty: every SKU",
    ),
    text(
        "state",
        "running, succeeded, partly (a vendor was passed over), partly_failed or failed",
        nullable=False,
        server_default=RunState.RUNNING,
    ),
    line("error", "The first line a person should read, when it did not succeed"),
    flag(
        "one_process", "True: one process does the whole run and holds its session lock; the run ends with the process"
    ),
    written("started_at", "When it was opened"),
    moment("finished_at", "When it ended, to the first report of this state"),
    sa.CheckConstraint("kind IN ('full', 'delta')", name="kind"),
    sa.CheckConstraint(one_of(RunState), name="state"),
    schema="ledger",
    comment="One row a run of the path from extract to acknowledge",
)

extract = sa.Table(
    "extract",
    metadata,
    identity("extract_id", "Number of the reading"),
    number("run_id", "The run that read", sa.ForeignKey("ledger.run.run_id"), nullable=False, index=True),
    count("rows", "Rows read from the ERP"),
    number("rows_expected", "Rows of the ERP according to the proof; null: no proof was possible"),
    text("proof", "How completeness was proven, in words", nullable=False),
    boolean("complete", "True: what is absent from this extract is absent from the ERP", nullable=False),
    text("since", "The cursor since which only changed rows were read; null: all rows were read"),
    written("read_at", "When the reading ended"),
    schema="ledger",
    comment="One row a finished reading of the ERP, with its completeness proof",
)

vendor_run = sa.Table(
    "vendor_run",
    metadata,
    number("run_id", "The run", sa.ForeignKey("ledger.run.run_id"), primary_key=True),
    text("vendor", "The vendor", sa.ForeignKey("ledger.vendor.vendor"), primary_key=True),
    number("extract_id", "The reading these rows came from", sa.ForeignKey("ledger.extract.extract_id"), index=True),
    number("generation", "Order of this snapshot among all of the vendor's", nullable=False),
    text(
        "state",
        "open, unchanged, planned, acknowledged, busy, superseded or failed",
        nullable=False,
        server_default=VendorState.OPEN,
    ),
    text("failed_step", "The step that failed"),
    line("error", "Why, in one line"),
    moment(
        "changed_at",
        "When the ERP changed the first of the rows that differ, by its own clock; null: unknown",
    ),
    lake_file("raw_path", "Lake: rows as the ERP returned them"),
    lake_file(
        "reported_path",
        "Lake: rows as the changes had reported them until this whole reading; null: nothing to compare",
    ),
    lake_file("snapshot_path", "Lake: canonical rows"),
    lake_file(
        "erp_path", "Lake: the ERP's canonical rows, if a restoration changes the snapshot; null: the snapshot has them"
    ),
    sa.Column(
        "restorations",
        ARRAY(sa.BigInteger),
        comment="The restorations that change the snapshot, oldest first; null: none",
    ),
    lake_file("quarantine_path", "Lake: rows that cannot be sent, with reasons"),
    text(
        "raw_digest",
        "Digest of the rows as the ERP returned them; null: none was made yet, or the delta left out a rejected SKU",
    ),
    text(
        "rules_digest",
        "Digest of what else acts on the rows: settings, code and the newest export or listing; null: they were not normalised",
    ),
    number(
        "same_as",
        "The generation that the steps worked on last, and whose results count, because rows, rules and baseline are the same."
        " Housekeeping may have removed its row; the files are named here too. Null: the steps worked",
    ),
    lake_file("delta_path", "Lake: what must change on the platform"),
    lake_file("suppressed_path", "Lake: quantities that change nothing and wait for the full sync"),
    lake_file("absent_path", "Lake: SKUs on sale that an extract without a proof does not have, and since when"),
    lake_file("released_path", "Lake: the part of the delta that no guard held"),
    lake_file("held_path", "Lake: the part of the delta that a guard held"),
    number("base_version", "Version of the baseline that the delta was made against"),
    moment("batched_at", "When its batches were committed"),
    count("rows_raw", "Rows read for this vendor"),
    count("rows_snapshot", "Rows that became canonical"),
    count("rows_quarantined", "Rows that did not"),
    count("values_left_out", "Values that cannot be sent, of rows that are sent without them"),
    number("missed", "SKUs that the changes had not reported, found by this whole reading; null: nothing to compare"),
    count("changes_new", "SKUs the baseline does not know"),
    count("changes_changed", "SKUs with another value"),
    count("changes_removed", "SKUs that left the extract"),
    count("changes_same", "SKUs repeated by a full sync"),
    count("changes_held", "SKUs that a guard held"),
    count("changes_suppressed", "SKUs whose quantity changed without effect: it waits for the full sync"),
    count("skus_absent", "SKUs on sale that an extract without a proof does not have: they stay on sale"),
    count("plan_batches", "Request bodies planned"),
    count("plan_bytes", "Their length together"),
    written("updated_at", "Last change of this row"),
    sa.Index("ix_vendor_run_vendor_generation", "vendor", "generation"),
    sa.Index("ix_vendor_run_compared", "vendor", "generation", postgresql_where=sa.text("delta_path IS NOT NULL")),
    schema="ledger",
    comment="What one run does for one vendor: the files of each step, and the state",
)

batch = sa.Table(
    "batch",
    metadata,
    identity("batch_id", "Number of the batch"),
    number("run_id", "The run", nullable=False),
    text("vendor", "The vendor", nullable=False),
    number("generation", "Generation of the snapshot it was made from", nullable=False),
    number("base_version", "Version of the baseline it was made against", nullable=False),
    number(
        "plan",
        "Batches that were planned together: they share no SKU; what a person approves later is a plan of its own",
        nullable=False,
        server_default=plan_sequence.next_value(),
    ),
    sa.Column(
        "sequence", sa.Integer, nullable=False, comment="Place among the batches of this vendor and generation, from 1"
    ),
    lake_file("items_path", "Lake: the SKUs and the values sent", nullable=False),
    lake_file("snapshot_path", "Lake: the snapshot it was made from", nullable=False),
    number("item_count", "SKUs in it", nullable=False),
    number("body_bytes", "Exact length of the request body", nullable=False),
    text(
        "priority",
        "stop_sell, price or catalog: its most urgent SKUs; the order of leaving, and the priority of the rate limit",
        nullable=False,
        server_default="catalog",
    ),
    count("urgent_count", "SKUs in it that are of its priority; the others share the request"),
    moment(
        "wanted_at",
        "When the ERP made its first change since the vendor was last in step, if it reports that, else when it was first read since then",
    ),
    text("state", "planned, sent, done, superseded or rejected", nullable=False, server_default=BatchState.PLANNED),
    number("halved_from", "The failed batch that this one is a half of, or replaces in a later delta; null: none"),
    written("created_at", "When it was planned"),
    sa.ForeignKeyConstraint(["run_id", "vendor"], ["ledger.vendor_run.run_id", "ledger.vendor_run.vendor"]),
    sa.UniqueConstraint("run_id", "vendor", "generation", "sequence"),
    sa.Index("ix_batch_planned", "vendor", postgresql_where=sa.text("state = 'planned'")),
    schema="ledger",
    comment="One row a request body, committed before anything is sent",
)

baseline = sa.Table(
    "baseline",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey("ledger.vendor.vendor"), primary_key=True),
    number("version", "Grows by one with each acknowledgement", primary_key=True),
    lake_file("path", "Lake: the acknowledged state", nullable=False),
    lake_file(
        "known_path",
        "Lake: the same SKUs with the last known value where it is unknown, for the guards; null: the state itself",
    ),
    number("rows", "SKUs in it", nullable=False),
    number("generation", "Generation of the job that moved it", nullable=False),
    number(
        "job_id",
        "The job whose log moved it; null: an observation did",
        sa.ForeignKey("ledger.job.job_id"),
        unique=True,
    ),
    number("observation_id", "The observation that confirmed or resent a value; null: a job moved it", unique=True),
    written("created_at", "When it moved"),
    sa.CheckConstraint("(job_id IS NULL) <> (observation_id IS NULL)", name="moved_by"),
    schema="ledger",
    comment="Every version of every vendor's acknowledged state",
)
