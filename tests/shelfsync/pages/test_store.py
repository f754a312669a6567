"""One store: its day in order, each count with its rows, and the buttons beside its state."""

from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations at run time
from fastapi.testclient import TestClient

from shelfsync.catalog.steps.overview import of_store, overview
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer


def product(sku):
    return {"sku": sku, "barcodes": [], "title": sku.upper(), "price": 9.0, "active": True}


def _chain(world):
    for store in ("store-001", "store-002"):
        world.platform.put_products(store, [product(f"a{number}") for number in range(4)])
        for number in range(4):
            world.erp.put(store, f"a{number}", "1.00")
    world.erp.put("store-001", "unknown", "1.00")
    world.erp.put("store-001", "bad", "no price")
    world.sync("full")
    for number in range(4):
        world.erp.put("store-001", f"a{number}", "900.00")
    world.sync("delta")
    world.platform.put_products("store-001", [product("a0")])
    world.app.export("test/export", (), progress=lambda *_: None)


@pytest.fixture
def chain(world_after):
    """Two stores; in the first the platform does not know a product, a row has no price, and four prices are held."""
    return world_after(_chain)


@pytest.mark.slow
def test_a_day_has_what_happened_and_every_count_leads_to_as_many_rows(chain, browse):
    pages = browse(chain.app)
    chain.app.pause("vendor", "store-002", why="of another store", who="ada")
    text = pages.get("/store?vendor=store-001").text
    kinds = re.findall(r"</time> <strong>(\w+)</strong>", text)
    assert {*kinds} == {"reading", "job", "hold", "export"}
    assert kinds[-1] in {"reading", "job"}, "the newest comes first"
    assert "of another store" not in text.partition('class="timeline"')[2]
    links = re.findall(
        r'<a href="/shelfsync/pages(/[^"]+)">([\d,]+) ([a-z ]+)</a>', text.partition('class="timeline"')[2]
    )
    assert {word for _, _, word in links} >= {
        "read",
        "quarantined",
        "changed",
        "held",
        "sent",
        "rejected",
        "held rows",
        "values differ",
    }
    for path, count, word in links:
        answer = pages.get(unescape(path))
        assert answer.status_code == 200, path
        if ".csv" in path:
            rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
            assert len(rows) == int(count), (path, word)
            assert {row["vendor"] for row in rows} == {"store-001"}


