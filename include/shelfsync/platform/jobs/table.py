"""Jobs of the platform: one table for catalog updates, exports and promotions, their states, and when they are polled."""

from __future__ import annotations

import enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.store.metadata import (
    identity,
    instant,
    lake_file,
    line,
    metadata,
    moment,
    number,
    one_of,
    text,
    tries,
    written,
)


class Kind(enum.StrEnum):
    """What a job is about. Each kind has a row of its own that describes the request."""

    CATALOG = "catalog"
    """An update of a vendor's products: `ledger.batch`."""
    EXPORT = "export"
    """An export of a vendor's assortment: `ledger.export`."""
    PROMOTION = "promotion"
    """A request about a promotion: `ledger.promotion_request`."""


REQUEST_COLUMNS = {Kind.CATALOG: "batch_id", Kind.EXPORT: "export_id", Kind.PROMOTION: "request_id"}
"""The column that leads from a job to the row of its request; it is set for that kind alone, and the database holds that."""


class State(enum.StrEnum):
    """The state of a job. After an ending state, only a new job can follow."""

    PLANNED = "planned"
    """Committed; its request has not been sent."""
    SUBMITTING = "submitting"
    """Its request is being sent, or was sent without an answer."""
    OPEN = "open"
    """The platform has accepted the request and has not reported the end."""
    CONFIRMED = "confirmed"
    """Its result is stored, and not applied yet."""
    ACKNOWLEDGED = "acknowledged"
    """Its result is applied."""
    UNCONFIRMED = "unconfirmed"
    """Ended, and what the platform did is unknown."""
    FAILED = "failed"
    """Given up; a later job of the same kind replaces it."""
    REJECTED = "rejected"
    """The platform rejected the request as a whole."""
    SUPERSEDED = "superseded"
    """It was never sent, and a newer one replaces it."""


WAITING = (State.SUBMITTING, State.OPEN)
"""The platform has, or may have, the request, and its result is unknown."""
OPEN_STATES = (*WAITING, State.CONFIRMED)
"""While a catalog job of a vendor is in one of these, no job of another plan is sent for it (I5)."""
UNENDED_STATES = (State.PLANNED, *OPEN_STATES)
ENDED_STATES = tuple(state for state in State if state not in UNENDED_STATES)


def timing(next_poll_at: sa.ColumnElement[Any], deadline_at: sa.ColumnElement[Any]) -> list[sa.Label[Any]]:
    """`poll_due`, `overdue`, `wait_s` and `left_s` by the database's clock.

    A next poll that is not set is due at once. A deadline that is not set never passes.
    """
    now = instant()
    return [
        sa.func.coalesce(next_poll_at <= now, sa.true()).label("poll_due"),
        sa.func.coalesce(deadline_at <= now, sa.false()).label("overdue"),
        _seconds_until(next_poll_at, unset="0").label("wait_s"),
        _seconds_until(deadline_at, unset="Infinity").label("left_s"),
    ]


def _seconds_until(moment: sa.ColumnElement[Any], *, unset: str) -> sa.ColumnElement[Any]:
    """Seconds, never below 0."""
    ahead_s = sa.cast(sa.extract("epoch", moment - instant()), sa.Double)
    return sa.func.greatest(0.0, sa.func.coalesce(ahead_s, sa.cast(unset, sa.Double)))


def _of_kind() -> str:
    """Each job has the request of its own kind and no other; only a catalog job has vendor and plan, and it begins by submitting."""
    kinds = ", ".join(f"'{kind}'" for kind in Kind)
    alone = " AND ".join(f"(kind = '{kind}') = ({column} IS NOT NULL)" for kind, column in REQUEST_COLUMNS.items())
    catalog = "num_nonnulls(vendor, plan) = CASE kind WHEN 'catalog' THEN 2 ELSE 0 END"
    return f"kind IN ({kinds}) AND {alone} AND {catalog} AND (kind = 'export') = (sent IS NULL) AND (kind <> 'catalog' OR state <> '{State.PLANNED}')"


