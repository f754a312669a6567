"""The runs on their pages: each number of a run has as many rows behind it, and a list begins behind the one before."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape

import pytest

from csv_answer import rows_of
from shelfsync.catalog.steps import run_history
from shelfsync.catalog.steps.rows_of_run import Stage
from shelfsync.pages import runs


def product(sku):
    return {"sku": sku, "barcodes": [], "title": sku.upper(), "price": 9.0, "active": True}


def _chain(world):
    world.platform.put_products("store-001", [product(f"a{number}") for number in range(6)])
    for number in range(6):
        world.erp.put("store-001", f"a{number}", "1.00")
    world.erp.put("store-001", "unknown", "1.00")
    world.erp.put("store-001", "bad", "no price")
    world.sync("full")
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "900.00")
    world.erp.put("store-001", "a4", "1.10")
    world.sync("delta")
    world.app.export("test/export", (), progress=lambda *_: None)


@pytest.fixture
def chain(world_after):
    """A full run of eight rows, one without a price; a delta with four held prices, one that goes, and a stop-sell."""
    return world_after(_chain)


def numbers(text):
    """stage -> the number that the page shows."""
    return dict(re.findall(r'rows\.csv\?stage=(\w+)">\w+</a><td class="n">([\d,]+)', text))


@pytest.mark.slow
def test_every_number_of_a_run_has_its_rows_and_is_that_of_the_command_line(chain, browse, monkeypatch):
    monkeypatch.setattr(runs, "ROWS_OF_FILE", 2)
    pages = browse(chain.app)
    for number in (1, 2):
        shown, run = numbers(pages.get(f"/runs/{number}").text), chain.app.run(number)
        assert list(shown) == [str(stage) for stage in Stage]
        for stage, name in runs._COUNTS.items():
            assert shown[stage] == str(run[name]), stage
        for stage, count in shown.items():
            rows = rows_of(pages.get(f"/runs/{number}/rows.csv?stage={stage}"))
            assert len(rows) == int(count), (number, stage)
            assert {row["vendor"] for row in rows} <= {"store-001"}
    [held] = {row["price"] for row in rows_of(pages.get("/runs/2/rows.csv?stage=held"))}
    assert held == "900.000"
    assert "SHELFSYNC_" not in pages.get("/runs/2").text
    [rejected] = rows_of(pages.get("/runs/1/rows.csv?stage=rejected"))
    assert (rejected["sku"], bool(rejected["reason"])) == ("unknown", True)
    for row in rows_of(pages.get("/runs.csv")):
        told = chain.app.run(int(row["run_id"]))
        assert {name: row[name] for name in run_history._NONE} == {name: str(told[name]) for name in run_history._NONE}
    assert pages.get("/runs?kind=full").text.count("/shelfsync/pages/runs/") == 1
    assert pages.get("/runs/99").status_code == 404
    assert pages.get("/runs/99/rows.csv?stage=held").status_code == 404
    assert pages.get("/runs/1/rows.csv?stage=nonsense").status_code == 400


@pytest.mark.slow
def test_rows_that_are_no_longer_kept_are_an_answer_in_words(chain, browse):
    with chain.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.vendor_run SET delta_path = 'delta/store-001/gone.parquet'")
    answer = browse(chain.app).get("/runs/1/rows.csv?stage=changed")
    assert (answer.status_code, "no longer kept" in answer.text) == (404, True)


def test_if_the_rows_of_one_store_are_no_longer_kept_no_half_of_a_file_is_sent(world, browse):
    for vendor in ("store-001", "store-002"):
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE ledger.vendor_run SET delta_path = 'delta/store-002/gone.parquet' WHERE vendor = 'store-002'"
        )
    pages = browse(world.app)
    answer = pages.get("/runs/1/rows.csv?stage=changed")
    assert (answer.status_code, "no longer kept" in answer.text) == (404, True)
    assert len(rows_of(pages.get("/runs/1/rows.csv?stage=changed&vendor=store-001"))) == 1


def test_each_list_begins_behind_the_one_before(world, browse, monkeypatch):
    monkeypatch.setattr(runs, "ROWS", 2)
    for _ in range(5):
        world.app.open_run("delta", f"test/{_}-of-five", (), dry_run=True)
    pages, found, address = browse(world.app), [], "/runs?kind=delta"
    while address:
        shown = pages.get(address).text
        found += re.findall(r"/pages/runs/(\d+)", shown)
        following = re.search(r'href="/shelfsync/pages(/runs\?[^"]*after=[^"]*)"', shown)
        address = following and unescape(following.group(1))
    assert found == ["5", "4", "3", "2", "1"]
    assert [row["run_id"] for row in rows_of(pages.get("/runs.csv?order=oldest"))] == found[::-1]
    assert "There is no such run." in pages.get("/runs?kind=full").text


def test_the_kind_of_a_run_names_what_is_special_about_it_and_its_time_is_a_span():
    began = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    row = {"kind": "delta", "urgent": True, "dry_run": False, "began_at": began, "ended_at": None}
    assert (runs._kind(row), runs._took(row)) == ("delta, urgent", None)
    row |= {"kind": "full", "urgent": False, "dry_run": True, "ended_at": began + dt.timedelta(minutes=2)}
    assert (runs._kind(row), runs._took(row)) == ("full, dry", 120.0)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (
            "catalog_delta_sync/scheduled__2026-01-01T00:00:00+00:00",
            "/dags/catalog_delta_sync/runs/scheduled__2026-01-01T00%3A00%3A00%2B00%3A00",
        ),
        ("cli/3f", None),
    ],
)
def test_a_run_of_airflow_has_its_link(key, path):
    assert runs._in_airflow(key) == path
