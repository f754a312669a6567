"""Rejections and quarantine on their pages: grouped, filtered, page by page, as a file; and a rejected SKU sent again."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import openpyxl
import pytest
import sqlalchemy as sa

from shelfsync.pages import lists


def _seven_unknown(world):
    for number in range(5):
        world.erp.put("store-001", f"u{number}", "1.00")
    for number in range(2):
        world.erp.put("store-002", f"x{number}", "2.50")
    world.erp.put("store-001", "bad", "no price")
    world.sync("full")


@pytest.fixture
def rejecting(world_after):
    """Seven SKUs of two vendors that the platform does not know, and a row without a price."""
    return world_after(_seven_unknown)


def rows_of(answer):
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def test_rejected_products_stand_by_reason_with_what_to_do_and_one_is_sent_again(rejecting, browse):
    pages = browse(rejecting.app)
    shown = pages.get("/rejections").text
    assert "product not found" in shown
    assert "Have the product created on the platform" in shown
    assert re.search(r'<td class="n">7<td class="n">2<td class="n">100\.00<td class="id">20', shown), (
        "seven rows of two vendors, ten pieces each, and since when"
    )
    (row,) = re.findall(r'form="again" name="row" value="([^"]*sku=u1)"', shown)
    sent = pages.post("/rejections/release", data={"row": unescape(row), "asked_sku": "u"}, follow_redirects=False)
    assert (sent.status_code, sent.headers["location"]) == (303, "/shelfsync/pages/rejections?sku=u")
    assert "with the next run" in pages.get("/rejections?sku=u").text
    assert rejecting.sync("delta")["rejected"] == 1
    again = pages.post("/rejections/release", data={"row": "vendor=store-001&sku=a"})
    assert (again.status_code, "Nothing was changed" in again.text) == (409, True)


def test_the_value_at_stake_is_the_price_times_the_pieces_that_are_known(rejecting, browse):
    pages = browse(rejecting.app)

    def stake(query):
        shown = pages.get(f"/rejections{query}").text
        return re.findall(r'<td class="n">([\d.,]*)<td class="id">20[^<]+<td class="long">', shown)

    assert (stake(""), stake("?vendor=store-002"), stake("?sku=u3")) == (["100.00"], ["50.00"], ["10.00"])
    with rejecting.app.context.engine.begin() as connection:
        for quantity, sku in ((None, "u1"), (-3, "u2")):
            given = {"quantity": quantity, "sku": sku}
            connection.execute(sa.text("UPDATE ledger.rejection SET quantity = :quantity WHERE sku = :sku"), given)
    assert (stake("?sku=u"), stake("?sku=u1"), stake("?sku=u2")) == (["30.00"], [""], ["0.00"])
    [names, *rows] = rows_of(pages.get("/rejections.csv?vendor=store-001"))
    assert [row[names.index("value_at_stake")] for row in rows] == ["10.000", "", "0.000", "10.000", "10.000"]


LINK = r'<a href="(mailto:[^"]+)">Write to the account manager</a>'


def test_a_letter_to_the_account_manager_is_prepared_about_a_chosen_reason(rejecting, world_after, browse):
    [reason] = set(re.findall(r'\?(reason=[^"]*)"', browse(rejecting.app).get("/rejections").text))
    assert re.search(LINK, browse(rejecting.app).get(f"/rejections?{reason}").text) is None, "no address is set"
    world = world_after(_seven_unknown, rejection={"account_manager": "kam@platform.example"})
    pages = browse(world.app, may_decide=False)
    assert re.search(LINK, pages.get("/rejections").text) is None, "no reason is chosen"
    shown = pages.get(f"/rejections?vendor=store-002&{reason}").text
    letter = urlsplit(unescape(re.search(LINK, shown)[1]))
    assert letter.path == "kam@platform.example"
    fields = parse_qs(letter.query)
    assert fields["subject"] == ["Rejected: 2 products of store-002"]
    assert "\r\n- x0 in store-002\r\n- x1 in store-002\r\n" in fields["body"][0]
    assert fields["body"][0].endswith(f"/shelfsync/pages/rejections?vendor=store-002&{reason}")


def test_a_reason_that_no_product_has_any_more_is_no_empty_page(rejecting, browse):
    assert (
        "The platform rejects no product for this reason now." in browse(rejecting.app).get("/rejections?reason=x").text
    )


def test_who_may_only_look_sends_nothing_again(rejecting, browse):
    pages = browse(rejecting.app, may_decide=False)
    assert "Send again" not in pages.get("/rejections").text
    assert pages.post("/rejections/release", data={"row": "vendor=store-001&sku=u1"}).status_code == 403


@pytest.mark.parametrize(
    ("query", "skus"),
    [
        ("", ["u0", "u1", "u2", "u3", "u4", "x0", "x1"]),
        ("?vendor=store-002", ["x0", "x1"]),
        ("?sku=u3", ["u3"]),
        ("?vendor=store-002&sku=u", []),
        ("?reason=another", []),
    ],
)
def test_the_file_has_the_rows_of_the_filter(rejecting, browse, query, skus):
    [names, *rows] = rows_of(browse(rejecting.app).get(f"/rejections.csv{query}"))
    assert names[:3] == ["vendor", "sku", "name"]
    assert names[8:13] == ["field", "value", "code", "reason", "action"]
    assert [row[1] for row in rows] == skus


@pytest.mark.parametrize("query", ["", "?vendor=store-002", "?reason=another"])
def test_the_workbook_has_the_rows_of_the_file(rejecting, browse, query):
    pages = browse(rejecting.app)
    [names, *rows] = rows_of(pages.get(f"/rejections.csv{query}"))
    [sheet] = openpyxl.load_workbook(io.BytesIO(pages.get(f"/rejections.xlsx{query}").content))
    [head, *found] = sheet.iter_rows(values_only=True)
    assert list(head) == names
    assert [row[:3] for row in found] == [(vendor, sku, name or None) for vendor, sku, name, *_ in rows]


def test_each_page_begins_behind_the_one_before(rejecting, browse, monkeypatch):
    monkeypatch.setattr(lists, "ROWS", 3)
    pages, found, address = browse(rejecting.app), [], "/rejections"
    while address:
        shown = pages.get(address).text
        found.append(re.findall(r"/explain\?vendor=(\S+?)&amp;sku=(\S+?)\"", shown))
        following = re.search(r'href="/shelfsync/pages(/rejections\?[^"]*after=[^"]*)"', shown)
        address = unescape(following.group(1)) if following else None
    assert [len(rows) for rows in found] == [3, 3, 1]
    assert len({row for rows in found for row in rows}) == 7
    assert pages.get("/rejections?after=only-one").status_code == 404
    assert pages.get("/quarantine?after=a&after=no-number&after=c").status_code == 400


def test_quarantined_rows_stand_in_the_order_that_is_asked_for(world, browse, monkeypatch):
    for vendor, sku, price in (
        ("store-001", "z", "no price"),
        ("store-002", "a", "-1.00"),
        ("store-002", None, "1.00"),
        ("store-001", "m", "no price"),
    ):
        world.erp.put(vendor, sku, price)
    world.sync("full")
    monkeypatch.setattr(lists, "ROWS", 1)
    pages = browse(world.app)
    [_, *rows] = rows_of(pages.get("/quarantine.csv"))
    for order, place in (("SKU", 1), ("reason", 3)):
        address, found = f"/quarantine?order={order}", []
        while address:
            shown = pages.get(address).text
            found += re.findall(r'<tr><td class="id"><a[^>]*>([^<]+)</a><td class="id">(?:<a[^>]*>)?([^<]*)<', shown)
            following = re.search(r'href="/shelfsync/pages(/quarantine\?[^"]*after=[^"]*)"', shown)
            address = following and unescape(following.group(1))
        in_order = [row[:2] for row in sorted(rows, key=lambda row: row[place])]  # those alike stay by row
        assert [list(row) for row in found] == in_order, order
        assert [row[:2] for row in rows_of(pages.get(f"/quarantine.csv?order={order}"))[1:]] == in_order


def test_quarantined_rows_stand_by_reason_with_the_row(rejecting, browse):
    pages = browse(rejecting.app)
    shown = pages.get("/quarantine").text
    assert '<td class="long">vendor store-001, sku bad, price no price, quantity 10' in shown
    assert 'store?vendor=store-001">' in shown
    [_, row] = rows_of(pages.get("/quarantine.csv?vendor=store-001"))
    assert row[:2] == ["store-001", "bad"]
    assert "Every row of the ERP could be read with this filter" in pages.get("/quarantine?vendor=store-002").text


def test_a_text_of_the_platform_is_no_formula_and_no_markup(rejecting, browse):
    with rejecting.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.rejection SET reason = '=HYPERLINK(\"x\") <b>'"))
    pages = browse(rejecting.app)
    [names, first, *_] = rows_of(pages.get("/rejections.csv"))
    assert first[names.index("reason")].startswith("'=HYPERLINK")
    [sheet] = openpyxl.load_workbook(io.BytesIO(pages.get("/rejections.xlsx").content))
    [_, first, *_] = sheet.iter_rows()
    reason = first[names.index("reason")]
    assert (reason.value, reason.data_type) == ('=HYPERLINK("x") <b>', "s")
    assert "<b>" not in pages.get("/rejections").text.partition("<main>")[2]


def test_where_nothing_is_rejected_the_page_has_that(world, browse):
    pages = browse(world.app)
    assert "The platform rejects no product." in pages.get("/rejections").text
    assert "Every row of the ERP could be read." in pages.get("/quarantine").text
