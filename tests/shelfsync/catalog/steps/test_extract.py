from __future__ import annotations

import json

import pyarrow as pa
import pytest

from shelfsync.catalog.snapshot import nameless
from shelfsync.catalog.warehouse import quarantine
from shelfsync.rows.item import RAW_CHARACTERS_MAX
from shelfsync.schemas import RAW
from shelfsync.settings import NormaliseSettings


def test_a_row_without_a_vendor_keeps_all_its_values():
    chunk = pa.Table.from_pylist([{"row_number": 1, "vendor": None, "sku": "s1"}], schema=RAW)
    row = nameless(chunk, NormaliseSettings()).to_pylist()[0]
    assert row["reason"] == "vendor_missing"
    assert json.loads(row["raw"])["sku"] == "s1"


@pytest.mark.parametrize("sku", ["nul\0inside", "x" * 3000, "half \ufffd character"])
def test_a_row_without_vendor_whose_sku_fits_no_index_is_quarantined_as_raw_text(engine, sku):
    chunk = pa.Table.from_pylist([{"row_number": 1, "vendor": " ", "sku": sku}], schema=RAW)
    rows = nameless(chunk, NormaliseSettings())
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO warehouse.sync_run (run_id, run_key, kind, dry_run, state, started_at)"
            " VALUES (1, 'k', 'full', false, 'running', now())"
        )
        quarantine.replace(connection, 1, None, rows)
        kept = connection.exec_driver_sql("SELECT sku, reason, raw FROM warehouse.quarantine").one()
    assert (kept.sku, kept.reason) == (None, "vendor_missing")
    assert json.loads(kept.raw)["sku"].removesuffix("…") == sku[:RAW_CHARACTERS_MAX]
