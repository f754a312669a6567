"""Absence is believed only of an extract that was proved whole (I9)."""

from __future__ import annotations

import json

import pytest

from change_folder import drop

HEADER = "vendor,sku,barcode,price,quantity,active,max_sales_quantity\n"


@pytest.fixture
def files(make_world, tmp_path):
    """A world whose ERP is a CSV file; `write` puts SKUs into it, with or without the control file that proves it whole."""
    file, control = tmp_path / "stock.csv", tmp_path / "rows.txt"

    def write(skus, *, proven):
        rows = (f"store-001,{sku},,{1 + skus[:at].count(sku)}.00,10,1,\n" for at, sku in enumerate(skus))
        file.write_text(HEADER + "".join(rows), "utf-8")  # a second row of a SKU has another price
        control.unlink(missing_ok=True)
        if proven:
            control.write_text(f"{len(skus)}\n", "utf-8")

    def open_with(*, control_file):
        return make_world(
            erp={"url": None, "sql": None, "files": str(file), "control_file": str(control) if control_file else None}
        )

    return write, open_with


@pytest.mark.slow
def test_absence_from_an_unproven_extract_switches_nothing_off(files):
    write, open_with = files
    write("abc", proven=True)
    proven, doubted = open_with(control_file=True), open_with(control_file=False)
    proven.platform.put_products(
        "store-001", [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in "abc"]
    )
    assert proven.sync("full")["accepted"] == 3
    write("ab", proven=False)
    assert doubted.sync("full")["state"] == "succeeded"
    assert doubted.sync("delta")["state"] == "succeeded"
    assert {sku: row["active"] for sku, row in proven.shown().items()} == dict.fromkeys("abc", True)
    write("ab", proven=True)
    assert proven.sync("delta")["accepted"] == 1
    assert {sku: row["active"] for sku, row in proven.shown().items()} == {"a": True, "b": True, "c": False}


@pytest.mark.slow
def test_an_unproven_extract_ends_no_approval_of_removals(files):
    """Missing rows prove nothing in it, so they do not prove either that these removals are over."""
    write, open_with = files
    skus, left = "abcdefghijkl", "abcdef"
    write(skus, proven=True)
    proven, doubted = open_with(control_file=True), open_with(control_file=False)
    proven.platform.put_products(
        "store-001", [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in skus]
    )
    assert proven.sync("full")["accepted"] == 12
    write(left, proven=True)
    proven.sync("delta")
    (hold,) = proven.app.holds.listed("open")
    proven.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    write(left, proven=False)
    doubted.sync("delta")
    assert proven.rows("SELECT spent_at FROM ledger.hold") == [(None,)]
    write(left, proven=True)
    proven.sync("delta")
    assert {sku for sku, row in proven.shown().items() if row["active"]} == set(left)


@pytest.mark.slow
def test_an_unproven_extract_ends_no_decision_against_removals(files):
    """A file without most of its rows, declined; then one that proves nothing; then the same accident again, a little at a time."""
    write, open_with = files
    skus = "abcdefghijkl"
    write(skus, proven=True)
    proven, doubted = open_with(control_file=True), open_with(control_file=False)
    proven.platform.put_products(
        "store-001", [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in skus]
    )
    assert proven.sync("full")["accepted"] == 12
    write("abcdef", proven=True)
    proven.sync("delta")
    (hold,) = proven.app.holds.listed("open")
    proven.app.holds.decide(hold["hold_id"], approve=False, who="ada")
    write("abcdef", proven=False)
    assert doubted.sync("delta")["state"] == "succeeded"
    write("abcdefghijk", proven=True)
    assert proven.sync("delta")["sent"] == 0, "l stays declined"
    assert {row["active"] for row in proven.shown().values()} == {True}
    write(skus, proven=True)
    proven.sync("delta")
    assert proven.rows("SELECT count(*) FROM ledger.hold WHERE superseded_by IS NULL") == [(0,)]


def _proof(found):
    return "SHELFSYNC_ERP__CONTROL_FILE" in found and "not proven complete" in found


