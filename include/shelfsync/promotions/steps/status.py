"""status: the state of every promotion, problems first; what is held, quarantined and rejected; the last runs; and one promotion
with its SKUs, its requests, its rejected pairs, and its findings against the catalog.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.assortment.product_names import of_any
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState, Subject
from shelfsync.decisions.steps.lists import by_rule
from shelfsync.errors import DataError
from shelfsync.platform import kill_switch
from shelfsync.promotions.ledger import rejections as ledger_rejections
from shelfsync.promotions.warehouse.findings import CAUSES
from shelfsync.store.keyset_list import KeysetList, Order, count, page

if TYPE_CHECKING:
    from shelfsync.context import Context

FEW = 200

_HEAD = """
SELECT p.promotion_id, p.campaign, p.name, p.display_name, p.type, p.reason, p.start_time, p.end_time, p.confirmed_at, p.ended_at, p.skus,
    l.vendors, l.retry_at, l.failures, {state} AS state
FROM warehouse.promotion AS p JOIN ledger.promotion AS l USING (promotion_id) WHERE p.promotion_id = :id
"""
_SKUS = """
SELECT sku, subtype, value, max_quantity, known FROM warehouse.promotion_sku WHERE promotion_id = :id ORDER BY sku
OFFSET :first LIMIT :rows
"""
_JOBS = """
SELECT job_id, run_id, action, piece, state, platform_status, skus, sent, accepted, rejected, unaccounted, sent_at, ended_at, error
FROM warehouse.promotion_job WHERE promotion_id = :id ORDER BY job_id DESC LIMIT :few
"""
_REJECTED = """
SELECT vendor, sku, reason, subtype, value, times, last_at FROM ledger.promotion_rejection WHERE promotion_id = :id
ORDER BY vendor, sku LIMIT :few
"""
_FINDINGS = """
SELECT cause, vendor, sku, message, first_at FROM warehouse.promotion_finding WHERE promotion_id = :id ORDER BY cause, vendor, sku LIMIT :few
"""

STATE = """CASE WHEN {row}.state = 'sent' AND {row}.end_time <= ledger.instant() THEN 'over'
         WHEN {row}.state = 'sent' AND {row}.start_time > ledger.instant() THEN 'upcoming'
         WHEN {row}.state = 'sent' THEN 'running' ELSE {row}.state END"""
"""What a person calls the state of a promotion; `row` is a row of ledger.promotion or warehouse.promotion."""
STATES = ("new", "upcoming", "running", "over", "ended", "failed")


def one(context: Context, promotion_id: int, *, first: int = 0, rows: int = 500) -> dict[str, Any]:
    """The promotion with `skus_shown`, `jobs`, `rejected`, `findings`; raises DataError if there is none."""
    bound = {"id": promotion_id, "first": first, "rows": rows, "few": FEW}
    with context.engine.connect() as connection:

        def asked(statement: str) -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(sa.text(statement), bound).mappings()]

        heads = asked(_HEAD.format(state=STATE.format(row="p")))
        if not heads:
            raise DataError(
                f"promotions: there is no promotion {promotion_id}; `shelfsync promotions status` lists them"
            )
        findings = asked(_FINDINGS)
        for row in findings:
            row["meaning"] = CAUSES[row["cause"]]
        skus, jobs, rejected = asked(_SKUS), asked(_JOBS), asked(_REJECTED)
    lists = {"skus_shown": skus, "rejected": rejected, "findings": findings}
    names = of_any(context, heads[0]["vendors"], {row["sku"] for rows in lists.values() for row in rows})
    named = {key: [{**row, "name": names.get(row["sku"])} for row in rows] for key, rows in lists.items()}
    return {**heads[0], **named, "jobs": jobs}


ROWS = 500
"""Promotions and holds at a time. A chain may have 20,000."""

_PROBLEM = """(p.state = 'failed' OR coalesce(p.retry_at > ledger.instant(), false)
    OR EXISTS (SELECT FROM ledger.promotion_rejection AS r WHERE r.promotion_id = p.promotion_id)
    OR (p.wanted_path IS NULL AND EXISTS (
        SELECT FROM warehouse.promotion_sku AS s WHERE s.promotion_id = p.promotion_id AND NOT s.known)))"""
"""Promotions that an operator looks at first. An unconfirmed request leaves the promotion without a `wanted_path`."""
PROMOTIONS = KeysetList(
    f"""(
    SELECT p.promotion_id, p.campaign, w.name, p.vendors, p.start_time, p.end_time, p.made_elsewhere, p.retry_at, coalesce(w.skus, 0) AS skus,
        {STATE.format(row="p")} AS state, p.header, {_PROBLEM} AS problem, CASE WHEN {_PROBLEM} THEN 0 ELSE 1 END AS place,
        (SELECT count(*) FROM ledger.promotion_request AS q JOIN ledger.job AS j USING (request_id)
         WHERE q.promotion_id = p.promotion_id AND j.state IN ('planned', 'submitting', 'open')) AS in_flight,
        (SELECT count(*) FROM ledger.promotion_rejection AS r WHERE r.promotion_id = p.promotion_id) AS rejected,
        (SELECT count(*) FROM warehouse.promotion_sku AS s WHERE s.promotion_id = p.promotion_id AND NOT s.known) AS doubtful
    FROM ledger.promotion AS p LEFT JOIN warehouse.promotion AS w USING (promotion_id)
    WHERE p.end_time > ledger.instant() - interval '7 days' AND (p.state <> 'ended' OR p.ended_at > ledger.instant() - interval '7 days')
) AS listed""",  # noqa: S608  of constants
    (
        *("promotion_id", "state", "campaign", "name", "vendors", "skus", "start_time", "end_time", "in_flight"),
        *("rejected", "doubtful", "problem", "made_elsewhere", "retry_at", "place"),
    ),
    {
        "state": "state = :state",
        "vendor": "vendors && ARRAY[CAST(:vendor AS text), '*']",
        "campaign": """(position(lower(:campaign) IN lower(campaign)) > 0
        OR EXISTS (SELECT FROM jsonb_array_elements_text(header -> 'also') AS also WHERE position(lower(:campaign) IN lower(also)) > 0)
        OR EXISTS (SELECT FROM jsonb_each_text(header -> 'display_name') AS name WHERE position(lower(:campaign) IN lower(name.value)) > 0))""",
        "sku": """(EXISTS (SELECT FROM warehouse.promotion_sku AS s WHERE s.promotion_id = listed.promotion_id AND s.sku = :sku)
        OR EXISTS (SELECT FROM ledger.promotion_rejection AS r WHERE r.promotion_id = listed.promotion_id AND r.sku = :sku))""",
        "problems": "problem AND :problems <> ''",
    },
    {
        "problems first": Order((("place", "int"), ("start_time", "timestamptz"), ("promotion_id", "bigint"))),
        "begin": Order((("start_time", "timestamptz"), ("promotion_id", "bigint"))),
        "last to begin": Order((("start_time", "timestamptz"), ("promotion_id", "bigint")), newest_first=True),
        "end": Order((("end_time", "timestamptz"), ("promotion_id", "bigint"))),
        "campaign": Order((("campaign", "text"), ("promotion_id", "bigint"))),
    },
)
"""The promotions of the last days. `campaign` is text of its identifier, of a merged campaign's, or of its name. `doubtful`: SKUs without a result."""
_QUARANTINED = """
SELECT run_id, key AS reason, CAST(value ->> 'rows' AS bigint) AS rows, value ->> 'vendor' AS vendor, value ->> 'example' AS example
FROM (SELECT run_id, report FROM ledger.promotion_run WHERE planned_at IS NOT NULL AND NOT dry_run ORDER BY run_id DESC LIMIT 1) AS newest,
    jsonb_each(CAST(report -> 'reasons' AS jsonb)) ORDER BY rows DESC, reason
"""
_WAITING = """
SELECT CAST(report -> 'waiting' AS jsonb) FROM ledger.promotion_run WHERE planned_at IS NOT NULL AND NOT dry_run ORDER BY run_id DESC LIMIT 1
"""
_CAUSES = """
SELECT cause, count(*) AS found, min(CASE WHEN sku = '' THEN message ELSE 'SKU ' || sku || ' at ' || vendor || ': ' || message END) AS example
FROM warehouse.promotion_finding GROUP BY cause ORDER BY cause
"""
_RUNS = """
SELECT run_id, state, dry_run, started_at, finished_at, created, changed, ended, held, rows_quarantined, error, run_key
FROM warehouse.promotion_run ORDER BY run_id DESC LIMIT 10
"""

