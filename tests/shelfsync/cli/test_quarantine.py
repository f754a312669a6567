"""`shelfsync quarantine`: the ERP's rows that cannot be sent, counted, with examples."""

from __future__ import annotations

import pytest

from documents import data

pytestmark = pytest.mark.slow


def test_each_reason_is_counted_by_vendor_and_shown_with_an_example(run, tmp_path):
    rows = ["store-001,a,1,4,1", 'store-001,b,"1,5",4,1', 'store-001,c,"2,5",4,1', "store-001,d,x,4,1", ",e,1,4,1"]
    text = "\n".join(["vendor,sku,price,quantity,active", *rows, ""])
    (tmp_path / "stock.csv").write_text(text, encoding="utf-8")
    assert "nothing is quarantined" in run("quarantine").stdout
    assert run("plan").returncode == 0
    found = data(run("quarantine", "--json").stdout)["quarantined"]
    assert [one["rows"] for one in found] == [1, 2, 1], "a plan names the command, so the command has its rows"
    assert run("sync", "--full").returncode == 0
    found = data(run("quarantine", "--json").stdout)["quarantined"]
    assert [(one["vendor"], one["reason"], one["rows"]) for one in found] == [
        ("", "vendor_missing", 1),
        ("store-001", "price_decimal_comma", 2),
        ("store-001", "price_not_a_number", 1),
    ]
    printed = run("quarantine", "--vendor", "store-001", "--reason", "price_decimal_comma", "--limit", "5").stdout
    assert "vendor store-001: 2 rows, price_decimal_comma" in printed
    assert "SKU b" in printed
    assert "SKU c" in printed
    assert "price_not_a_number" not in printed