@pytest.mark.slow
def test_a_sku_that_left_an_unproven_extract_is_counted_and_explained_and_nothing_is_promised(files):
    """It left, is absent since then, comes back, leaves again; quarantined is not left; and with a proof it goes off sale."""
    write, open_with = files
    skus = "abcdefghijklmnop"
    write(skus, proven=True)
    proven, doubted = open_with(control_file=True), open_with(control_file=False)
    proven.platform.put_products(
        "store-001", [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in skus]
    )
    assert proven.sync("full")["accepted"] == 16
    write(skus[1:], proven=False)
    planned = doubted.sync("delta", dry_run=True)
    assert any("0 suppressed, 1 absent" in line for line in planned["lines"])
    first = doubted.sync("delta")
    (line,) = [line for line in first["lines"] if "stay on sale" in line]
    assert "1 SKUs are absent" in line
    assert "store-001: 1" in line
    assert "`shelfsync explain store-001 a`" in line
    assert _proof(line)
    assert "15 are acknowledged, 1 absent" in " ".join(first["lines"])
    found = doubted.app.explain("store-001", "a")
    assert _proof(found.sentence)
    assert "will take it off sale" not in found.sentence
    since = found.desired.unproven.since
    second = doubted.sync("full")
    assert second["lines"].count(line) == 1
    assert doubted.app.explain("store-001", "a").desired.unproven.since == since, "it is absent since the first extract"
    (row,) = doubted.app.status()["vendors"]
    assert (row["not_in_erp"], row["absent"], row["acknowledged"]) == (1, 1, 15)
    assert doubted.app.status()["absent"] == [line]

    write(skus, proven=False)
    assert not [line for line in doubted.sync("delta")["lines"] if "stay on sale" in line]
    assert "has the same values" in doubted.app.explain("store-001", "a").sentence
    write(skus[1:-1] + "pp", proven=False)  # p is twice in the extract: quarantined, and not absent
    doubted.sync("delta")
    (row,) = doubted.app.status()["vendors"]
    assert (row["absent"], row["quarantined"]) == (1, 2)
    assert doubted.app.explain("store-001", "a").desired.unproven.since > since
    assert "quarantined" in doubted.app.explain("store-001", "p").sentence
    never = doubted.app.explain("store-001", "never-there").sentence
    assert "off sale" not in never
    assert "sends nothing about it" in never

    write(skus[1:], proven=True)
    assert not proven.sync("delta")["absent"]
    assert proven.shown()["a"]["active"] is False
    assert proven.app.status()["absent"] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_row_that_names_no_product_stops_the_removals_of_its_store_alone(make_world, tmp_path, kind):
    file, control = tmp_path / f"stock.{kind}", tmp_path / "rows.txt"
    world = make_world(erp={"url": None, "sql": None, "files": str(file), "control_file": str(control)})

    def write(rows):
        if kind == "csv":
            text = HEADER + "".join(f"{vendor},{sku or ''},,1.00,10,1,\n" for vendor, sku in rows)
        else:
            text = "".join(json.dumps({"vendor": vendor, "sku": sku, "price": 1}) + "\n" for vendor, sku in rows)
        file.write_text(text, "utf-8")
        control.write_text(f"{len(rows)}\n", "utf-8")

    stores = ("store-001", "store-002")
    for store in stores:
        world.platform.put_products(
            store, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in ("a1", "b2", "c3")]
        )
    write([(store, sku) for store in stores for sku in ("a1", "b2", "c3")])
    world.sync("full")
    nothing = None if kind == "csv" else [3]
    write([*((store, sku) for store in stores for sku in ("a1", "b2")), ("store-001", nothing)])
    world.sync("delta")
    shown = {store: {sku for sku, row in world.shown(store).items() if row["active"]} for store in stores}
    assert shown == {"store-001": {"a1", "b2", "c3"}, "store-002": {"a1", "b2"}}
    assert "names no product" in world.app.explain("store-001", "c3").sentence
    write([(store, sku) for store in stores for sku in ("a1", "b2")])
    world.sync("delta")
    assert not world.shown("store-001")["c3"]["active"]


@pytest.mark.slow
def test_a_delta_of_changes_over_an_unproven_whole_names_the_control_file_too(make_world, tmp_path):
    file, since, feed = tmp_path / "stock.csv", tmp_path / "since.txt", tmp_path / "feed"
    feed.mkdir()
    files = {"files": str(file), "changes_files": str(feed), "changes_since_file": str(since)}
    world = make_world(erp={"url": None, "sql": None, **files})
    world.platform.put_products(
        "store-001", [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in "abc"]
    )

    def whole(skus, newest):
        file.write_text(HEADER + "".join(f"store-001,{sku},,1.00,10,1,\n" for sku in skus), "utf-8")
        since.write_text(newest, "utf-8")
        world.sync("full")

    whole("abc", "000.csv")
    whole("ab", "000.csv")
    drop(feed, "001.csv", ("store-001", "b", "1.10", 10, 1))
    delta = world.sync("delta")
    assert delta["sent"] == 1
    (line,) = [line for line in delta["lines"] if "stay on sale" in line]
    assert "the changes, laid over the last reading of the whole, which has no proof" in line
    assert _proof(line)
    assert _proof(world.app.explain("store-001", "c").sentence)
