from __future__ import annotations

import pyarrow as pa

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.missed_changes import MISSED
from shelfsync.catalog.warehouse import missed_changes, record


def _missed(*rows):
    return pa.Table.from_pylist([dict(zip(MISSED.names, row, strict=True)) for row in rows], schema=MISSED)


def test_a_second_reading_of_a_run_replaces_the_first_and_one_alarm_counts_all_vendors(engine):
    with engine.begin() as connection:
        run_id = runs.open_run(connection, key="test/1", kind="full", vendors=(), dry_run=False)
        record.RUN.copy(connection, [run_id])
        assert missed_changes.lines(connection, run_id) == []
        missed_changes.replace(connection, run_id, "store-001", _missed(("a", "changed", "quantity")))
        missed_changes.replace(
            connection, run_id, "store-001", _missed(("b", "changed", "price"), ("c", "removed", ""))
        )
        missed_changes.replace(connection, run_id, "store-002", _missed(("d", "changed", "price,quantity")))
        (line,) = missed_changes.lines(connection, run_id)
    assert "missed 3 SKUs of 2 stores (price, quantity, removed), the first of them 'b' of store store-001" in line
