"""Accidents of an ERP that writes files, as they really come: cut in the middle, a decimal comma that became a thousands sign, another
currency, last week's file. The platform never gets a wrong value, and the correct rows are sent."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa

from shelfsync.errors import IncompleteExtractError

V = "store-001"
SKUS = [f"{7290000000000 + number * 11}" for number in range(120)]
HEADER = "vendor,sku,price,quantity,active"


def row(number: int, price: Decimal, quantity: int = 10) -> str:
    return f"{V},{SKUS[number]},{price:.2f},{quantity},1"


def price_of(number: int) -> Decimal:
    return Decimal(199 + 13 * number) / 100


@pytest.fixture
def shop(make_world, tmp_path):
    """A store of 120 products that come as one file; `shop.write(rows)` is the ERP's next export."""
    file = tmp_path / "export.csv"
    lines = [row(number, price_of(number)) for number in range(len(SKUS))]
    file.write_text("\n".join([HEADER, *lines]) + "\n", "utf-8")
    world = make_world(erp={"url": None, "sql": None, "files": str(file)})
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 1.0, "active": True} for sku in SKUS]
    )
    assert world.sync("full")["accepted"] == len(SKUS)
    return world, file, lines


def stored_prices(world) -> dict[str, set[Decimal]]:
    """Every price that the platform received, from its own storage."""
    statement = "SELECT sku, price_milli FROM job_item WHERE price_milli IS NOT NULL"
    found: dict[str, set[Decimal]] = {}
    with world.platform._server.sandbox.storage.begin() as connection:
        for sku, milli in connection.execute(sa.text(statement)):
            found.setdefault(sku, set()).add(Decimal(milli) / 1000)
    return found


def on_sale(world) -> int:
    return sum(product["active"] for product in world.shown(V).values())


def approve(world) -> None:
    (hold,) = world.app.holds.listed("open")
    world.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    world.app.holds.deliver(hold["hold_id"])
    world.platform.until_quiescent()


@pytest.mark.slow
def test_a_file_that_ends_within_a_row_is_not_read_at_all(shop):
    world, file, _ = shop
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2 - 3])
    before = len(world.sent())
    with pytest.raises(IncompleteExtractError, match="cut in the middle of the row"):
        world.sync("delta")
    assert len(world.sent()) == before
    file.write_bytes(whole)
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_file_cut_between_two_rows_switches_nothing_off(shop):
    """Nothing proves that such a file is complete, so missing rows are not switched off. Its own rows are delivered."""
    world, file, lines = shop
    half = [HEADER, row(0, price_of(0) + Decimal("0.10")), *lines[1:60]]
    file.write_text("\n".join(half) + "\n", "utf-8")
    assert world.sync("delta")["accepted"] == 1
    assert on_sale(world) == len(SKUS)
    assert stored_prices(world)[SKUS[0]] == {price_of(0), price_of(0) + Decimal("0.10")}


@pytest.mark.slow
def test_a_cut_file_whose_control_file_agrees_waits_for_a_person(shop, make_world, tmp_path):
    """The export broke off and counted what it had written: the proof is there, and it is wrong."""
    _, file, lines = shop
    control = tmp_path / "export.count"
    world = make_world(erp={"url": None, "sql": None, "files": str(file), "control_file": str(control)})
    file.write_text("\n".join([HEADER, row(0, price_of(0) + Decimal("0.10")), *lines[1:60]]) + "\n", "utf-8")
    control.write_text("60", "utf-8")
    assert world.sync("delta")["accepted"] == 1
    assert [(hold["rule"], hold["rows"]) for hold in world.app.holds.listed("open")] == [("mass_removal", 60)]
    assert on_sale(world) == len(SKUS)
    approve(world)
    assert on_sale(world) == 60


@pytest.mark.slow
def test_a_comma_read_as_thousands_reaches_no_customer(shop):
    """The till writes 1,99 and a converter drops the comma in a part of the file. One other product is sold out."""
    world, file, lines = shop
    wrong = [row(number, price_of(number) * 100, 0 if number == 7 else 10) for number in range(40)]
    file.write_text("\n".join([HEADER, *wrong, *lines[40:]]) + "\n", "utf-8")
    world.sync("delta")
    assert [(hold["rule"], hold["rows"]) for hold in world.app.holds.listed("open")] == [("shifted_decimal", 40)]
    assert stored_prices(world) == {sku: {price_of(number)} for number, sku in enumerate(SKUS)}
    assert world.shown(V)[SKUS[7]]["active"] is False, "a stop-sell never waits for a price"
    approve(world)
    assert stored_prices(world)[SKUS[3]] == {price_of(3), price_of(3) * 100}


@pytest.mark.slow
def test_a_price_list_in_another_currency_reaches_no_customer(shop):
    world, file, _ = shop
    dollars = [row(number, price_of(number) * Decimal("1.09"), 3 if number == 5 else 10) for number in range(len(SKUS))]
    file.write_text("\n".join([HEADER, *dollars]) + "\n", "utf-8")
    assert world.sync("delta")["accepted"] == 1
    assert [(hold["rule"], hold["rows"]) for hold in world.app.holds.listed("open")] == [("mass_repricing", 120)]
    assert stored_prices(world) == {sku: {price_of(number)} for number, sku in enumerate(SKUS)}


@pytest.mark.slow
def test_last_weeks_file_brings_no_price_of_last_week_back(shop):
    world, file, lines = shop
    last_week = file.read_bytes()
    dearer = [row(number, price_of(number) + Decimal("0.10")) for number in range(40)]
    file.write_text("\n".join([HEADER, *dearer, *lines[40:]]) + "\n", "utf-8")
    assert world.sync("delta")["accepted"] == 40
    before = len(world.sent())
    file.write_bytes(last_week)
    world.sync("delta")
    assert [hold["rule"] for hold in world.app.holds.listed("open")] == ["duplicate_feed"]
    assert len(world.sent()) == before
    file.write_text("\n".join([HEADER, *dearer, row(40, price_of(40), 2), *lines[41:]]) + "\n", "utf-8")
    assert world.sync("delta")["accepted"] == 1, "the right file is delivered, and nothing is left to decide"
    assert world.app.holds.listed("open") == []
