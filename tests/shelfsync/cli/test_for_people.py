"""What a person reads is in the chain's zone and currency; what a script reads is in UTC and bare."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from zoneinfo import ZoneInfo

import pytest

from documents import data

pytestmark = pytest.mark.slow


@pytest.fixture
def chain(here, monkeypatch):
    """A chain in Kathmandu that has prices in dinars: the zone has minutes, and the currency three digits."""
    monkeypatch.setenv("SHELFSYNC_TIME_ZONE", "Asia/Kathmandu")
    monkeypatch.setenv("SHELFSYNC_CURRENCY", "KWD")
    assert here("sync", "--full")[0] == 0
    return here


def test_a_person_reads_the_chains_time_and_currency_and_a_script_utc_and_numbers(chain):
    code, out, _ = chain("explain", "store-001", "a")
    assert code == 0
    assert "1.234 KWD" in out
    assert re.search(r"The ERP has .* \(read at \d\d:\d\d:\d\d \+0545 by run 1\)", " ".join(out.split()))
    assert "UTC" not in out

    local = dt.datetime.now(ZoneInfo("Asia/Kathmandu"))
    assert local.strftime("%Y-%m-%d %H") in chain("runs", "list")[1] or local.minute == 0
    for words in (("explain", "store-001", "a"), ("status",), ("runs", "list")):
        document = chain(*words, "--json")[1]
        assert "+05" not in document
        assert "KWD" not in document
    events = data(chain("explain", "store-001", "a", "--json")[1])["events"]
    assert all(dt.datetime.fromisoformat(event["at"]).utcoffset() == dt.timedelta(0) for event in events)


def test_a_time_that_was_shown_can_be_written_back(chain):
    now = dt.datetime.now(ZoneInfo("Asia/Kathmandu")) + dt.timedelta(minutes=1)
    known = chain("explain", "store-001", "a", "--at", f"{now:%Y-%m-%dT%H:%M}")[1]
    assert "No extract had this store by then" not in known
    hours_ago = f"{now - dt.timedelta(hours=2):%Y-%m-%dT%H:%M}"  # in UTC it would be in the future
    assert "No extract had this store by then" in chain("explain", "store-001", "a", "--at", hours_ago)[1]
    code, _, errors = chain("explain", "store-001", "a", "--at", "soon")
    assert code == 2
    assert "(Asia/Kathmandu)" in errors


def test_a_person_reads_the_name_of_a_product_and_nothing_of_it_is_sent(here, sandbox, tmp_path, monkeypatch):
    skus = [f"s{number:02}" for number in range(60)]
    sandbox.put_products("store-001", [{"sku": sku, "title": "own title", "price": 1, "active": True} for sku in skus])
    monkeypatch.setenv("SHELFSYNC_ERP__COLUMNS", '{"name": "item_text"}')

    def write(price: str, text: str) -> None:
        rows = "".join(f"store-001,{sku},{price},5,1,{text} {sku}\n" for sku in skus)
        header = "vendor,sku,price,quantity,active,item_text\n"
        (tmp_path / "stock.csv").write_text(f"{header}{rows}store-001,odd,1,5,1,Not there\n", encoding="utf-8")

    write("1", "Milk")
    assert here("sync", "--full")[0] == 0
    assert here("explain", "store-001", "s00")[1].startswith("s00 (Milk s00):")
    assert "store-001 odd (Not there): " in here("rejections", "list")[1]
    write("1", "<b>Whole milk</b>")
    assert here("sync")[0] == 0
    assert " 0 SKUs changed, 0 sent" in here("runs", "list")[1].splitlines()[0], "a renamed product is no change"
    assert data(here("explain", "store-001", "s00", "--json")[1])["name"] == "<b>Whole milk</b> s00"
    write("10", "<b>Whole milk</b>")
    here("sync")
    held = here("holds", "show", "1")[1]
    assert "s00 (<b>Whole milk</b> s00)  changed  price 1.00 -> 10.00" in held
    assert all(product["title"] == "own title" for product in sandbox.products("store-001").values())


def test_the_csv_of_rejections_has_every_text_as_it_is(here, tmp_path, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_ERP__COLUMNS", '{"name": "item_text"}')
    text = "vendor,sku,price,quantity,active,item_text\nstore-001,odd,1,5,1,Not\u00a0there\n"
    (tmp_path / "stock.csv").write_text(text, encoding="utf-8")
    assert here("sync", "--full")[0] == 0
    [row] = csv.DictReader(io.StringIO(here("rejections", "list", "--csv")[1], newline=""))
    assert (row["sku"], row["item_text"], row["code"]) == ("odd", "Not\u00a0there", "unknown_sku")
    document = data(here("rejections", "list", "--csv", "--json")[1])
    assert [str(cell) for cell in document["rows"][0][:3]] == ["store-001", "odd", "Not\u00a0there"]
    assert document["columns"] == list(row)
    assert here("rejections", "list", "--csv", "--quiet")[1] == ""
