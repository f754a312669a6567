from __future__ import annotations

import threading

from shelfsync.catalog.ledger import batches, vendor_runs, vendors


def _move(ledger, job_id, expected, generation=1):
    with ledger.engine.begin() as connection:
        return vendors.move_baseline(
            connection,
            ledger.vendor,
            expected=expected,
            path=f"v{expected}",
            rows=1,
            generation=generation,
            job_id=job_id,
        )


def test_the_baseline_moves_once_for_one_expected_version(ledger):
    run_id, generation = ledger.run()
    job_id = ledger.job(ledger.batch(run_id, generation)[0])
    assert _move(ledger, job_id, 0)
    assert not _move(ledger, job_id, 0)
    with ledger.engine.connect() as connection:
        assert vendors.current_baseline(connection, ledger.vendor).version == 1
        assert vendors.known_vendors(connection) == {ledger.vendor: 1}


def test_the_fence_only_rises(ledger):
    ledger.run()
    with ledger.engine.begin() as connection:
        vendors.raise_fence(connection, ledger.vendor, 7)
        vendors.raise_fence(connection, ledger.vendor, 3)
        assert vendors.lock(connection, ledger.vendor).fence == 7


def test_a_vendors_row_is_kept_from_others_while_it_is_locked(ledger):
    ledger.run()
    order = []

    def second():
        with ledger.engine.begin() as connection:
            vendors.lock(connection, ledger.vendor)
            order.append("second")

    with ledger.engine.begin() as connection:
        vendors.lock(connection, ledger.vendor)
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_newer_generation_supersedes_what_was_planned_and_never_sent(ledger):
    old_run, old = ledger.run()
    ledger.batch(old_run, old)
    new_run, new = ledger.run()
    ledger.batch(new_run, new)
    with ledger.engine.connect() as connection:
        assert batches.planned(connection, ledger.vendor, old_run) == []
        assert [planned.generation for planned in batches.planned(connection, ledger.vendor, new_run)] == [new]


def test_beginning_a_vendor_again_drops_the_pointers_of_the_earlier_reading(ledger):
    run_id, _ = ledger.run()
    with ledger.engine.begin() as connection:
        vendor_runs.write(
            connection, run_id, ledger.vendor, snapshot_path="old", rows_snapshot=5, state="failed", error="x"
        )
        vendor_runs.begin(connection, run_id, ledger.vendor, generation=99, raw_path="new")
        row = vendor_runs.read(connection, run_id, ledger.vendor)
    assert (row.raw_path, row.snapshot_path, row.state, row.error, row.generation) == ("new", None, "open", None, 99)
