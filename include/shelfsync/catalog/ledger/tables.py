"""Tables of the ledger: runs, the fence of each vendor, batches, jobs, baselines.

Large data (rows) is in files of the lake; a row here holds the path and hash.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from shelfsync.catalog.state import BatchState, RunState, VendorState
from shelfsync.platform.jobs import table as _jobs  # noqa: F401  foreign keys name its table
from shelfsync.store.metadata import LAKE_FILE, count, identity, metadata, moment, one_of, text, written

plan_sequence = sa.Sequence("plan", metadata=metadata, schema="ledger")
"""Batches that were planned together have one number: they are of one generation and share no SKU."""

generation_sequence = sa.Sequence("generation", metadata=metadata, schema="ledger")
"""The order of snapshots: a later extract has a higher generation, independent of any clock (I17)."""

vendor = sa.Table(
    "vendor",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The platform's identifier of the store"),
    sa.Column(
        "fence",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Highest generation whose batches were planned; nothing older may be sent any more",
    ),
    sa.Column(
        "open_plan",
        sa.BigInteger,
        comment="Plan of the vendor's open jobs, or of its last ones; cannot change while one of them is open (I5)",
    ),
    sa.Column(
        "baseline_version",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Version of the baseline in force; 0: nothing was ever acknowledged",
    ),
    sa.Column(
        "consecutive_failures",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Requests in a row without an outcome for any SKU: rejected whole, or their job failed without a log",
    ),
    moment("retry_at", "When the next request is allowed after so many failures; null: now"),
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
    sa.Column(
        "run_key",
        sa.Text,
        nullable=False,
        unique=True,
        comment="The caller's name for it: DAG and run id, or the command line's own",
    ),
    sa.Column("kind", sa.Text, nullable=False, comment="full: everything is sent; delta: only what changed"),
    sa.Column(
        "dry_run", sa.Boolean, nullable=False, server_default=sa.false(), comment="True: plan only, nothing is sent"
    ),
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
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default=RunState.RUNNING,
        comment="running, succeeded, partly (a vendor was passed over), partly_failed or failed",
    ),
    sa.Column("error", sa.Text, comment="The first line a person should read, when it did not succeed"),
    sa.Column(
        "one_process",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: one process does the whole run and holds its session lock; the run ends with the process",
    ),
    written("started_at", "When it was opened"),
    moment("finished_at", "When it was reported"),
    sa.CheckConstraint("kind IN ('full', 'delta')", name="kind"),
    sa.CheckConstraint(one_of(RunState), name="state"),
    schema="ledger",
    comment="One row a run of the path from extract to acknowledge",
)

extract = sa.Table(
    "extract",
    metadata,
    identity("extract_id", "Number of the reading"),
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.run.run_id"),
        nullable=False,
        index=True,
        comment="The run that read",
    ),
    count("rows", "Rows read from the ERP"),
    sa.Column(
        "rows_expected", sa.BigInteger, comment="Rows of the ERP according to the proof; null: no proof was possible"
    ),
    sa.Column("proof", sa.Text, nullable=False, comment="How completeness was proven, in words"),
    sa.Column(
        "complete", sa.Boolean, nullable=False, comment="True: what is absent from this extract is absent from the ERP"
    ),
    written("read_at", "When the reading ended"),
    schema="ledger",
    comment="One row a finished reading of the ERP, with its completeness proof",
)

vendor_run = sa.Table(
    "vendor_run",
    metadata,
    sa.Column("run_id", sa.BigInteger, sa.ForeignKey("ledger.run.run_id"), primary_key=True, comment="The run"),
    sa.Column(
        "vendor", sa.Text, sa.ForeignKey("ledger.vendor.vendor"), primary_key=True, index=True, comment="The vendor"
    ),
    sa.Column(
        "extract_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.extract.extract_id"),
        index=True,
        comment="The reading these rows came from",
    ),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Order of this snapshot among all of the vendor's"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default=VendorState.OPEN,
        comment="open, unchanged, planned, acknowledged, busy, superseded or failed",
    ),
    sa.Column("failed_step", sa.Text, comment="The step that failed"),
    sa.Column("error", sa.Text, comment="Why, in one line"),
    sa.Column("raw_path", sa.Text, info=LAKE_FILE, comment="Lake: rows as the ERP returned them"),
    sa.Column("snapshot_path", sa.Text, info=LAKE_FILE, comment="Lake: canonical rows"),
    sa.Column(
        "erp_path",
        sa.Text,
        info=LAKE_FILE,
        comment="Lake: the ERP's canonical rows, if a restoration changes the snapshot; null: the snapshot has them",
    ),
    sa.Column(
        "restorations",
        ARRAY(sa.BigInteger),
        comment="The restorations that change the snapshot, oldest first; null: none",
    ),
    sa.Column("quarantine_path", sa.Text, info=LAKE_FILE, comment="Lake: rows that cannot be sent, with reasons"),
    sa.Column("delta_path", sa.Text, info=LAKE_FILE, comment="Lake: what must change on the platform"),
    sa.Column(
        "suppressed_path",
        sa.Text,
        info=LAKE_FILE,
        comment="Lake: quantities that change nothing and wait for the full sync",
    ),
    sa.Column("released_path", sa.Text, info=LAKE_FILE, comment="Lake: the part of the delta that no guard held"),
    sa.Column("held_path", sa.Text, info=LAKE_FILE, comment="Lake: the part of the delta that a guard held"),
    sa.Column("base_version", sa.BigInteger, comment="Version of the baseline that the delta was made against"),
    moment("batched_at", "When its batches were committed"),
    count("rows_raw", "Rows read for this vendor"),
    count("rows_snapshot", "Rows that became canonical"),
    count("rows_quarantined", "Rows that did not"),
    count("changes_new", "SKUs the baseline does not know"),
    count("changes_changed", "SKUs with another value"),
    count("changes_removed", "SKUs that left the extract"),
    count("changes_same", "SKUs repeated by a full sync"),
    count("changes_held", "SKUs that a guard held"),
    count("changes_suppressed", "SKUs whose quantity changed without effect: it waits for the full sync"),
    count("plan_batches", "Request bodies planned"),
    count("plan_bytes", "Their length together"),
    written("updated_at", "Last change of this row"),
    schema="ledger",
    comment="What one run does for one vendor: the files of each step, and the state",
)

batch = sa.Table(
    "batch",
    metadata,
    identity("batch_id", "Number of the batch"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The run"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the snapshot it was made from"),
    sa.Column("base_version", sa.BigInteger, nullable=False, comment="Version of the baseline it was made against"),
    sa.Column(
        "plan",
        sa.BigInteger,
        nullable=False,
        server_default=plan_sequence.next_value(),
        comment="Batches that were planned together: they share no SKU; what a person approves later is a plan of its own",
    ),
    sa.Column(
        "sequence", sa.Integer, nullable=False, comment="Place among the batches of this vendor and generation, from 1"
    ),
    sa.Column("items_path", sa.Text, nullable=False, info=LAKE_FILE, comment="Lake: the SKUs and the values sent"),
    sa.Column("snapshot_path", sa.Text, nullable=False, info=LAKE_FILE, comment="Lake: the snapshot it was made from"),
    sa.Column("item_count", sa.BigInteger, nullable=False, comment="SKUs in it"),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Exact length of the request body"),
    sa.Column(
        "priority",
        sa.Text,
        nullable=False,
        server_default="catalog",
        comment="stop_sell, price or catalog: its most urgent SKUs; the order of leaving, and the priority of the rate limit",
    ),
    count("urgent_count", "SKUs in it that are of its priority; the others share the request"),
    moment(
        "wanted_at", "When the ERP was first read since the vendor was last in step: nothing in it was seen earlier"
    ),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default=BatchState.PLANNED,
        comment="planned, sent, done, superseded or rejected",
    ),
    sa.Column(
        "halved_from",
        sa.BigInteger,
        comment="The failed batch that this one is a half of, or replaces in a later delta; null: none",
    ),
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
    sa.Column("vendor", sa.Text, sa.ForeignKey("ledger.vendor.vendor"), primary_key=True, comment="The vendor"),
    sa.Column("version", sa.BigInteger, primary_key=True, comment="Grows by one with each acknowledgement"),
    sa.Column("path", sa.Text, nullable=False, info=LAKE_FILE, comment="Lake: the acknowledged state"),
    sa.Column(
        "known_path",
        sa.Text,
        info=LAKE_FILE,
        comment="Lake: the same SKUs with the last known value where it is unknown, for the guards; null: the state itself",
    ),
    sa.Column("rows", sa.BigInteger, nullable=False, comment="SKUs in it"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the job that moved it"),
    sa.Column(
        "job_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.job.job_id"),
        unique=True,
        comment="The job whose log moved it; null: an observation did",
    ),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        unique=True,
        comment="The observation that confirmed or resent a value; null: a job moved it",
    ),
    written("created_at", "When it moved"),
    sa.CheckConstraint("(job_id IS NULL) <> (observation_id IS NULL)", name="moved_by"),
    schema="ledger",
    comment="Every version of every vendor's acknowledged state",
)
