"""Campaigns as real chains have them: club, coupon, mix, doubled rows."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promotion_rows import normal, raw, reasons
from promotion_shop import STORES
from shelfsync.promotions.guard import guard
from shelfsync.promotions.head import Heads
from shelfsync.promotions.normalise import normalise, quarantined
from shelfsync.promotions.quarantine_reason import REASONS
from shelfsync.promotions.schemas import ASSORTMENT
from shelfsync.promotions.steps.new_work import vendors_with_new_prices
from shelfsync.promotions.validate import validate
from shelfsync.rows.resembled_sku import Known
from shelfsync.settings import PromotionSettings

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "promotions.md"


def test_equal_rows_are_one_row_and_rows_that_contradict_each_other_are_quarantined():
    found = normal(
        {"sku": "a", "price": "8"},
        {"sku": "a", "price": "8.00", "discount_type": "final_price"},
        {"sku": "a", "price": "8.0004"},
        {"sku": "b", "price": "8"},
        {"sku": "b", "price": "7"},
        {"sku": "c", "price": "8"},
        {"sku": "c", "price": "6", "audience": "club"},
        {"sku": "d", "price": "8"},
        {"sku": "d", "price": "8,5"},
        {"sku": "e", "price": "x"},
        {"sku": "e", "price": "x"},
    )
    assert found.rows["row_number"].to_pylist() == [1, 6]
    assert found.repeated == 2
    contradictions = dict.fromkeys("bd", "sku_duplicate")
    assert reasons(found) == {**contradictions, "c": "club_only", "e": "price_not_a_number"}
    assert normal({"sku": "a"}, {"sku": "a", "end_time": "2026-03-10T10:00:00Z"}).rows.num_rows == 2


ASSORTED = pa.Table.from_pylist(
    [{"sku": sku, "price": Decimal(10), "active": True, "cost": Decimal(4)} for sku in "abcdef"], schema=ASSORTMENT
)


@pytest.mark.parametrize(
    ("bought", "discounted", "subtype", "value", "rules"),
    [
        (1, 1, "PERCENTAGE", "100", set()),  # half price
        (1, 1, "ABSOLUTE", "9.99", set()),
        (2, 1, "FINAL_PRICE", "0.01", set()),  # 20.01 for three
        (1, 2, "PERCENTAGE", "100", {"offer_below_cost"}),  # a third of the price
        (1, 3, "PERCENTAGE", "100", {"discount", "offer_below_cost"}),
        (None, None, "PERCENTAGE", "71", {"discount", "offer_below_cost"}),
        (None, None, "FINAL_PRICE", "3.5", {"offer_below_cost"}),
    ],
)
def test_the_reduction_of_a_bundle_counts_over_all_its_pieces(bought, discounted, subtype, value, rules):
    kind = {} if bought is None else {"type": "SAME_ITEM_BUNDLE", "purchased_quantity": str(bought)}
    kind |= {} if discounted is None else {"discounted_quantity": str(discounted)}
    settings = PromotionSettings(values="spec")
    heads = Heads(settings)
    rows = normalise(raw({"price": value, "discount_type": subtype, **kind}), heads, settings, sku_length_max=9).rows
    guarded = guard(rows, heads.all, ASSORTED, settings, vendor="v", approved=lambda _: ())
    assert {hold.rule for hold in guarded.holds} == rules


def at(day: int) -> str:
    return f"2026-03-{day:02}T10:00:00Z"


def campaign(name: str, price: str, first: int, last: int, **more: Any) -> dict[str, Any]:
    return {"campaign": name, "price": price, "name": name, "start_time": at(first), "end_time": at(last), **more}


LONG, WEEKEND = campaign("long", "8", 1, 28), campaign("weekend", "7", 6, 8)
DEAR, TWIN = campaign("dear", "9", 5, 9), campaign("twin", "7.5", 1, 28)
PLUS = campaign("plus", "50", 1, 28, type="SAME_ITEM_BUNDLE", purchased_quantity="1", discounted_quantity="1", discount_type="PERCENTAGE")  # fmt: skip
FREE = PLUS | {"campaign": "free", "price": "100", "purchased_quantity": "1", "discounted_quantity": "4"}
MEANT = DEAR | {"overlap": "true"}


@pytest.mark.parametrize(
    ("rule", "rows", "run"),
    [
        ("earliest", (WEEKEND, LONG), {"long"}),
        ("earliest", (LONG, MEANT), {"long", "dear"}),
        ("earliest", (LONG, TWIN), {"long"}),
        ("later_start_wins", (LONG, DEAR), {"long", "dear"}),
        ("lowest_price", (LONG, WEEKEND), {"long", "weekend"}),  # the later start wins while both last
        ("lowest_price", (LONG, DEAR), {"long"}),
        ("lowest_price", (LONG, TWIN), {"twin"}),
        ("lowest_price", (LONG, TWIN, WEEKEND, DEAR), {"twin", "weekend"}),
        ("lowest_price", (LONG, PLUS), {"plus"}),  # 7.50 a piece
        ("lowest_price", (LONG, MEANT), {"long", "dear"}),
        ("lowest_price", (campaign("next", "9", 28, 30), LONG), {"next", "long"}),
        ("highest_discount", (LONG, PLUS), {"plus"}),  # 5 off two pieces
        ("highest_discount", (FREE, campaign("cheap", "1.5", 1, 28)), {"free"}),  # 40 off five, 8.50 off one
        ("lowest_price", (FREE, campaign("cheap", "1.5", 1, 28)), {"cheap"}),  # 2 a piece, 1.50 a piece
    ],
)
def test_a_sku_in_several_campaigns_has_the_price_of_the_rule(rule, rows, run):
    found = overlapping(*rows, rule=rule)
    assert {row["campaign"] for row in rows} - set(found) == run


def test_the_message_of_an_overlap_names_winner_loser_prices_and_period():
    period = "(2026-03-05 10:00 to 2026-03-09 10:00 UTC)"
    assert overlapping(PLUS, DEAR, rule="lowest_price") == {
        "dear": "SKU a: campaign plus at 1 + 1 at 50 % off (2026-03-01 10:00 to 2026-03-28 10:00 UTC) wins over campaign dear"
        f" at 9.00 {period} by the rule lowest_price (SHELFSYNC_PROMOTIONS__OVERLAP)"
    }


def test_a_campaign_that_is_over_wins_over_none():
    over = campaign("over", "5", 1, 7)
    assert set(overlapping(over, WEEKEND, rule="earliest")) == {"weekend"}
    assert overlapping(over, WEEKEND, rule="earliest", now=dt.datetime(2026, 3, 7, 12, tzinfo=dt.UTC)) == {}


def overlapping(*rows: dict[str, Any], rule: Any, now: dt.datetime | None = None) -> dict[str, str]:
    """Campaign -> message of the rows that lose, at a base price of 10."""
    own = PromotionSettings(values="spec", overlap=rule)
    heads, table = Heads(own), raw(*rows)
    found = normalise(table, heads, own, sku_length_max=255)
    judged = validate(found.rows, heads, ASSORTED, rule=rule, now=now)
    lost = quarantined(table, judged.row_numbers, judged.reasons, judged.messages).to_pylist()
    assert {row["reason"] for row in lost} <= {"overlap"}
    return {rows[row["row_number"] - 1]["campaign"]: row["message"] for row in lost}


def priced(*rows: dict[str, Any], base: dict[str, Any], **settings: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """(SKU -> (bought, discounted, subtype, value), SKU -> reason) of the rows at a vendor with these base prices."""
    own = PromotionSettings(**{"values": "spec", **settings})
    heads = Heads(own)
    table = raw(*rows)
    found = normalise(table, heads, own, sku_length_max=255)
    prices = [
        dict.fromkeys(("price", "price_max"), None if price is None else Decimal(price)) | {"sku": sku}
        for sku, price in sorted(base.items())
    ]
    judged = validate(found.rows, heads, pa.Table.from_pylist(prices, schema=ASSORTMENT))
    sent = {}
    for row in judged.rows.to_pylist():
        head = heads.all[row["head"]]
        value = row["value"].normalize()
        sent[row["sku"]] = (head.purchased_quantity, head.discounted_quantity, row["subtype"], value)
    faulty = quarantined(table, judged.row_numbers, judged.reasons)
    return sent, reasons(found) | {row["sku"]: row["reason"] for row in faulty.to_pylist()}


def test_several_pieces_for_a_price_are_the_bundle_that_fits_the_base_price():
    base = {"a": "8", "b": "12", "c": "10", "d": "6.66", "e": "25", "f": "7"}
    sent, quarantined = priced(*({"sku": sku, "price": "20", "pieces": "3"} for sku in "abcdefx"), base=base)
    assert sent == {
        "a": (2, 1, "FINAL_PRICE", Decimal(4)),
        "b": (1, 2, "FINAL_PRICE", Decimal(4)),
        "c": (2, 1, "PERCENTAGE", Decimal(100)),
        "f": (2, 1, "FINAL_PRICE", Decimal(6)),
    }
    assert quarantined == {"d": "price_not_below_base", "e": "bundle_below_one_piece", "x": "base_price_unknown"}
    assert priced({"price": "20", "pieces": "3"}, base={"a": "8"}, values="interface") == (
        {},
        {"a": "bundle_not_offered"},
    )
    assert priced({"price": "20", "pieces": "3", "condition": "mix"}, base={"a": "8"})[1] == {"a": "mix"}


@pytest.mark.slow
@given(
    pieces=st.integers(2, 12),
    total=st.decimals("0.01", "99", places=2),
    base=st.decimals("0.01", "99", places=3),
)
def test_a_bundle_never_costs_more_than_announced_and_less_by_a_fraction_of_a_cent_alone(pieces, total, base):
    sent, quarantined = priced({"price": str(total), "pieces": str(pieces)}, base={"a": str(base)})
    assert quarantined.get("a") == (
        "price_not_below_base" if total >= pieces * base else "bundle_below_one_piece" if total < base else None
    )
    if sent:
        bought, discounted, subtype, value = sent["a"]
        assert bought >= 1
        assert bought + discounted == pieces
        cost = bought * base + discounted * (value if subtype == "FINAL_PRICE" else 0)
        assert total - Decimal("0.001") * pieces < cost <= total


@pytest.mark.slow
def test_a_campaign_that_loses_a_sku_does_not_keep_it_on_the_platform(make_shop):
    shop = make_shop(promotions={"overlap": "lowest_price"})
    shop.erp.put("long", "a", "8", start=-2, end=48)
    shop.erp.put("long", "b", "8", start=-2, end=48)
    shop.sync()
    shop.erp.put("better", "a", "7", start=-3, end=24)
    shop.erp.put("later", "b", "6", start=-1, end=24)
    summary = shop.sync()
    assert shop.seen() == {"a": 7.0, "b": 6.0}
    assert shop.rows(
        "SELECT sku FROM warehouse.promotion_sku JOIN warehouse.promotion USING (promotion_id) WHERE campaign = 'long'"
    ) == [("b",)]
    assert any(
        "1 rows lose to another campaign" in line and "campaign better at 7" in line for line in summary["lines"]
    )
    assert shop.sync()["counts"]["requests"] == 0


def test_a_row_whose_base_price_is_unknown_waits():
    rows = [{"sku": "a"}, {"sku": "b", "base_price": "9"}, {"sku": "c", "base_price": "8"}]
    sent, waits = priced(*rows, base={})
    assert (set(sent), waits) == ({"b"}, {"a": "base_price_unknown", "c": "price_not_below_base"})
    assert set(priced({"sku": "a"}, {"sku": "elsewhere"}, base={"a": "10"})[0]) == {"a", "elsewhere"}, (
        "the assortment of the day does not decide"
    )
    assert priced({"sku": "a"}, {"sku": "b"}, base={"a": None, "b": "10"})[1] == {"a": "base_price_unknown"}


@pytest.mark.slow
def test_promotions_wait_for_the_catalog_of_their_vendor(shop):
    for vendor in ("store-001", "store-009"):
        shop.erp.put("c1", "a", "8", vendor=vendor)
    summary = shop.sync()
    assert (shop.seen(), summary["counts"]["rows_waiting"]) == ({"a": 8.0}, 1)
    assert (
        "1 rows wait for base prices of 1 vendors (store-009): sync their catalog with `shelfsync sync`, correct a SKU that no store has, or give base_price"
        in summary["lines"]
    )
    assert [row["vendors"] for row in shop.portal()] == [["store-001"]]


@pytest.mark.slow
def test_a_base_price_that_a_campaign_waits_for_is_reported_until_it_is_planned(shop):
    context = shop.world.app.context
    shop.erp.put("c1", "a", "8", vendor="store-004")
    shop.erp.put("c1", "nowhere", "8", vendor="store-004")
    shop.sync()
    assert vendors_with_new_prices(context) == []
    shop.world.platform.put_products(
        "store-004", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}]
    )
    shop.world.erp.put("store-004", "a", "10.00")
    shop.world.sync()
    assert vendors_with_new_prices(context) == ["store-004"]
    shop.sync()
    assert vendors_with_new_prices(context) == [], "what still waits starts nothing"


@pytest.mark.slow
def test_three_for_twenty_follows_the_base_price_of_each_store(make_shop):
    shop = make_shop(promotions={"values": "spec"})
    shop.world.erp.put("store-002", "a", "12.00")
    shop.world.sync()
    shop.erp.put("c1", "a", "24", vendor=None, pieces="3")
    shop.erp.put("c1", "b", "28", vendor=None, pieces="3")
    assert shop.sync()["state"] == "succeeded"
    shown = {vendor: shop.seen(vendor) for vendor in STORES}
    assert shown == {
        "store-001": {"a": 4.0, "b": 8.0},
        "store-002": {"a": 0.0, "b": 8.0},
        "store-003": {"a": 4.0, "b": 8.0},
    }
    assert shop.sync()["counts"]["requests"] == 0


@pytest.mark.slow
def test_a_campaign_for_the_club_is_not_offered_and_one_that_becomes_so_ends(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c1", "b", "8")
    shop.erp.put("c2", "c", "7", audience="club")
    shop.erp.put("c3", "d", "7")
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 8.0, "d": 7.0}
    shop.erp.put("c1", "b", "8", condition="coupon")
    shop.erp.change("c3", audience="club")
    summary = shop.sync()
    assert shop.seen() == {"a": 8.0}
    assert summary["counts"]["rows_not_expressible"] == 3
    assert "the platform cannot express 3 rows, so they are not offered: 2 club_only, 1 coupon" in summary["lines"]


@pytest.mark.slow
def test_an_extract_without_a_proof_ends_what_it_gives_to_the_club(make_shop, tmp_path):
    file = tmp_path / "promotions.csv"
    shop = make_shop(promotions={"sql": None, "files": str(file)})

    def write(*rows: str) -> None:
        window = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"
        lines = [f"{row},Offer {row[:2]},{window}\n" for row in rows]
        file.write_text(f"campaign,vendor,sku,price,audience,name,start_time,end_time\n{''.join(lines)}", "utf-8")

    write("c1,store-001,a,8,all", "c1,store-001,b,8,all", "c1,store-001,c,8,all", "c2,store-001,d,8,all")
    shop.sync()
    write("c1,store-001,a,8,all", "c1,store-001,b,8,club", "c2,store-001,d,8,club")
    shop.sync()
    assert shop.seen() == {"a": 8.0, "c": 8.0}


def test_the_page_has_every_reason():
    page = PAGE.read_text("utf-8").partition("## What is not sent")[2].partition("\n## ")[0]
    assert {reason.word for reason in REASONS} <= set(re.findall(r"`(\w+)`", page))


def test_a_sku_that_only_looks_like_a_known_one_is_quarantined_and_the_platform_keeps_its_values_of_that_one():
    own = PromotionSettings()
    rows = raw({"sku": "a\u200b"}, {"sku": "'b"}, {"sku": "c"}, {"sku": "odd\u00a0"}, {"sku": "C"})
    known = Known(observed=lambda: pa.array(["a", "b", "c", "odd\u00a0"]), whole=False)
    found = normalise(rows, Heads(own), own, sku_length_max=255, known=known)
    assert found.rows["sku"].to_pylist() == ["c", "odd\u00a0", "C"]
    assert reasons(found) == {"a": "sku_invisible_character", "b": "sku_quoted"}
    assert "ZERO WIDTH SPACE (U+200B)" in found.quarantine["message"][0].as_py()
    assert found.kept["sku"].to_pylist() == ["a", "b"]
