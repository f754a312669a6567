from __future__ import annotations

from shelfsync.saved_state.parts import PARTS
from shelfsync.warehouse.every_table import metadata

READ_AGAIN = {
    "ledger": "alert_look alert_sending batch change_file export extract feed job lease loaded_state observation order_product outage"
    " platform_check position promotion_rejection promotion_request promotion_run reading rejection rejection_count resending run"
    " source_columns token vendor_count vendor_run",
    "inbox": "event refusal",
    "rate_limit": "allowance pause permit priority ticket turn usage",
    "warehouse": "assortment_history baseline_history catalog_job drift drift_count missed_change observation product promotion_finding"
    " promotion_job promotion_outcome promotion_quarantine promotion_run quarantine sku_outcome sync_run",
}
"""What a new database does without: it is about one run, is found again, or is history that the old database keeps."""


def test_of_each_table_it_is_decided_whether_it_travels():
    without = {f"{schema}.{name}" for schema, names in READ_AGAIN.items() for name in names.split()}
    carried = [part.table for part in PARTS]
    assert len(carried) == len(set(carried))
    assert {*carried} | without == {*metadata.tables}
    assert not {*carried} & without


def test_a_row_is_loaded_after_those_that_it_points_to():
    place = {part.table: number for number, part in enumerate(PARTS)}
    for part in PARTS:
        for key in metadata.tables[part.table].foreign_keys:
            if key.parent.name not in part.begun_anew:
                assert place[key.column.table.fullname] < place[part.table], key
