"""Holds and the kill switch on their pages: what is shown, and which users may decide."""

from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest

from csv_answer import rows_of

V = "store-001"
COLUMNS = """SELECT column_name FROM information_schema.columns
WHERE table_schema = 'ledger' AND table_name = 'hold' AND column_name <> 'hold_id'"""


def _approve(pages, path="/holds/1/approve", **form):
    """Approves as a person does: looks at what it will do, then confirms it."""
    asked = pages.post(path, data=form)
    assert asked.status_code == 200, asked.text
    return pages.post(path, data={**form, "shown": _mark(asked.text)}, follow_redirects=False)


def _mark(text):
    return re.search(r'name="shown" value="([0-9a-f]+)"', text)[1]


def _held(world):
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in "abc"]
    )
    for sku in "abc":
        world.erp.put(V, sku, "2.00")
    world.sync("full")
    world.erp.put(V, "b", "20.00")
    world.sync("delta")


@pytest.fixture
def held(world_after):
    return world_after(_held)


@pytest.mark.slow
def test_a_hold_is_listed_and_shown_with_all_its_rows(held, browse):
    pages = browse(held.app)
    listed = pages.get("/holds").text
    assert "shifted decimal" in listed
    one = pages.get("/holds/1").text
    assert all(text in one for text in (">b<", "2.00", "20.00", "Approve"))
    assert pages.get("/holds/99").status_code == 404
    assert "/explain?vendor=store-001&amp;sku=b" in one
    assert "hold 1" in pages.get("/explain", params={"vendor": V, "sku": "b"}).text


@pytest.mark.slow
def test_the_rows_of_a_hold_are_a_file_of_all_its_pages(held, browse, monkeypatch):
    for sku, price in (("a", "200.00"), ("b", "20.00"), ("c", "0.02")):
        held.erp.put(V, sku, price)
    held.sync("delta")
    (newest,) = held.rows("SELECT max(hold_id) FROM ledger.hold WHERE superseded_by IS NULL")[0]
    monkeypatch.setattr("shelfsync.pages.holds.ROWS_OF_FILE", 2)
    pages = browse(held.app)
    page = pages.get(f"/holds/{newest}?order=SKU").text
    address = re.search(r'href="[^"]*(/holds/\d+/rows\.csv\?order=SKU)"', page)[1]
    answer = pages.get(address)
    assert answer.headers["content-disposition"] == f'attachment; filename="hold-{newest}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert [(row["sku"], row["price_before"], row["price"]) for row in rows] == [
        ("a", "2.000", "200.000"),
        ("b", "2.000", "20.000"),
        ("c", "2.000", "0.020"),
    ]
    assert float(rows[1]["percent"]) == pytest.approx(900)
    assert pages.get("/holds/99/rows.csv").status_code == 404
    assert pages.get(f"/holds/{newest}/rows.csv?order=nonsense").status_code == 404


@pytest.mark.slow
def test_an_approval_on_the_page_is_sent_by_the_schedule(held, browse):
    pages = browse(held.app)
    asked = pages.post("/holds/1/approve", data={"reason": "<b>"}).text
    assert held.rows("SELECT state FROM ledger.hold") == [("open",)], "the first click only shows what it will do"
    for line in ("1 rows: 1 prices up", "price 2.00", "20.00", "+900.0 %", "value at stake: ", "Reason: &lt;b&gt;"):
        assert line in asked, line
    assert _approve(pages).status_code == 303
    assert held.rows("SELECT state, decided_by FROM ledger.hold") == [("approved", "ada")]
    assert held.shown()["b"]["price"] == 2.0
    held.app.recover()
    held.platform.until_quiescent()
    assert held.shown()["b"]["price"] == 20.0


@pytest.mark.slow
def test_all_holds_of_a_rule_that_the_page_showed_are_decided_together(held, browse):
    for vendor in ("store-002", "store-003"):
        held.platform.put_products(vendor, [{"sku": "b", "barcodes": [], "title": "b", "price": 9.0, "active": True}])
        held.erp.put(vendor, "b", "2.00")
    held.sync("full")
    for vendor in ("store-002", "store-003"):
        held.erp.put(vendor, "b", "20.00")
    held.sync("delta")
    pages = browse(held.app)
    seen = held.app.holds.listed()[0]["hold_id"]
    assert f'name="newest" value="{seen}"' in pages.get("/holds").text
    before_last = {"newest": str(seen - 1), "reason": "a new pack"}
    where = "/holds/rules/shifted_decimal/approve"
    assert pages.post(where, data={"newest": str(seen - 1)}).status_code == 400, "many need a reason"
    done = _approve(pages, where, **before_last)
    assert done.status_code == 303
    states = held.rows("SELECT state, decided_by FROM ledger.hold WHERE superseded_by IS NULL ORDER BY hold_id")
    assert states == [("approved", "ada"), ("approved", "ada"), ("open", None)], "the last one came after the page"
    assert pages.post("/holds/rules/shifted_decimal/decline", data=before_last).status_code == 409
    last = pages.post("/holds/rules/shifted_decimal/decline", data={"newest": str(seen)}, follow_redirects=False)
    assert last.status_code == 303
    assert "No hold waits" in pages.get("/holds").text