@pytest.mark.slow
def test_a_store_is_paused_and_resumed_where_its_state_stands(chain, browse):
    pages = browse(chain.app)
    assert "Pause this store" in pages.get("/store?vendor=store-002").text
    form = {"scope": "vendor", "vendor": "store-002", "reason": "stocktaking", "at_store": "1"}
    answer = pages.post("/switches/pause", data=form, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/shelfsync/pages/store?vendor=store-002")
    text = pages.get("/store?vendor=store-002").text
    assert "Resume this store" in text
    assert "ada paused this store: stocktaking" in text
    assert pages.post("/switches/resume", data=form, follow_redirects=False).status_code == 303
    assert "ada resumed this store: stocktaking" in pages.get("/store?vendor=store-002").text
    assert "this store</button>" not in browse(chain.app, may_stop=False).get("/store?vendor=store-002").text


def test_who_may_not_decide_ends_no_restoration(world, browse):
    answer = browse(world.app, may_decide=False).post("/store/end-restoration", data={"vendor": "store-001"})
    assert answer.status_code == 403
    assert browse(world.app).post("/store/end-restoration", data={}).status_code == 400


@pytest.mark.parametrize(
    ("query", "shows"),
    [
        ("", "<form"),
        ("?vendor=nowhere", "shelfsync knows no store"),
        ("?vendor=store-001&day=yesterday", "'yesterday' is no day of a calendar"),
        ("?vendor=store-001&day=1999-12-31", "Nothing happened at this store on this day."),
        ("?vendor=store-001&day=9999-12-31", "is no day of a calendar"),
        ("?vendor=store-001&day=0001-01-01", "Nothing happened at this store on this day."),
    ],
)
def test_any_store_and_day_is_answered_in_words(world, browse, query, shows):
    world.erp.put("store-001", "a", "1.00")
    world.begin("full")
    answer = browse(world.app).get(f"/store{query}")
    assert (answer.status_code, shows in unescape(answer.text)) == (200, True), answer.text


def test_today_leads_to_no_day_that_has_not_begun(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.begin("full")
    client = browse(world.app)
    pages = [client.get(f"/store?vendor=store-001{day}").text for day in ("", "&day=1999-12-31")]
    assert [("the day before" in page, "the day after" in page) for page in pages] == [(True, False), (True, True)]


def test_the_page_of_a_store_reads_that_store_alone(world, browse):
    for vendor in ("store-001", "store-002"):
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")
    whole = {row["vendor"]: row for row in overview(world.app.context)["vendors"]}
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger.vendor_count")
    assert "store-002" in browse(world.app).get("/store?vendor=store-002").text
    assert world.rows("SELECT vendor FROM ledger.vendor_count") == [("store-002",)]
    alone = {vendor: of_store(world.app.context, vendor) for vendor in whole}
    for row in (*whole.values(), *alone.values()):
        row.pop("oldest_unacknowledged_s")
    assert alone == whole
    assert of_store(world.app.context, "nowhere") is None


@pytest.fixture
def starting(chain):
    """`starting(paused=None, may_start=True)`: the pages where this DAG is paused, and the runs that they have started; None: outside Airflow."""

    def made(*, paused=False, may_decide=True, may_start=True):
        def guard(request: Request) -> None:
            request.state.viewer = Viewer("ada", may_decide=may_decide, may_start=may_start)

        runs = []
        in_airflow = {"start_run": lambda *run: runs.append(run)} if paused is not None else {}
        states = (lambda dag_ids: dict.fromkeys(dag_ids, paused)) if paused is not None else None
        app = create_app(lambda: chain.app.context, guard, states, **in_airflow)
        return TestClient(app, headers={"sec-fetch-site": "same-origin"}), runs

    return made


BUTTON = "Read and send this store now"


def test_a_person_has_a_store_read_and_sent_now(starting):
    pages, runs = starting()
    assert BUTTON in pages.get("/store?vendor=store-001").text
    answer = pages.post("/store/sync", data={"vendor": "store-001"})
    assert runs == [("catalog_delta_sync", {"vendors": ["store-001"]}, "ada")]
    assert answer.history[0].status_code == 303
    assert "A run of this store is started" in answer.text


def test_nothing_is_started_of_an_unknown_store_or_without_the_right(starting):
    pages, runs = starting()
    assert pages.post("/store/sync", data={"vendor": "no-store"}).status_code == 404
    for rights in ({"may_decide": False, "may_start": False}, {"may_start": False}):
        pages, also = starting(**rights)
        assert BUTTON not in pages.get("/store?vendor=store-001").text
        assert pages.post("/store/sync", data={"vendor": "store-001"}).status_code == 403
        assert runs == also == []


def test_nothing_is_started_while_the_dag_is_switched_off(starting):
    pages, runs = starting(paused=True)
    answer = pages.post("/store/sync", data={"vendor": "store-001"})
    assert (answer.status_code, runs) == (409, [])
    assert "DAG catalog_delta_sync is switched off" in answer.text


def test_outside_airflow_the_command_starts_it(starting):
    pages, _ = starting(paused=None)
    assert BUTTON not in pages.get("/store?vendor=store-001").text
    answer = pages.post("/store/sync", data={"vendor": "store-001"})
    assert answer.status_code == 409
    assert "<code>shelfsync sync --vendor store-001</code>" in answer.text


def test_a_paused_store_has_to_be_resumed_first(starting, chain):
    chain.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    pages, _ = starting()
    assert BUTTON not in pages.get("/store?vendor=store-001").text
