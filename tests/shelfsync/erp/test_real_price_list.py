"""5,119 real items of one real store, which stay outside the project, through the file source as a user would configure it."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from shelfsync.erp.open import open_source
from shelfsync.settings import ErpSettings

PRICE_LIST = Path(__file__).parents[3] / ".." / "shared" / "data" / "real_store_price_list.csv"

pytestmark = pytest.mark.skipif(
    not PRICE_LIST.is_file(),
    reason="the real price list is not part of the project: ../shared/data/real_store_price_list.csv is absent",
)


def test_a_real_price_list_is_read_item_by_item(read, tmp_path):
    control = tmp_path / "count"
    control.write_text("5119")
    settings = {
        "files": str(PRICE_LIST),
        "columns": {"sku": "item_code", "barcode": "item_code", "price": "item_price"},
        "constants": {"vendor": "store-001"},
        "control_file": str(control),
        "chunk_rows": 1000,
    }
    open_source(ErpSettings(**settings)).check()
    reading = read(**settings)
    with PRICE_LIST.open(encoding="utf-8", newline="") as file:
        items = list(csv.DictReader(file))
    assert len(reading.rows) == len(items) == 5119
    for row, item in zip(reading.rows, items, strict=True):
        assert row["sku"] == row["barcode"] == item["item_code"]
        assert row["price"] == item["item_price"]
        assert row["vendor"] == "store-001"
        assert row["quantity"] is row["active"] is row["max_sales_quantity"] is None
    assert reading.proof.complete
    assert min(Decimal(row["price"]) for row in reading.rows) > 0
    assert sum(row["sku"].startswith("0") for row in reading.rows) > 100
