"""What the ledger knows of each vendor, read for all at once: no vendor gets another's, and one without anything is there too."""

from __future__ import annotations

import pytest

from shelfsync.catalog.ledger import runs, vendor_runs
from shelfsync.catalog.ledger.compared import for_diff, for_guard, last_known
from shelfsync.catalog.ledger.extracts import Past
from shelfsync.catalog.ledger.vendors import BaselineVersion

ONE, TWO = "store-001", "store-002"
AGAIN = "UPDATE ledger.vendor_run SET absent_path = '{}', delta_path = 'delta', state = '{}' WHERE run_id = {} AND vendor = '{}'"
OF_ONE = """
WITH seen AS (
    INSERT INTO ledger.observation (vendor, how, path, rows, observed_at, ended_at)
    VALUES ('store-001', 'export', 'before', 1, now() - interval '1 h', now()), ('store-001', 'listing', 'seen', 1, now(), now()) RETURNING observation_id
)
INSERT INTO ledger.baseline (vendor, version, path, rows, generation, observation_id)
SELECT 'store-001', n, (ARRAY['old', 'new'])[n], n + 4, n, observation_id
FROM (SELECT observation_id, row_number() OVER (ORDER BY observation_id)::int AS n FROM seen) AS made
"""


@pytest.fixture
def asked(engine):
    """Three runs of two vendors: a full one at work, a dry one, and the delta that asks; the first vendor has a past."""
    with engine.begin() as connection:
        found = []
        for kind, dry_run in (("full", False), ("delta", True), ("delta", False)):
            run_id = runs.open_run(connection, key=f"{len(found)}", kind=kind, vendors=(), dry_run=dry_run)
            number = runs.record_extract(connection, run_id, rows=1, rows_expected=1, proof="a count", complete=True)
            vendor_runs.begin_all(connection, run_id, number, {ONE: {"rows_raw": 1}, TWO: {"rows_raw": 1}})
            found.append(run_id)
        full, dry, delta = found
        statements = [
            OF_ONE,
            "UPDATE ledger.vendor SET baseline_version = 2 WHERE vendor = 'store-001'",
            AGAIN.format("absent", "open", full, ONE),
            AGAIN.format("of a dry run", "planned", dry, ONE),
            AGAIN.format("of the other", "acknowledged", full, TWO),
        ]
        for statement in statements:
            connection.exec_driver_sql(statement)
    return full, delta


def test_a_vendor_has_its_baseline_the_diff_before_and_the_full_sync_at_work_and_not_anothers(engine, asked):
    full, delta = asked
    with engine.connect() as connection:
        found = for_diff(connection, delta, [ONE, TWO, "store-003"])
        assert found.keys() == {ONE, TWO}
        one, two = found[ONE], found[TWO]
        assert one.base == BaselineVersion(2, "new", 6, 2, "new")
        assert two.base is None
        assert (one.absent_before, two.absent_before) == ("absent", "of the other")
        assert (one.full_on_its_way, two.full_on_its_way) == (full, None)
        assert (one.complete, two.complete) == (True, True)
        assert one.read_at == two.read_at is not None
        assert (one.rejected, two.rejected) == (False, False)
        assert for_diff(connection, full, [ONE])[ONE].full_on_its_way is None, "a run does not wait for itself"


def test_the_files_of_a_vendor_are_its_baseline_in_force_and_its_newest_observation(engine, asked):
    with engine.connect() as connection:
        found = last_known(connection, [ONE, TWO])
    assert found == {ONE: (BaselineVersion(2, "new", 6, 2, "new"), "seen"), TWO: (None, None)}


FEEDS = """
INSERT INTO ledger.feed (vendor, generation, run_id, snapshot_path, rows, categories_path, unrestored_path, trusted, read_at)
SELECT vendor, -n, -n, path, rows, categories, unrestored, trusted, now() - make_interval(hours => n) FROM (VALUES
    ('store-001', 4, 'mine', 11, 'categories', NULL, true), ('store-001', 3, 'other', 12, NULL, NULL, true),
    ('store-001', 2, 'mine', 99, NULL, NULL, false), ('store-001', 1, 'other', 13, NULL, 'beneath', true),
    ('store-002', 1, 'mine', 21, NULL, NULL, true)) AS f (vendor, n, path, rows, categories, unrestored, trusted)
"""
APPROVED = """
INSERT INTO ledger.hold (subject, vendor, rule, message, thresholds, rows, rows_path, first_run_id, run_id, generation, state, held_at, expires_at)
SELECT 'catalog', 'store-001', 'price_change', '', '{}', 1, path, 1, 1, -n, state, now(), now()
FROM (VALUES ('undone', 3, 'approved'), ('declined', 1, 'declined'), ('older', 4, 'approved')) AS h (path, n, state)
"""


def test_the_guard_of_a_vendor_has_its_own_past(engine, asked):
    full, delta = asked
    with engine.begin() as connection:
        for statement in (
            FEEDS,
            APPROVED,
            f"UPDATE ledger.vendor_run SET snapshot_path = 'mine', base_version = 2 WHERE run_id = {delta}",
            f"UPDATE ledger.vendor_run SET state = 'acknowledged' WHERE run_id = {full} AND vendor = 'store-001'",
            f"UPDATE ledger.vendor_run SET state = 'open' WHERE run_id = {full} AND vendor = 'store-002'",
        ):
            connection.exec_driver_sql(statement)
        found = for_guard(connection, delta, [ONE, TWO, "store-003"], feeds=2, days=30)
    assert found.keys() == {ONE, TWO}
    one, two = found[ONE], found[TWO]
    assert (one.base, one.known, one.first) == ("new", "new", False)
    assert (two.base, two.known, two.first) == (None, None, True)
    assert (one.past.rows, one.past.trusted_run) == ((13, 12), -1), "the newest trusted ones first"
    assert (one.past.categories_path, one.past.unrestored_path) == ("categories", "beneath")
    assert one.past.repeated_at is not None
    assert one.past.undone == ("undone",), "approved since the extract that this one repeats"
    assert (two.past.rows, two.past.repeated_at, two.past.undone) == ((21,), None, ()), "it repeats the last one"


def test_a_vendor_without_a_trusted_extract_has_no_past(engine, asked):
    _, delta = asked
    with engine.connect() as connection:
        past = for_guard(connection, delta, [ONE], feeds=2, days=30)[ONE].past
    assert past == Past((), None, None)
