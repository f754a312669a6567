"""What the ledger knows: runs, the fence of each vendor, batches, jobs, baselines.

Large things (rows) are files of the lake; a row here holds their path and hash. Every state is a word of the design.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shelfsync.ledger.metadata import metadata

OPEN_JOB_STATES = ("submitting", "open", "confirmed")
"""While a job of a vendor is in one of these, no other may be sent for it (I5)."""

_now = sa.text("now()")


def _id(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.Identity(always=True), primary_key=True, comment=comment)


def _time(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    default = None if nullable else _now
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


generation_sequence = sa.Sequence("generation", metadata=metadata, schema="ledger")
"""The order of snapshots: a later extract has a higher generation, whatever any clock says (I17)."""

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
        "baseline_version",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Version of the baseline in force; 0: nothing was ever acknowledged",
    ),
    sa.Column(
        "intervals_path",
        sa.Text,
        comment="Lake: where the sales buffer of each SKU lies, as pictures have betrayed it; null: nothing was learned",
    ),
    sa.Column(
        "in_vain",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Requests in a row, up to now, that brought no word about any SKU: refused whole, or their job failed without a log",
    ),
    _time("in_vain_at", "When the last of them was known to be in vain"),
    _time("created_at", "When the vendor was first seen in an extract", nullable=False),
    schema="ledger",
    comment="One row a vendor: the fence and the version of its baseline; locked while either moves",
)

run = sa.Table(
    "run",
    metadata,
    _id("run_id", "Our number of the run"),
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
        comment="An urgent run sends these SKUs alone, so its end says nothing about the others; empty: every SKU",
    ),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="running",
        comment="running, succeeded, partly (a vendor was passed over), partly_failed or failed",
    ),
    sa.Column("error", sa.Text, comment="The first line a person should read, when it did not succeed"),
    sa.Column(
        "one_process",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: one process does all of it, holds the run's session lock all the while, and the run ends with it",
    ),
    _time("started_at", "When it was opened", nullable=False),
    _time("finished_at", "When it was reported"),
    sa.CheckConstraint("kind IN ('full', 'delta')", name="kind"),
    sa.CheckConstraint("state IN ('running', 'succeeded', 'partly', 'partly_failed', 'failed')", name="state"),
    schema="ledger",
    comment="One row a run of the path from extract to acknowledge",
)

extract = sa.Table(
    "extract",
    metadata,
    _id("extract_id", "Number of the reading"),
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.run.run_id"),
        nullable=False,
        index=True,
        comment="The run that read",
    ),
    _count("rows", "Rows read from the ERP"),
    sa.Column(
        "rows_expected", sa.BigInteger, comment="Rows that the proof says there are; null: no proof was possible"
    ),
    sa.Column("proof", sa.Text, nullable=False, comment="How completeness was proven, in words"),
    sa.Column(
        "complete", sa.Boolean, nullable=False, comment="True: what is absent from this extract is absent from the ERP"
    ),
    _time("read_at", "When the reading ended", nullable=False),
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
        server_default="open",
        comment="open, unchanged, planned, acknowledged, busy, superseded or failed",
    ),
    sa.Column("failed_step", sa.Text, comment="The step that failed"),
    sa.Column("error", sa.Text, comment="Why, in one line"),
    sa.Column("raw_path", sa.Text, comment="Lake: rows as the ERP gave them"),
    sa.Column("snapshot_path", sa.Text, comment="Lake: canonical rows"),
    sa.Column(
        "erp_path",
        sa.Text,
        comment="Lake: canonical rows as the ERP says them, where a restoration lies over the snapshot; null: the snapshot is that",
    ),
    sa.Column(
        "restorations",
        ARRAY(sa.BigInteger),
        comment="The restorations that lie over the snapshot, oldest first; null: none",
    ),
    sa.Column("quarantine_path", sa.Text, comment="Lake: rows that cannot be sent, with reasons"),
    sa.Column("delta_path", sa.Text, comment="Lake: what must change on the platform"),
    sa.Column("spared_path", sa.Text, comment="Lake: quantities that change nothing and wait for the full sync"),
    sa.Column("released_path", sa.Text, comment="Lake: the part of the delta that no guard held"),
    sa.Column("held_path", sa.Text, comment="Lake: the part of the delta that a guard held"),
    sa.Column("base_version", sa.BigInteger, comment="Version of the baseline that the delta was made against"),
    _time("batched_at", "When its batches were committed"),
    _count("rows_raw", "Rows read for this vendor"),
    _count("rows_snapshot", "Rows that became canonical"),
    _count("rows_quarantined", "Rows that did not"),
    _count("changes_new", "SKUs the baseline does not know"),
    _count("changes_changed", "SKUs with another value"),
    _count("changes_removed", "SKUs that left the extract"),
    _count("changes_same", "SKUs repeated by a full sync"),
    _count("changes_held", "SKUs that a guard held"),
    _count("changes_spared", "SKUs whose quantity changed without effect: it waits for the full sync"),
    _count("plan_batches", "Request bodies planned"),
    _count("plan_bytes", "Their length together"),
    _time("updated_at", "Last change of this row", nullable=False),
    schema="ledger",
    comment="What one run does for one vendor: pointers to the files of each step, and how far it came",
)

batch = sa.Table(
    "batch",
    metadata,
    _id("batch_id", "Number of the batch"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The run"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the snapshot it was made from"),
    sa.Column("base_version", sa.BigInteger, nullable=False, comment="Version of the baseline it was made against"),
    sa.Column(
        "sequence", sa.Integer, nullable=False, comment="Place among the batches of this vendor and generation, from 1"
    ),
    sa.Column("items_path", sa.Text, nullable=False, comment="Lake: the SKUs and the values sent"),
    sa.Column("snapshot_path", sa.Text, nullable=False, comment="Lake: the snapshot it was made from"),
    sa.Column("item_count", sa.BigInteger, nullable=False, comment="SKUs in it"),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Exact length of the request body"),
    sa.Column(
        "lane",
        sa.Text,
        nullable=False,
        server_default="catalog",
        comment="stop_sell, price or catalog: its most urgent SKUs; the order of leaving, and the lane of the budget",
    ),
    _count("urgent_count", "SKUs in it that are of its lane; the others ride along"),
    _time("wanted_at", "When the ERP was first read since the vendor was last in step: nothing in it was seen earlier"),
    sa.Column(
        "state", sa.Text, nullable=False, server_default="planned", comment="planned, sent, done, superseded or refused"
    ),
    sa.Column(
        "halved_from",
        sa.BigInteger,
        comment="The batch that brought nothing whole and of which this is a half, or what a later delta has for it; null: none",
    ),
    _time("created_at", "When it was planned", nullable=False),
    sa.ForeignKeyConstraint(["run_id", "vendor"], ["ledger.vendor_run.run_id", "ledger.vendor_run.vendor"]),
    sa.UniqueConstraint("run_id", "vendor", "generation", "sequence"),
    sa.Index("ix_batch_planned", "vendor", postgresql_where=sa.text("state = 'planned'")),
    schema="ledger",
    comment="One row a request body, committed before anything is sent",
)

job = sa.Table(
    "job",
    metadata,
    _id("job_id", "Our number of the job"),
    sa.Column(
        "batch_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.batch.batch_id"),
        nullable=False,
        index=True,
        comment="What was sent",
    ),
    sa.Column("vendor", sa.Text, sa.ForeignKey("ledger.vendor.vendor"), nullable=False, comment="The vendor"),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job; null until its answer was read"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="submitting",
        comment="submitting, open, confirmed, acknowledged, unconfirmed, failed, refused or superseded",
    ),
    sa.Column("sent", sa.BigInteger, nullable=False, comment="SKUs in the request"),
    sa.Column("accepted", sa.BigInteger, comment="SKUs with a success line in the log"),
    sa.Column("refused", sa.BigInteger, comment="SKUs with an error line in the log"),
    sa.Column("unaccounted", sa.BigInteger, comment="SKUs of which the log says nothing"),
    sa.Column(
        "urgent_accepted",
        sa.BigInteger,
        comment="SKUs of its lane with a success line; null: not ended, or ended before this was kept",
    ),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0", comment="How often the request left"),
    sa.Column(
        "polls", sa.Integer, nullable=False, server_default="0", comment="How often the platform was asked about it"
    ),
    _time("next_poll_at", "When to ask again"),
    sa.Column("platform_status", sa.Text, comment="The platform's own word for its state, as last heard"),
    sa.Column("feedback", JSONB, comment="Per-SKU results of the status call, when it gives them"),
    sa.Column(
        "log_url",
        sa.Text,
        comment="Where the log can be fetched, as last heard; may be a secret in itself: never logged",
    ),
    sa.Column("log_path", sa.Text, comment="Lake: the log as received"),
    sa.Column("outcomes_path", sa.Text, comment="Lake: one row a SKU sent"),
    sa.Column("error", sa.Text, comment="Why it did not end well, in one line"),
    _time("created_at", "When the row was committed, before anything was sent", nullable=False),
    _time("answered_at", "When the platform's 202 was read"),
    _time("deadline_at", "When waiting ends"),
    _time("settled_at", "When its outcome was known or given up"),
    sa.Column(
        "after_event",
        sa.BigInteger,
        comment="Newest event of the inbox when the row was committed; an event up to it cannot be about this job",
    ),
    sa.Index(
        "uq_job_open",
        "vendor",
        unique=True,
        postgresql_where=sa.text("state IN ('submitting', 'open', 'confirmed')"),
    ),
    sa.Index(
        "uq_job_platform_job_id",
        "platform_job_id",
        unique=True,
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.Index("ix_job_vendor", "vendor", "job_id"),
    sa.Index("ix_job_vendor_settled_at", "vendor", "settled_at"),
    sa.Index("ix_job_settled_at", "settled_at"),
    sa.CheckConstraint(
        "state IN ('submitting', 'open', 'confirmed', 'acknowledged', 'unconfirmed', 'failed', 'refused', 'superseded')",
        name="state",
    ),
    sa.CheckConstraint("accepted IS NULL OR sent = accepted + refused + unaccounted", name="conservation"),
    schema="ledger",
    comment="One row a request sent; at most one open a vendor (I5)",
)

baseline = sa.Table(
    "baseline",
    metadata,
    sa.Column("vendor", sa.Text, sa.ForeignKey("ledger.vendor.vendor"), primary_key=True, comment="The vendor"),
    sa.Column("version", sa.BigInteger, primary_key=True, comment="Grows by one with each acknowledgement"),
    sa.Column("path", sa.Text, nullable=False, comment="Lake: the acknowledged state"),
    sa.Column(
        "known_path",
        sa.Text,
        comment="Lake: the same SKUs with the last known value where it is unknown, for the guards; null: the state itself",
    ),
    sa.Column("rows", sa.BigInteger, nullable=False, comment="SKUs in it"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the job that moved it"),
    sa.Column(
        "job_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.job.job_id"),
        unique=True,
        comment="The job whose log moved it; null: a picture did",
    ),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        unique=True,
        comment="The picture that settled or healed something in it; null: a job moved it",
    ),
    _time("created_at", "When it moved", nullable=False),
    sa.CheckConstraint("(job_id IS NULL) <> (observation_id IS NULL)", name="moved_by"),
    schema="ledger",
    comment="Every version of every vendor's acknowledged state",
)

platform_check = sa.Table(
    "platform_check",
    metadata,
    sa.Column(
        "fingerprint", sa.Text, primary_key=True, comment="Derived slowly (scrypt) from address, chain and credentials"
    ),
    _time("checked_at", "When the platform last let us in with them", nullable=False),
    schema="ledger",
    comment="Which platform configurations are known to work, so that not every delta has to ask",
)

token = sa.Table(
    "token",
    metadata,
    sa.Column(
        "fingerprint",
        sa.Text,
        primary_key=True,
        comment="Derived slowly (scrypt) from address, chain, client and its secret",
    ),
    sa.Column(
        "sealed",
        sa.LargeBinary,
        comment="The access token, encrypted with a key derived slowly from the client secret; null: none is held",
    ),
    sa.Column(
        "lifetime_s", sa.Float, nullable=False, server_default="0", comment="What the token had at birth, in seconds"
    ),
    _time("expires_at", "When it ends, by the database's clock"),
    _time("leased_until", "Until when one worker alone may ask the platform for a new one"),
    schema="ledger",
    comment="The access token that all workers share",
)
