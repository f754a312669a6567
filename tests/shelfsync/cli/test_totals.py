"""Totals, subtotals and ends of a list, through the commands: nothing of them is sent, and no product is lost by them."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

PRODUCT = {"barcodes": [], "active": True}
LIST = """vendor;sku;name;price;quantity;active
store-001;100001;Milk;1,50;4;1
store-001;100002;Tea;2,50;6;1
{first}
store-001;100003;Rye;3,00;5;1
store-002;100001;Milk;1,60;1;1
store-002;100002;Tea;2,60;2;1
{last}
"""
CASES = {
    "subtotal in the middle": ("Zwischensumme;2;;;10;", "Summe;5;;;18;"),
    "subtotal as a SKU": ("store-001;Zwischensumme;;4,00;10;", "store-002;Total;;;3;"),
    "names again and an end": ("vendor;sku;name;price;quantity;active", "*** Ende ***"),
    "a drawn line": ("---------;------;----;-----;--------;------", "Razem;;;;18;"),
    "in Russian": ("store-001;Итого;;;10;", "*** Конец отчёта ***;;;;;"),
    "in Turkish": ("Ara toplam;2;;4,00;10;", "Genel toplam;5;;11,20;18;"),
}


@pytest.fixture
def world(here, sandbox, monkeypatch, tmp_path):
    """`write(first, last)`: the ERP's list with a line in the middle and one at the end."""
    monkeypatch.setenv("SHELFSYNC_ERP__CSV_DELIMITER", ";")
    monkeypatch.setenv("SHELFSYNC_ERP__DECIMAL_MARK", ",")
    for store in ("store-001", "store-002"):
        sandbox.put_products(store, [PRODUCT | {"sku": f"10000{n}", "price": 9.99} for n in (1, 2, 3)])

    def write(first, last):
        text = LIST.format(first=first, last=last).replace("\n\n", "\n")
        (tmp_path / "stock.csv").write_text(text, encoding="utf-8")

    return write


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_nothing_of_a_total_is_sent(here, world, sandbox, case):
    world(*case)
    for command in (["plan"], ["sync", "--full"]):
        code, out, err = here(*command)
        assert code == 0, out + err
        assert "2 vendors" in out
    assert {(s, sku): sandbox.products(s)[sku]["price"] for s, sku in PRICES} == PRICES
    rejected = here("rejections", "list", "--json")[1]
    assert json.loads(rejected)["data"]["rejections"] == []
    assert set(sandbox.products("store-001")) == {"100001", "100002", "100003"}
    quarantined = here("quarantine")[1]
    assert "no_row" in quarantined
    assert here("check")[0] == 0


PRICES = {
    ("store-001", "100001"): 1.5,
    ("store-001", "100002"): 2.5,
    ("store-001", "100003"): 3,
    ("store-002", "100001"): 1.6,
    ("store-002", "100002"): 2.6,
}


def test_a_product_that_the_platform_has_is_no_total(here, world, sandbox):
    sandbox.put_products("store-001", [PRODUCT | {"sku": "Total", "price": 9.99}])
    world("", "")
    assert here("export", "--vendor", "store-001")[0] == 0
    world("store-001;Total;;4,00;10;", "")
    assert here("sync", "--full")[0] == 0
    assert sandbox.products("store-001")["Total"]["price"] == 4


def test_a_new_product_with_all_its_values_is_no_total(here, world, sandbox):
    sandbox.put_products("store-001", [PRODUCT | {"sku": "Total", "price": 9.99}])
    world("store-001;Total;Toothpaste;2,99;3;1", "")
    assert here("sync", "--full")[0] == 0
    assert sandbox.products("store-001")["Total"]["price"] == 2.99
