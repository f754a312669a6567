"""The sample ERP: the basis of the demo and of other tests."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.erp import sample
from shelfsync.erp.open import open_source
from shelfsync.erp.sample.products import is_valid, with_check_digit
from shelfsync.errors import DataError
from shelfsync.settings import ErpSettings

STOCK = """SELECT store.code, item_code, sum(quantity) FROM erp.stock_movement JOIN erp.store USING (store_id)
JOIN erp.product USING (product_id) GROUP BY 1, 2"""


@pytest.fixture
def extract(read, erp_url):
    """What the shipped SELECT returns now: (vendor, sku) -> row."""

    def _extract():
        settings = {"url": erp_url, "sql_file": sample.SELECT_FILE}
        open_source(ErpSettings(**settings)).check()
        reading = read(**settings)
        assert reading.proof.complete
        rows = {(row["vendor"], row["sku"]): row for row in reading.rows}
        assert len(rows) == len(reading.rows)
        return rows

    return _extract


def without_number(rows):
    return {key: {name: value for name, value in row.items() if name != "row_number"} for key, row in rows.items()}


@settings(deadline=None)
@given(st.text("0123456789", min_size=12, max_size=12) | st.text("0123456789", min_size=7, max_size=7))
def test_a_check_digit_finds_every_single_wrong_digit(digits):
    code = with_check_digit(digits)
    assert is_valid(code)
    for place, digit in enumerate(code):
        wrong = str((int(digit) + 1) % 10)
        assert not is_valid(code[:place] + wrong + code[place + 1 :])


@pytest.mark.parametrize("code", ["4006381333931", "5901234123457", "96385074", "73513537"])
def test_check_digits_are_those_of_known_articles(code):
    assert with_check_digit(code[:-1]) == code


@pytest.mark.slow
def test_the_sample_is_a_whole_chain_with_everything_that_makes_an_integration_stumble(erp_engine, extract):
    created = sample.create(erp_engine, seed=1)
    rows = extract()
    assert created.vendors == tuple(f"store-00{number}" for number in range(1, 7))
    assert Counter(vendor for vendor, _ in rows) == dict.fromkeys(created.vendors, 5000)
    assert created.listings == len(rows) == 30_000
    prices = [Decimal(row["price"]) for row in rows.values()]
    quantities = [Decimal(row["quantity"]) for row in rows.values()]
    barcodes = [row["barcode"] for row in rows.values()]
    assert min(prices) > 0
    assert 0.02 < sum(price != price.quantize(Decimal("0.001")) for price in prices) / len(rows) < 0.3
    assert any(str(price).endswith("0") and price.as_tuple().exponent < -3 for price in prices)
    assert 0.2 < sum(quantity != int(quantity) for quantity in quantities) / len(rows) < 0.5
    assert 0.01 < sum(quantity < 0 for quantity in quantities) / len(rows) < 0.05
    assert 0.03 < sum(quantity == 0 for quantity in quantities) / len(rows) < 0.15
    assert 0.01 < sum(row["active"] == "false" for row in rows.values()) / len(rows) < 0.05
    assert 0.05 < sum(row["max_sales_quantity"] is not None for row in rows.values()) / len(rows) < 0.3
    assert {None, 8, 13} == {barcode and len(barcode) for barcode in barcodes}
    assert all(is_valid(barcode) for barcode in barcodes if barcode)
    skus = {sku for _, sku in rows}
    assert sum(sku.startswith("0") for sku in skus) > 100
    assert sum(sku.upper() in skus for sku in skus if sku.upper() != sku) > 100
    with erp_engine.connect() as connection:
        names = " ".join(connection.exec_driver_sql("SELECT name FROM erp.product").scalars())
        assert all(odd in names for odd in ('"', ";", "'", "🍓", "חלב", "\n", "<b>", "%"))
        assert connection.exec_driver_sql("SELECT count(*) FROM erp.barcode WHERE NOT is_main").scalar() > 100


def test_stock_is_the_sum_of_movements_and_nothing_where_nothing_was_booked(erp_engine, extract):
    sample.create(erp_engine, seed=2, vendors=2, skus_per_vendor=300)
    rows = extract()
    with erp_engine.connect() as connection:
        sums = {(vendor, sku): quantity for vendor, sku, quantity in connection.exec_driver_sql(STOCK)}
    assert {key: Decimal(row["quantity"]) for key, row in rows.items()} == {key: sums.get(key, 0) for key in rows}
    assert len(sums) < len(rows)


def test_a_price_of_the_store_beats_the_chains_and_only_one_that_holds_today_counts(erp_engine, extract):
    sample.create(erp_engine, seed=3, vendors=2, skus_per_vendor=20)
    with erp_engine.begin() as connection:
        first, second = connection.exec_driver_sql(
            "SELECT product_id, item_code FROM erp.product WHERE product_id IN (SELECT product_id FROM erp.listing"
            " GROUP BY product_id HAVING count(*) = 2) ORDER BY 1 LIMIT 2"
        ).all()
        connection.exec_driver_sql("DELETE FROM erp.price")
        connection.execute(
            sa.text(
                "INSERT INTO erp.price (product_id, store_id, amount, valid_from, valid_until) VALUES"
                " (:p, NULL, 1.10, '2024-01-01', NULL), (:p, NULL, 9.99, '2099-01-01', NULL), (:p, NULL, 0.01, '2020-01-01', '2023-12-31'),"
                " (:p, 2, 1.2, '2020-01-01', NULL), (:p, 2, 1.3000, '2021-01-01', NULL), (:p, 2, 7, '2022-01-01', '2022-12-31')"
            ),
            {"p": first.product_id},
        )
        listed = connection.execute(
            sa.text("SELECT list_price FROM erp.product WHERE product_id = :p"), {"p": second.product_id}
        ).scalar()
    rows = extract()
    assert rows["store-001", first.item_code]["price"] == "1.10"
    assert rows["store-002", first.item_code]["price"] == "1.3000"
    assert Decimal(rows["store-001", second.item_code]["price"]) == listed


@pytest.mark.slow
def test_the_same_seed_makes_the_same_erp_and_the_same_day(erp_engine, extract):
    sample.create(erp_engine, seed=4, vendors=2, skus_per_vendor=200)
    first = [extract(), sample.tick(erp_engine, 1), extract(), sample.tick(erp_engine, 2), extract()]
    sample.create(erp_engine, seed=4, vendors=2, skus_per_vendor=200)
    again = [extract(), sample.tick(erp_engine, 1), extract(), sample.tick(erp_engine, 2), extract()]
    assert first == again
    sample.create(erp_engine, seed=5, vendors=2, skus_per_vendor=200)
    assert extract() != first[0]


@pytest.mark.slow
def test_a_tick_changes_little_and_what_it_reports(erp_engine, extract):
    sample.create(erp_engine, seed=1, skus_per_vendor=1000)
    before = without_number(extract())
    ticked = sample.tick(erp_engine, 1)
    after = without_number(extract())
    assert len(set(before) - set(after)) == ticked.delisted == 17
    assert len(set(after) - set(before)) == ticked.listed == 12
    changed = [(before[key], after[key]) for key in set(before) & set(after) if before[key] != after[key]]
    assert 0.01 < len(changed) / len(before) < 0.1
    fields = Counter(name for old, new in changed for name in old if old[name] != new[name])
    assert set(fields) == {"price", "quantity", "active"}
    stock = [Decimal(new["quantity"]) - Decimal(old["quantity"]) for old, new in changed]
    assert sum(delta < 0 for delta in stock) > ticked.sold * 0.8
    assert sum(delta > 0 for delta in stock) > ticked.restocked * 0.8
    invisible = [
        (old, new)
        for old, new in changed
        if old["price"] != new["price"] and int(Decimal(old["price"]) * 1000) == int(Decimal(new["price"]) * 1000)
    ]
    assert len(invisible) >= ticked.repriced_invisibly * 0.6 > 0


def test_of_two_codes_that_differ_in_case_no_tick_lists_one_or_takes_one_out(erp_engine, extract):
    """shelfsync would quarantine the one that came, rightly: nothing tells it from the other, written otherwise."""
    sample.create(erp_engine, seed=1, vendors=2, skus_per_vendor=60)

    def pairs():
        return {(vendor, sku) for vendor, sku in extract() if sku.startswith(("kx", "KX"))}

    before = pairs()
    for seed in range(20):
        sample.tick(erp_engine, seed=seed)
    assert pairs() == before


@pytest.mark.slow
def test_the_platforms_assortment_is_the_erps_but_for_a_few_unknown_skus(erp_engine, extract, sandbox):
    sample.create(erp_engine, seed=1, skus_per_vendor=1000)
    rows = extract()
    known = sample.assortment(erp_engine)
    assert known == sample.assortment(erp_engine)
    keys = {(vendor, product["sku"]) for vendor, products in known.items() for product in products}
    assert keys < set(rows)
    assert 0.005 < 1 - len(keys) / len(rows) < 0.015
    assert {product["sales_buffer"] for products in known.values() for product in products} == {1, 2, 3}
    differing = sum(
        Decimal(product["price"])
        != Decimal(rows[vendor, product["sku"]]["price"]).quantize(Decimal("0.001"), "ROUND_DOWN")
        for vendor, products in known.items()
        for product in products
    )
    assert 0.2 < differing / len(keys) < 0.8
    for vendor, products in known.items():
        sandbox.control("PUT", f"chains/demo-chain/vendors/{vendor}/products", {"products": products})
    held = sandbox.control("GET", "chains/demo-chain/vendors/store-001/products")["products"]
    assert {product["sku"] for product in held} == {product["sku"] for product in known["store-001"]}


def test_unknown_skus_are_as_many_as_asked_for(erp_engine):
    sample.create(erp_engine, seed=1, vendors=1, skus_per_vendor=500)
    assert len(sample.assortment(erp_engine, unknown_share=0.0)["store-001"]) == 500
    assert not any(sample.assortment(erp_engine, unknown_share=1.0).values())


def test_a_schema_of_another_owner_is_left_alone(erp_engine):
    with erp_engine.begin() as connection:
        connection.exec_driver_sql("CREATE SCHEMA erp")
        connection.exec_driver_sql("CREATE TABLE erp.real_thing AS SELECT 1 AS a")
    with pytest.raises(DataError, match="no sample ERP; it was left alone"):
        sample.create(erp_engine)
    with erp_engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT a FROM erp.real_thing").scalar() == 1