def test_a_user_who_may_only_look_decides_nothing(held, browse):
    pages = browse(held.app, may_decide=False, may_stop=False)
    assert "Approve" not in pages.get("/holds/1").text
    assert pages.post("/holds/1/approve").status_code == 403
    assert pages.post("/holds/rules/shifted_decimal/approve", data={"newest": "1"}).status_code == 403
    assert pages.post("/switches/pause", data={"scope": "all", "reason": "x"}).status_code == 403
    assert held.rows("SELECT state FROM ledger.hold") == [("open",)]
    assert held.app.switches()["paused"] == []


@pytest.mark.slow
def test_a_pause_is_shown_on_every_page_until_it_is_resumed(held, browse):
    pages = browse(held.app)
    assert pages.post("/switches/pause", data={"scope": "all", "reason": ""}).status_code == 400
    assert (
        pages.post("/switches/pause", data={"scope": "vendor", "vendor": "unknown", "reason": "x"}).status_code == 400
    )
    pages.post("/switches/pause", data={"scope": "vendor", "vendor": V, "reason": "stock-taking <b>"})
    for where in ("/", "/switches", "/holds", "/explain", "/orders"):
        assert pages.get(where).text.count("stock-taking &lt;b&gt;") == (3 if where == "/switches" else 1), where
    pages.post("/switches/resume", data={"scope": "vendor", "vendor": V})
    assert "Nothing is paused" in pages.get("/switches").text


def _after(pages, path, **form):
    """Where a form leads to."""
    return pages.post(path, data=form, follow_redirects=True)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["declined", "expired"])
def test_a_decided_hold_is_approved_only_after_it_was_reopened_with_a_reason(held, browse, how):
    pages = browse(held.app)
    before = _mark(pages.post("/holds/1/approve").text)
    if how == "declined":
        _after(pages, "/holds/1/decline", reason="a typing error")
    else:
        held.app.holds.expire(1)
    late = _after(pages, "/holds/1/approve", reason="the other window", shown=before)
    assert (late.status_code, f"is {how} by " in late.text, "nothing was done" in late.text) == (409, True, True)
    one = pages.get("/holds/1").text
    assert "Approve: " not in one
    assert "the other window" in one, "the history keeps the late answer"
    assert _after(pages, "/holds/1/reopen", reason=" ").status_code == 400
    _after(pages, "/holds/1/reopen", reason="asked the buyers")
    anew = _after(pages, "/holds/1/approve", reason="right after all", shown=before)
    assert (anew.status_code, "has changed since it was shown" in anew.text) == (409, True), (
        "shown before the reopening"
    )
    assert held.rows("SELECT state FROM ledger.hold") == [("open",)]
    _after(pages, "/holds/1/approve", reason="right after all", shown=_mark(anew.text))
    assert held.rows("SELECT state, why FROM ledger.hold") == [("approved", "right after all")]
    decline = _after(pages, "/holds/1/decline", reason="no")
    assert (decline.status_code, "is approved by ada at " in decline.text) == (409, True)
    decisions = pages.get("/holds/1").text.partition('<table id="decisions">')[2]
    assert decisions.index(how) < decisions.index("asked the buyers") < decisions.index("right after all")


@pytest.mark.slow
def test_the_page_shows_what_was_compared_when_it_was_asked(held, browse):
    pages = browse(held.app)
    _approve(pages)
    held.app.recover()
    held.platform.until_quiescent()
    held.app.recover()
    assert held.shown()["b"]["price"] == 20.0
    assert '<td class="n">2.00<td class="n">20.00' in pages.get("/holds/1").text
    assert "rows that always pass 0, share of all rows that passes 0" in pages.get("/holds/1").text


