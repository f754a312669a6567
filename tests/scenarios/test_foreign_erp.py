"""From a foreign ERP to the platform by the worked example of docs/how-to/connecting-your-erp.md alone, as processes of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

import psycopg
import pytest

from documents import data
from scenarios import foreign_erp
from scenarios.foreign_erp import ARTICLES, STORES, article

ROOT = Path(__file__).parents[2]
SECTION = (
    (ROOT / "docs/how-to/connecting-your-erp.md")
    .read_text("utf-8")
    .partition("## A worked example")[2]
    .partition("\n## ")[0]
)
SELECT = (ROOT / "docs/how-to/foreign-erp.sql").read_text("utf-8")
UNKNOWN = {article(101), article(104)}
"""The ERP has them and the platform does not."""


def example(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)
    return found


@pytest.fixture
def erp(empty_database_url):
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        foreign_erp.fill(connection)
        connection.url = empty_database_url
        yield connection


@pytest.fixture
def run(tmp_path, database_url, sandbox, erp):
    """Runs one command of the page, with the page's settings; the addresses and the pace are the test's."""
    (tmp_path / "extract.sql").write_text(SELECT, encoding="utf-8")
    page = dict(
        word.split("=", 1) for word in shlex.split(example("sh"), comments=True) if word.startswith("SHELFSYNC_")
    )
    here = {
        "SHELFSYNC_PLATFORM__BASE_URL": sandbox.base_url,
        "SHELFSYNC_ERP__URL": erp.url,
        "SHELFSYNC_ERP__SQL_FILE": str(tmp_path / "extract.sql"),
    }
    assert here.keys() < page.keys(), "the page names each of them"
    pace = {"SHELFSYNC_SYNC__POLL_FIRST_S": "0.1", "SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE": "60000"}
    place = {
        "SHELFSYNC_HOME": str(tmp_path / "home"),
        "SHELFSYNC_DATABASE_URL": database_url,
        "PYTHONPATH": str(ROOT / "include"),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFSYNC_", "AIRFLOW_"))}

    def call(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "shelfsync", *arguments],
            env=clean | page | here | pace | place,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


def shown(sandbox) -> dict:
    """What customers are to see, by (vendor, sku): on sale, price, limit; of a product off sale its state alone counts."""
    return {
        (vendor, sku): (True, Decimal(str(product["price"])), product["max_sales_quantity"])
        if product["active"]
        else False
        for vendor in STORES.values()
        for sku, product in sandbox.products(vendor).items()
    }


def wanted(erp) -> dict:
    """The same, by the truth."""
    truth = foreign_erp.truth(erp)
    keys = [(vendor, article(number)) for vendor in STORES.values() for number in range(1, ARTICLES + 1)]
    return {
        key: (True, cut(truth[key].price), truth[key].limit) if key in truth and truth[key].on_sale else False
        for key in keys
        if key[1] not in UNKNOWN
    }


def cut(price: Decimal) -> Decimal:
    return price.quantize(Decimal("0.001"), rounding=ROUND_DOWN)


@pytest.mark.slow
def test_the_select_of_the_page_reads_what_each_store_sells(erp):
    """Also after a day with every kind of change."""
    for names in ([], ["a day goes by", "stock moves", "price lists", "deleted and back"]):
        foreign_erp.change(erp, *names)
        rows = erp.execute(SELECT.encode()).fetchall()
        truth = foreign_erp.truth(erp)
        read = {(STORES[row[0]], row[1].rstrip(" ")): (row[3], max(0, int(row[4])), row[5], row[6]) for row in rows}
        assert len(rows) == len(read)
        assert read == {key: (one.price, one.quantity, one.active, one.limit) for key, one in truth.items()}
        assert sum(one.on_sale for one in truth.values()) > 400


@pytest.mark.slow
def test_a_foreign_erp_goes_from_the_page_to_the_platform_and_stays_equal(run, erp, sandbox, database_url):
    run("sandbox", "fill")
    for vendor in STORES.values():
        theirs = sandbox.products(vendor)
        assert theirs.keys() == {sku for store, sku in foreign_erp.truth(erp) if store == vendor}
        codes = [article(number) for number in range(1, ARTICLES + 1)]
        sandbox.put_products(vendor, [{"sku": code, "active": False} for code in codes if code not in UNKNOWN])
    assert "database, ERP and platform answer" in run("check")
    assert "are quarantined" not in run("plan")
    assert "nothing is quarantined" in run("quarantine")
    assert shown(sandbox) == dict.fromkeys(wanted(erp), False), "nothing was sent so far"
    run("sync", "--full")
    assert shown(sandbox) == wanted(erp)
    assert baseline(database_url) == acknowledged(erp)

    foreign_erp.change(erp, "a day goes by", "stock moves")
    before = shown(sandbox)
    run("sync")
    assert before != shown(sandbox) == wanted(erp)

    foreign_erp.change(erp, "price lists", "deleted and back")
    before, prices = shown(sandbox), {key: price for key, (price, *_) in baseline(database_url).items()}
    run("sync")
    assert before != shown(sandbox) == wanted(erp)
    after, of_erp = baseline(database_url), acknowledged(erp)
    assert {key: after[key] for key in of_erp} == {
        key: (prices.get(key) if price is None else price, *rest) for key, (price, *rest) in of_erp.items()
    }, "without a price, the product goes off sale and keeps its last one"
    assert {after[key][2] for key in after.keys() - of_erp.keys()} == {False}, "what left the ERP is off sale"

    foreign_erp.change(erp, "two main barcodes")
    run("sync")
    found = data(run("quarantine", "--json"))["quarantined"]
    assert {(one["vendor"], one["reason"], one["examples"][0]["sku"]) for one in found} == {
        (vendor, "sku_duplicate", article(11)) for vendor in STORES.values()
    }
    assert shown(sandbox) == wanted(erp), "its last values stay"
    foreign_erp.change(erp, "one main barcode", "a day goes by")
    run("sync")
    assert "nothing is quarantined" in run("quarantine")
    assert shown(sandbox) == wanted(erp)

    status = data(run("status", "--json"))["vendors"]
    truth = foreign_erp.truth(erp)
    assert sum(row["erp_rows"] for row in status) == len(truth)
    assert sum(row["acknowledged"] for row in status) == len(acknowledged(erp))
    assert sum(row["rejected"] for row in status) == sum(sku in UNKNOWN for _, sku in truth)
    price = cut(truth["store-002", article(10)].price)
    assert f"{price}" in run("explain", "store-002", article(10))
    assert " 0 are sent again by the next delta" in run("export")


def acknowledged(erp) -> dict:
    """By (vendor, sku) price, quantity and limit of each row that the ERP has and the platform knows."""
    truth = foreign_erp.truth(erp).items()
    return {
        key: (one.price and cut(one.price), one.quantity, one.active, one.limit)
        for key, one in truth
        if key[1] not in UNKNOWN
    }


def baseline(database_url: str) -> dict:
    """The same, as shelfsync knows the platform to have it."""
    statement = "SELECT vendor, sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline"
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(statement).fetchall()
    return {(vendor, sku): tuple(values) for vendor, sku, *values in rows}