_AT_VENDOR = """
SELECT count(*) FILTER (WHERE :vendor = ANY (vendors)) AS named, count(*) FILTER (WHERE '*' = ANY (vendors)) AS every
FROM ledger.promotion WHERE state = 'sent' AND end_time > ledger.instant() AND vendors && ARRAY[CAST(:vendor AS text), '*']
"""
_BY_RULE = ("rule", "holds", "campaigns", "vendors", "rows")
_HELD = ("hold_id", "campaign", "rule", "vendor", "rows", "message", "held_at", "expires_at")


def lines_of_forgotten(context: Context, vendor: str) -> list[str]:
    """What becomes of the promotions that a forgotten vendor has on the platform; none without one."""
    with context.engine.connect() as connection:
        found = connection.execute(sa.text(_AT_VENDOR), {"vendor": vendor}).one()
    return [
        *(
            [
                f"{found.named:,} promotions are in force or to come at it; the next `shelfsync promotions sync` ends them there"
            ]
            if found.named
            else []
        ),
        *(
            [f"{found.every:,} promotions are for all stores of the chain, so they stay at it until they end"]
            if found.every
            else []
        ),
    ]


def status(
    context: Context,
    *,
    state: str | None = None,
    vendor: str | None = None,
    campaign: str | None = None,
    sku: str | None = None,
    problems: bool = False,
    rows: int = ROWS,
) -> dict[str, Any]:
    """`{"promotions", "promotions_found", "held", "held_by_rule", "rejected_by_reason", "rejected_by_vendor", "quarantined", …}`.

    `state`, `vendor`, `campaign` (a part of its identifier or name), `sku` and `problems` choose promotions; problems come first. There are
    `rows` of them at most, and `promotions_found` in all. `held` has as many of the oldest holds as a page has rows.
    `rejected_by_reason` is `{reason: pairs}`, `rejected_by_vendor` has a row for each vendor and reason. `quarantined` are the reasons of the
    newest run's rows, each with the number of rows and an example. `waiting` are its promotions that begin too far ahead, None if there are none.
    """
    asked = {
        "state": state,
        "vendor": vendor,
        "campaign": campaign,
        "sku": sku,
        "problems": "yes" if problems else None,
    }
    given = {name: value for name, value in asked.items() if value}
    with context.engine.connect() as connection:
        promotions = page(connection, PROMOTIONS, given, most=rows)
        found = count(connection, PROMOTIONS, given) if rows and len(promotions) == rows else len(promotions)
        in_force = holds.in_force(connection, Subject.PROMOTIONS)
        held = [hold for hold in reversed(in_force) if hold.state == HoldState.OPEN]
        causes = connection.execute(sa.text(_CAUSES)).mappings().all()
        by_vendor = ledger_rejections.count(connection)
        by_reason: Counter[str] = Counter()
        for row in by_vendor:
            by_reason[row["reason"]] += row["pairs"]
        return {
            "promotions": promotions,
            "promotions_found": found,
            "held": [{name: getattr(hold, name) for name in _HELD} for hold in held[:ROWS]],
            "held_by_rule": [{name: one[name] for name in _BY_RULE} for one in by_rule(held)],
            "rejected_by_reason": dict(by_reason),
            "rejected_by_vendor": by_vendor,
            "quarantined": [dict(row) for row in connection.execute(sa.text(_QUARANTINED)).mappings()],
            "waiting": connection.execute(sa.text(_WAITING)).scalar(),
            "findings": {row["cause"]: row["found"] for row in causes},
            "meanings": [{**row, "meaning": CAUSES[row["cause"]]} for row in causes],
            "runs": [dict(row) for row in connection.execute(sa.text(_RUNS)).mappings()],
            "paused": kill_switch.lines(connection),
        }
