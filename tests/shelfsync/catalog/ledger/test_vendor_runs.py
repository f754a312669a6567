"""What a run writes of its vendors before the steps begin."""

from __future__ import annotations

from shelfsync.catalog.ledger import runs, vendor_runs
from shelfsync.secret_mask import MASK, mask
from shelfsync.store.engine import create_engine

SECRET = "canary-password-8"


def test_a_secret_of_the_settings_in_the_text_of_a_failure_is_masked(database_url):
    engine = create_engine(database_url)
    mask.add([SECRET])
    with engine.begin() as connection:
        run_id = runs.open_run(connection, key="test", kind="full", vendors=(), dry_run=False)
        number = runs.record_extract(connection, run_id, rows=1, rows_expected=1, proof="a count", complete=True)
        failed = {name: vendor_runs.unread(f"the storage refused {SECRET}") for name in ("store-001", "store-002")}
        vendor_runs.begin_all(connection, run_id, number, failed)
        assert [row.error for row in vendor_runs.read_all(connection, run_id)] == [f"the storage refused {MASK}"] * 2
    engine.dispose()