job = sa.Table(
    "job",
    metadata,
    identity("job_id", "Our number of the job"),
    text("kind", f"{', '.join(Kind)}: what it is about", nullable=False),
    number("batch_id", "Catalog: the batch that is sent", sa.ForeignKey("ledger.batch.batch_id"), index=True),
    number("export_id", "Export: what is requested", sa.ForeignKey("ledger.export.export_id"), unique=True),
    number(
        "request_id",
        "Promotion: the request that is sent",
        sa.ForeignKey("ledger.promotion_request.request_id"),
        unique=True,
    ),
    text("vendor", "Catalog: the vendor", sa.ForeignKey("ledger.vendor.vendor")),
    number("plan", "Catalog: plan of the batch"),
    number(
        "open_plan",
        "The same while the job is open: then it has to be the vendor's open plan; null: the job has ended",
        sa.Computed(f"CASE WHEN {one_of(OPEN_STATES)} THEN plan END", persisted=True),
    ),
    text("platform_job_id", "The platform's number of the job; null until its answer was read"),
    text("state", f"{', '.join(State)}", nullable=False),
    number("sent", "SKUs (promotion: pairs of SKU and vendor) in the request; export: null"),
    number("accepted", "Of them, those with a success line; null: not known yet"),
    number("rejected", "Of them, those that the platform rejected"),
    number("unaccounted", "Of them, those that the platform did not report"),
    number(
        "urgent_accepted",
        "Catalog: SKUs of its priority with a success line; null: not ended, or ended before this was kept",
    ),
    tries("attempts", "How often the request left"),
    tries("polls", "How often the platform was polled about it"),
    moment("next_poll_at", "When to poll next; null: at once"),
    text("platform_status", "The platform's own name for its state, as last reported"),
    sa.Column("feedback", JSONB, comment="Per-SKU results of the status call, if it returns them"),
    text("result_url", "Where the result can be fetched, as last reported; may be a secret in itself: never logged"),
    lake_file("result_path", "Lake: the result as received"),
    lake_file("outcomes_path", "Lake: one row a SKU sent"),
    line("error", "Why it did not end well, in one line"),
    written("created_at", "When the row was committed, before anything was sent"),
    moment("answered_at", "When the platform's 202 was read"),
    moment("deadline_at", "When waiting ends; null: never"),
    moment("ended_at", "When its result was known or given up"),
    number(
        "after_event",
        "Newest event of the inbox when the row was committed; an event up to it cannot be about this job",
    ),
    sa.ForeignKeyConstraint(
        ["vendor", "open_plan"],
        ["ledger.vendor.vendor", "ledger.vendor.open_plan"],
        name="fk_job_one_open_plan",
    ),
    sa.Index("ix_job_open_plan", "vendor", "open_plan", postgresql_where=sa.text("open_plan IS NOT NULL")),
    sa.Index("uq_job_open_batch", "batch_id", unique=True, postgresql_where=sa.text(one_of(OPEN_STATES))),
    sa.Index("ix_job_unended", "kind", "job_id", postgresql_where=sa.text(one_of(UNENDED_STATES))),
    sa.Index(
        "uq_job_platform_job_id",
        "platform_job_id",
        "kind",
        unique=True,
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.Index("ix_job_vendor", "vendor", "job_id"),
    sa.Index("ix_job_vendor_ended_at", "vendor", "ended_at"),
    sa.Index("ix_job_ended_at", "ended_at"),
    sa.Index(
        "ix_job_without_outcome",
        "vendor",
        "job_id",
        postgresql_where=sa.text("unaccounted > 0 OR state = 'unconfirmed'"),
    ),
    sa.CheckConstraint(one_of(State), name="state"),
    sa.CheckConstraint(_of_kind(), name="kind"),
    sa.CheckConstraint("accepted IS NULL OR sent = accepted + rejected + unaccounted", name="conservation"),
    schema="ledger",
    comment="One row a job of the platform; the open catalog jobs of a vendor belong to one plan (I5)",
)
