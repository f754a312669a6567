"""A vendor is quiet only if nothing asks for anything."""

from __future__ import annotations

import pytest

from shelfsync.catalog.ledger.same_rows import quiet
from shelfsync.catalog.steps.extract import extract

pytestmark = pytest.mark.slow

V = "store-001"
OTHER = "store-002"

HOLD = """
INSERT INTO ledger.hold (subject, vendor, first_run_id, run_id, generation, rule, message, thresholds, rows_path, rows,
    state, held_at, decided_at, expires_at)
SELECT 'catalog', vendor, run_id, run_id, generation, 'price_jump', 'x', '{{}}', delta_path, 0,
    '{}', ledger.instant(), ledger.instant(), ledger.instant() + interval '1 h' FROM before"""
RESTORATION = """
INSERT INTO ledger.restoration (vendor, path, state_at, until_at, why, who, begun_at)
SELECT vendor, snapshot_path, ledger.instant(), ledger.instant() + interval '1 h', 'x', 'ada', ledger.instant() FROM before"""
FEED = """
INSERT INTO ledger.feed (vendor, generation, run_id, snapshot_path, rows, trusted, read_at, unrestored_path)
SELECT vendor, generation, run_id, snapshot_path, 2, true, ledger.instant(), snapshot_path FROM before"""
REJECTION = """
INSERT INTO ledger.rejection (vendor, sku, reason, job_id) SELECT vendor, 'z', 'x', max(job_id) FROM ledger.job WHERE vendor = 'store-001' GROUP BY 1"""
FULL = "UPDATE ledger.run SET state = 'running', one_process = {} WHERE kind = 'full'"
OPEN = "UPDATE ledger.vendor_run SET state = 'open', updated_at = ledger.instant() WHERE vendor = 'store-001' AND run_id = (SELECT run_id FROM ledger.run WHERE kind = 'full')"
BEFORE = "UPDATE ledger.vendor_run SET {} WHERE (run_id, vendor) = (SELECT run_id, vendor FROM before)"
NOW = "UPDATE ledger.vendor_run SET {} WHERE vendor = 'store-001' AND run_id = (SELECT max(run_id) FROM ledger.run)"
RUN = "UPDATE ledger.run SET {} WHERE run_id = (SELECT {}(run_id) FROM {})"

ASKS = {
    "an open hold": [HOLD.format("open")],
    "a declined hold": [HOLD.format("declined")],
    "an expired hold": [HOLD.format("expired")],
    "an approval": [HOLD.format("approved")],
    "a restoration": [RESTORATION],
    "what a restoration left": [FEED],
    "a rejection": [REJECTION],
    "a planned batch": ["UPDATE ledger.batch SET state = 'planned' WHERE vendor = 'store-001'"],
    "an open job": [
        "UPDATE ledger.vendor SET open_plan = (SELECT max(plan) FROM ledger.job WHERE vendor = 'store-001') WHERE vendor = 'store-001'",
        "UPDATE ledger.job SET state = 'open' WHERE vendor = 'store-001'",
    ],
    "a full sync at work": [FULL.format("false"), OPEN],
    "another baseline": ["UPDATE ledger.vendor SET baseline_version = baseline_version + 1 WHERE vendor = 'store-001'"],
    "a run before that failed": [BEFORE.format("state = 'failed', failed_step = 'diff'")],
    "a run before that was passed over": [BEFORE.format("state = 'busy'")],
    "a run before that sent": [BEFORE.format("state = 'acknowledged'")],
    "a run before that held": [BEFORE.format("changes_held = 1")],
    "a run before that held a file": [BEFORE.format("held_path = delta_path")],
    "a run before that found a change": [BEFORE.format("changes_changed = 1")],
    "a run before that suppressed": [BEFORE.format("changes_suppressed = 1")],
    "a run before with a faulty row": [BEFORE.format("rows_quarantined = 1")],
    "a run before with a faulty value": [BEFORE.format("values_left_out = 1")],
    "a run before with an absent SKU": [BEFORE.format("skus_absent = 1")],
    "a run before under a restoration": [BEFORE.format("restorations = ARRAY[1]")],
    "a run before that left out a rejected SKU": [BEFORE.format("raw_digest = NULL")],
    "a run before of another version": [BEFORE.format("rules_digest = NULL")],
    "a plan before": [RUN.format("dry_run = true", "max", "before")],
    "a plan": [RUN.format("dry_run = true", "max", "ledger.run")],
    "an urgent run": [RUN.format("skus = ARRAY['a']", "max", "ledger.run")],
    "a comparison with the changes": [NOW.format("reported_path = raw_path")],
    "other rows": [NOW.format("raw_digest = 'x'")],
    "rows without a digest": [NOW.format("raw_digest = NULL, raw_path = 'x'")],
}

NO_REASON = {
    "nothing": [],
    "changes alone, without one": [NOW.format("raw_digest = NULL")],
    "a full sync whose process died": [FULL.format("true"), OPEN],
}


def test_a_vendor_of_which_anything_asks_for_something_takes_every_step(in_step):
    """Each is true of one vendor, within a transaction that is rolled back, and the other stays quiet."""
    world = in_step()
    run_id, vendors = world.app.open_run("delta", "read only"), [V, OTHER]
    extract(world.app.context, run_id, every=True)
    view = (
        "CREATE TEMPORARY TABLE before AS SELECT * FROM ledger.vendor_run WHERE vendor = 'store-001'"
        f" AND run_id < {run_id} ORDER BY generation DESC LIMIT 1"
    )
    of_all = {"a plan", "an urgent run", "a plan before"}
    found = {}
    for name, statements in (NO_REASON | ASKS).items():
        with world.app.context.engine.connect() as connection, connection.begin() as doing:
            for statement in (view, *statements):
                connection.exec_driver_sql(statement)
            found[name] = {one.vendor for one in quiet(connection, run_id, vendors, approval_hours=1)}
            doing.rollback()
    wanted = {name: {V, OTHER} for name in NO_REASON} | {name: set() if name in of_all else {OTHER} for name in ASKS}
    assert found == wanted
