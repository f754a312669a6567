"""A vendor or a row of the ERP that cannot be used is quarantined with its reason; the other vendors are sent."""

from __future__ import annotations

import json

import pytest

from shelfsync.errors import DataError

V = "store-001"
UNUSABLE = {
    "nul\0inside": "vendor_characters",
    "half \ufffd": "vendor_characters",
    "x" * 300: "vendor_too_long",
    ".": "vendor_is_folder",
    "..": "vendor_is_folder",
    " ": "vendor_missing",
}


@pytest.fixture
def stocked(world):
    world.platform.put_products(V, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put(V, "a", "1.00")
    return world


@pytest.mark.slow
@pytest.mark.parametrize("vendor", UNUSABLE)
def test_a_vendor_that_cannot_be_used_stops_no_other_vendor(stocked, vendor):
    stocked.erp.put(vendor, "secret-sku", "1.00")
    summary = stocked.sync("full")
    assert (summary["accepted"], [row["vendor"] for row in summary["vendors"]]) == (1, [V])
    kept = stocked.rows("SELECT vendor, reason, raw FROM warehouse.quarantine")
    assert [(row.vendor, row.reason) for row in kept] == [("", UNUSABLE[vendor])]
    assert json.loads(kept[0].raw)["sku"] == "secret-sku"


def test_a_column_without_one_usable_vendor_is_a_wrong_column(world):
    for vendor in UNUSABLE:
        world.erp.put(vendor, "a", "1.00")
    with pytest.raises(DataError, match="wrong column"):
        world.sync("full")


@pytest.mark.slow
def test_rows_of_unusable_vendors_are_reported_by_run_and_status_and_raise_one_alarm(stocked):
    for vendor in UNUSABLE:
        stocked.erp.put(vendor, "a", "1.00")
    first, second = stocked.sync("full"), stocked.sync("delta")
    assert len(first["alarms"]) == 1
    assert "6 rows name no usable store" in first["alarms"][0]
    assert second["alarms"] == [], "what is known already is no news"
    assert any("6 rows name no usable store" in line for line in second["lines"])
    assert sum(one["rows"] for one in stocked.app.status()["unusable_vendors"]) == 6
    assert any("6 rows name no usable store" in line for line in stocked.app.warnings())
    stocked.erp.execute("DELETE FROM stock WHERE vendor <> ?", V)
    third = stocked.sync("delta")
    assert (third["alarms"], stocked.app.status()["unusable_vendors"]) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["é" * 200, "[/x]", "a/b", "..%2f", "-rf", "x\u202ey"])
def test_a_strange_vendor_is_one_failed_vendor_and_its_files_stay_in_the_lake(stocked, tmp_path, vendor):
    stocked.erp.put(vendor, "a", "1.00")
    before = {path for path in tmp_path.iterdir() if path.name != "lake"}
    summary = stocked.sync("full")
    assert summary["accepted"] == 1
    assert {row["vendor"]: row["state"] for row in summary["vendors"]}[V] == "acknowledged"
    assert {path for path in tmp_path.iterdir() if path.name != "lake"} - before <= {tmp_path / "home"}
    files = [path for path in (tmp_path / "lake").rglob("*") if path.is_file()]
    assert files
    assert {len(path.relative_to(tmp_path / "lake").parts) for path in files} == {3}


@pytest.mark.slow
def test_a_vendor_whose_file_cannot_be_written_fails_alone(stocked, monkeypatch):
    from shelfsync.store.lake import Lake

    stocked.erp.put("store-002", "a", "1.00")
    staged = Lake.staged

    def broken(lake, kind, vendor, *name):
        if vendor == "store-002" and kind == "raw":
            raise ValueError("this vendor's rows cannot be written")
        return staged(lake, kind, vendor, *name)

    monkeypatch.setattr(Lake, "staged", broken)
    summary = stocked.sync("full")
    assert summary["accepted"] == 1
    failed = {row["vendor"]: row for row in summary["vendors"]}["store-002"]
    assert (failed["state"], failed["failed_step"]) == ("failed", "extract")
    assert "cannot be written" in failed["error"]


def test_a_quarantined_row_takes_a_bounded_number_of_bytes(stocked):
    for length in (9_000, 300_000):  # the reading cuts the second already
        texts = (character * length for character in "\1\2x")
        stocked.erp.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?, 1, ?)", V, *texts, "9" * 9, "\3")
    stocked.erp.put(V, "b", "1.00", quantity="y" * 500_000)
    assert stocked.sync("full")["accepted"] == 1
    kept = stocked.rows("SELECT octet_length(raw) + octet_length(message) AS size, raw FROM warehouse.quarantine")
    assert len(kept) == 3
    assert max(row.size for row in kept) < 16_384
    assert all(json.loads(row.raw)["vendor"] == V for row in kept)
