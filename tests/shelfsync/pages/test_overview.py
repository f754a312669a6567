"""The first page: its figures are those of the status and of the warehouse, its words those of a person."""

from __future__ import annotations

import re
from html import unescape

import pytest

from shelfsync.alert_conditions import watch as alert_watch
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.steps import lists
from shelfsync.pages import overview

LABELS = {"ERP rows": "erp_rows", "right": "acknowledged"}
"""Of a store's numbers, where the status calls them otherwise."""


def product(sku):
    return {"sku": sku, "barcodes": [], "title": sku.upper(), "price": 9.0, "active": True}


def _chain(world):
    world.platform.put_products("store-001", [product(f"a{number}") for number in range(4)])
    world.platform.put_products("store-002", [product("b0")])
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "1.00")
    for sku, price in (("b0", "1.00"), ("unknown", "1.00"), ("bad", "no price")):
        world.erp.put("store-002", sku, price)
    world.sync("full")


@pytest.fixture
def chain(world_after):
    """Two stores; of the second the platform does not know a product, and a row has no price."""
    return world_after(_chain)


def tiles(text):
    """vendor -> (state, {label: number}) as the page shows it."""
    found = {}
    for tile in re.findall(r'<li class="tile [^"]*">(.*?)</li>', text, re.DOTALL):
        vendor, state = re.search(r'<h3>(?:<a [^>]*>)?([^<]+?)(?:</a>)? <span class="state">([^<]+)', tile).groups()
        pairs = re.findall(r"<dt>([^<]+)</dt><dd>(?:<a [^>]*>)?([^<]+)", tile)
        found[vendor] = state, {label: number.replace(",", "") for label, number in pairs}
    return found


def numbers(text, title):
    """The table behind a chart: label -> text."""
    section = text.partition(f"<h3>{title}</h3>")[2].partition("</section>")[0].partition("<tbody>")[2]
    rows = re.findall(r'<tr><td>(?:<a [^>]*>)?([^<]+)(?:</a>)?<td class="n">([^<]+)', section)
    return {unescape(label): number for label, number in rows}


@pytest.mark.slow
def test_every_figure_is_that_of_the_status_and_of_the_warehouse(chain, browse):
    status, text = chain.app.status(), browse(chain.app).get("/").text
    assert f'<p class="lead">{status["sentence"]}</p>' in text
    assert status["sentence"].startswith(
        "2 of 2 stores show what the ERP says except 1 product that the platform rejects and 1 row that cannot be sent, read just now"
    )
    shown = tiles(text)
    assert {row["vendor"]: row["condition"] for row in status["vendors"]} == {
        vendor: state for vendor, (state, _) in shown.items()
    }
    for row in status["vendors"]:
        _, counts = shown[row["vendor"]]
        known = {name: row[LABELS.get(name, name)] for name in counts}
        assert counts == {name: str(value) for name, value in known.items()}
    [(sent, accepted, rejected)] = chain.rows(
        "SELECT sum(sent), sum(accepted), sum(rejected) FROM warehouse.acceptance"
    )
    assert status["acceptance"] == {"sent": sent, "accepted": accepted, "rejected": rejected, "unaccounted": 0}
    assert numbers(text, "What the platform accepts") == {
        "accepted": str(accepted),
        "rejected": str(rejected),
        "without a result": "0",
    }
    assert numbers(text, "Rejected now, by reason") == {
        reason: str(rows) for reason, rows in chain.rows("SELECT reason, count(*) FROM warehouse.rejection GROUP BY 1")
    }
    used = numbers(text, "Requests used, by kind")
    assert sum(map(int, used.values())) == status["requests"]["requests"]


@pytest.mark.slow
def test_a_difference_on_the_platform_stands_by_its_cause(chain, browse):
    chain.platform.put_products("store-001", [product("a0")])
    chain.app.export("test/export", (), progress=lambda *_: None)
    status, text = chain.app.status(), browse(chain.app).get("/").text
    assert status["drift"], "there is one to look at"
    causes = {overview.CAUSES[row["cause"]]: str(row["differing"]) for row in status["drift"]}
    assert numbers(text, "Differences on the platform, by cause") == causes


@pytest.mark.slow
def test_a_state_filters_the_stores_and_pages_go_on_behind_each_other(chain, browse, monkeypatch):
    pages = browse(chain.app)
    chain.app.pause("vendor", "store-002", why="stocktaking", who="ada")
    assert list(tiles(pages.get("/?state=paused").text)) == ["store-002"]
    assert tiles(pages.get("/?state=nonsense").text) == {}
    monkeypatch.setattr(overview, "TILES", 1)
    shown, address = [], "/"
    while address:
        text = pages.get(address).text
        shown += tiles(text)
        following = re.search(r'href="/shelfsync/pages(/\?first=\d+)"', text)
        address = following and unescape(following.group(1))
    assert sorted(shown) == ["store-001", "store-002"]


@pytest.mark.slow
def test_what_waits_for_a_person_stands_with_its_link_and_what_happens_meanwhile(chain, browse):
    for number in range(4):
        chain.erp.put("store-001", f"a{number}", "900.00")
    chain.sync("delta")
    alert_watch.watch(chain.app.context)
    assert [row["kind"] for row in lists.listed(chain.app.context)].count("hold_waits") == 1
    text = browse(chain.app).get("/").text
    assert KINDS["hold_waits"].title not in text, "the hold stands there once"
    waiting = chain.app.status()["holds_waiting"]
    assert waiting
    assert f"{waiting} {'hold waits' if waiting == 1 else 'holds wait'} for you." in text
    assert 'href="/shelfsync/pages/holds">Decide</a>' in text
    assert "The held products keep their values until a person decides." in text
    assert tiles(text)["store-001"][0] == "held"


def test_no_setting_and_no_flag_stands_before_a_buyer(chain, browse):
    text = browse(chain.app).get("/").text.partition("<main>")[2]
    assert "SHELFSYNC_" not in text
    assert not re.search(r"\s--[a-z]", text)
