"""A quote that joins two rows of the ERP's file: the platform gets nothing of them, no product leaves, and a person sees the lines."""

from __future__ import annotations

import pytest

from shelfsync.check import value_warnings

V = "store-001"
HEADER = "vendor,sku,name,price,quantity,active\n"
SKUS = [f"{100000 + number}" for number in range(1, 9)]


def rows(price="1.50"):
    return {sku: f"{V},{sku},Milk 1L,{price},10,true\n" for sku in SKUS}


@pytest.fixture
def shop(make_world, tmp_path):
    """A store whose file and number of rows the ERP writes."""
    file, control = tmp_path / "stock.csv", tmp_path / "stock.count"

    def write(lines, count=8):
        file.write_text(HEADER + "".join(lines), "utf-8")
        control.write_text(str(count))

    world = make_world(erp={"url": None, "sql": None, "files": str(file), "control_file": str(control)})
    world.platform.put_products(V, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in SKUS])
    write(rows().values())
    assert world.sync("full")["accepted"] == len(SKUS)
    return world, write


@pytest.mark.slow
def test_joined_rows_are_quarantined_and_no_product_leaves(shop):
    world, write = shop
    changed = rows("2.50")
    del changed["100008"]  # the count proves that it has left, if not for the rows that cannot be read
    changed["100003"] = f"{V},100003,\"Grandma's jam,3.99,12,true\n"
    changed["100004"] = f'{V},100004,TV stand 24",14.99,0,true\n'
    write(changed.values(), count=7)
    assert world.sync("full")["accepted"] == len(SKUS) - 3
    shown = {sku: (row["price"], row["active"]) for sku, row in world.shown(V).items()}
    kept = dict.fromkeys(("100003", "100004", "100008"), (1.5, True))
    assert shown == dict.fromkeys(SKUS, (2.5, True)) | kept
    statement = "SELECT reason, message FROM warehouse.quarantine ORDER BY row_number"
    found = world.rows(statement)
    assert [reason for reason, _ in found] == ["row_unreadable", "row_unreadable"]
    assert ["line 4: " in found[0][1], "line 5: " in found[1][1]] == [True, True]
    write(rows("2.50").values())
    assert world.sync("delta")["accepted"] == 3


@pytest.mark.slow
def test_a_total_and_a_drawn_line_blame_no_vendor_and_call_no_person(shop):
    world, write = shop
    changed = rows("2.50")
    del changed["100008"]
    write(["------,---,---,---,---,---\n", *changed.values(), HEADER, "Total,,,17.50,,\n"], count=7)
    summary = world.sync("full")
    assert (summary["accepted"], summary["alarms"]) == (len(SKUS), []), "the absent one is off sale"
    assert [row.reason for row in world.rows("SELECT reason FROM warehouse.quarantine")] == ["no_row"] * 3
    assert world.app.status()["unusable_vendors"] == []
    assert [line for line in world.app.warnings() if "quarantined" in line] == []
    [beside] = value_warnings(world.app.context)
    assert (
        "first 7 rows 3 lines are none, and shelfsync sends nothing of them, such as line 2: a drawn line: ---"
        in beside
    )


@pytest.mark.slow
def test_rows_that_cannot_be_read_do_not_blame_the_vendor_column(shop):
    world, write = shop
    write([*rows("2.50").values(), f"{V},100009,too,few\n"], count=9)
    [alarm] = world.sync("full")["alarms"]
    assert "Correct these lines, or the delimiter and the quotes in the ERP" in alarm
    assert "\ufffd" not in alarm