@pytest.mark.slow
def test_the_page_takes_thresholds_for_once(held, browse):
    pages = browse(held.app)
    for form, wrong in (
        ({}, "no threshold was given"),
        ({"threshold_max_rows": "many"}, "is no number"),
        ({"threshold_max_share": "nan"}, "is no number"),
        ({"threshold_max_share": "2"}, "these thresholds are invalid"),
        ({"threshold_max_rows": "0"}, "these thresholds are the present ones"),
    ):
        answer = _after(pages, "/holds/1/reconsider", **form)
        assert (answer.status_code, wrong in answer.text) == (400, True), form
    assert held.rows("SELECT state FROM ledger.hold") == [("open",)]
    given = {"threshold_max_rows": "5", "threshold_max_share": "", "reason": "packs of ten <b>"}
    _approve(pages, "/holds/1/reconsider", **given)
    assert held.rows("SELECT state, decided_by FROM ledger.hold") == [("approved", "ada")]
    one = pages.get("/holds/1").text
    assert "rows that always pass 5, share of all rows that passes 0<td>packs of ten &lt;b&gt;" in one


@pytest.mark.slow
def test_a_decision_that_comes_too_late_is_reported(held, browse):
    pages = browse(held.app)
    held.erp.put(V, "b", "2.10")
    held.sync("delta")
    answer = _after(pages, "/holds/1/approve", reason="x")
    assert answer.status_code == 409
    assert "superseded by the newer extract of run 3" in answer.text
    assert "Approve" not in pages.get("/holds/1").text


@pytest.mark.slow
def test_the_rows_of_a_hold_have_percent_and_value_and_are_sorted_by_them(world, browse):
    """One price goes up a hundredfold with a stock of 1, the other tenfold with a stock of 1,000."""
    rows = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in "abcd"]
    world.platform.put_products(V, rows)
    for sku, quantity in (("a", 1000), ("b", 1), ("c", 1), ("d", 1)):
        world.erp.put(V, sku, "2.00", quantity)
    world.sync("full")
    world.erp.put(V, "a", "20.00", 1000)
    world.erp.put(V, "b", "200.00", 1)
    world.sync("delta")
    pages = browse(world.app)
    number = max(hold["hold_id"] for hold in world.app.holds.listed() if hold["rows"] == 2)
    for order, skus in (("largest move", ["b", "a"]), ("value", ["a", "b"]), ("SKU", ["a", "b"])):
        shown = pages.get(f"/holds/{number}", params={"order": order}).text
        assert re.findall(r"/explain\?vendor=store-001&amp;sku=(\w)\"", shown) == skus
    assert "+9,900.0 %" in shown
    assert "+900.0 %" in shown
    assert '<td class="n">18,000.00' in shown, "the change of the price times the stock, as every sum"
    assert re.findall(r'<th scope="col" class="n">([^<]+)', shown)[:4] == [
        "price before",
        "price",
        "in percent",
        "value",
    ]
    listed = pages.get("/holds", params={"order": "share of the store", "vendor": V}).text
    assert "50.0 %" in listed
    assert pages.get("/holds.csv?state=open").text.count("store-001") >= 1
    assert "There is no such hold." in pages.get("/holds?state=expired").text
    assert pages.get(f"/holds/{number}?order=x").status_code == 404


def test_a_product_is_found_in_a_hold_by_the_begin_of_its_sku(held, browse):
    for sku in "abc":
        held.erp.put(V, sku, "200.00")
    held.sync("delta")
    (number,) = held.rows("SELECT max(hold_id) FROM ledger.hold WHERE superseded_by IS NULL")[0]
    pages = browse(held.app)
    for begin, skus in (("", ["a", "b", "c"]), ("b", ["b"]), ("B", []), ("%", [])):
        shown = pages.get(f"/holds/{number}", params={"sku": begin}).text
        assert re.findall(r"/explain\?vendor=store-001&amp;sku=(\w+)\"", shown) == skus, begin
    shown = pages.get(f"/holds/{number}?sku=b&order=SKU").text
    assert 'name="sku" maxlength="255" value="b"' in shown
    address = re.search(r'href="[^"]*(/holds/\d+/rows\.csv\?[^"]*)"', shown)[1]
    assert [row["sku"] for row in rows_of(pages.get(unescape(address)))] == ["b"]


@pytest.mark.slow
def test_an_open_hold_is_shown_however_many_newer_ones_are_decided(held, browse):
    columns = [name for (name,) in held.rows(COLUMNS)]
    values = ", ".join("'declined'" if name == "state" else name for name in columns)
    copies = f"INSERT INTO ledger.hold ({', '.join(columns)}) SELECT {values} FROM ledger.hold, generate_series(1, 220)"
    with held.app.context.engine.begin() as connection:
        connection.exec_driver_sql(copies)
    pages = browse(held.app)
    assert "No hold waits" not in pages.get("/holds").text
    assert '/holds/1">1</a>' in pages.get("/holds").text
    with held.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.hold SET state = 'open'")
    assert len(held.app.holds.listed("open")) == 221
