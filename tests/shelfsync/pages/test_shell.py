"""The shell around all pages, and the page of the vendors."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pytest
import sqlalchemy as sa
from fastapi import HTTPException, Request
from fastapi.testclient import TestClient

from shelfsync import display
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer
from shelfsync.pages.shell import PAUSED_STORES, for_buyers, pauses, sentence, shown, with_commands
from shelfsync.platform.kill_switch import Stop
from shelfsync.store.metadata import instant


def test_the_first_page_names_the_next_command_when_there_is_no_vendor(world, browse):
    assert "shelfsync sync --full" in browse(world.app).get("/").text


@pytest.mark.slow
def test_the_page_of_the_vendors_shows_the_status(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.erp.put("store-001", "<script>", "1.00")
    world.sync("full")
    page = browse(world.app).get("/")
    assert page.status_code == 200
    assert "store-001" in page.text
    assert "succeeded" in page.text


def test_a_page_runs_its_own_script_alone_and_loads_nothing_from_elsewhere(world, browse):
    answer = browse(world.app).get("/")
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert (policy["default-src"], policy["script-src"], policy["connect-src"]) == ("'none'", "'self'", "'self'")
    assert "http" not in answer.text


def test_every_link_holds_below_the_place_where_the_pages_are_mounted(world, browse):
    text = browse(world.app).get("/").text
    assert 'href="/shelfsync/pages/pages.css"' in text
    for name, kind in (("pages.css", "text/css"), ("pages.js", "text/javascript")):
        assert browse(world.app).get(f"/{name}").headers["content-type"].startswith(kind)


def _second(engine):
    with engine.connect() as connection:
        return display.instant(connection.execute(sa.select(instant())).scalar_one())


def test_a_page_states_when_it_was_made_and_is_read_again_by_a_link_to_itself(world, browse):
    engine, pages = world.app.context.engine, browse(world.app)
    before = _second(engine)
    made = re.search(
        r'As of <time [^>]+>(.+ UTC)</time>\. <a href="">Read again</a>', pages.get("/holds?state=open").text
    )[1]
    assert before <= made <= _second(engine)
    refused = pages.post("/switches/pause", data={"scope": "all"})
    assert ("As of" in refused.text, "Read again" in refused.text) == (True, False), "no address to read again"


def test_a_user_without_a_login_sees_the_reason_and_nothing_else(world):
    def guard(_: Request) -> None:
        raise HTTPException(401, "Not authenticated")

    pages = TestClient(create_app(lambda: world.app.context, guard))
    for path in ("/", "/search/suggestions?q=a"):
        answer = pages.get(path)
        assert answer.status_code == 401
        assert "Please log in" in answer.text


def test_a_context_that_cannot_be_opened_is_reported_in_one_line():
    def broken():
        raise ConfigurationError("SHELFSYNC_DATABASE_URL", "no server answers", "Start it.")

    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True)

    answer = TestClient(create_app(broken, guard)).get("/")
    assert answer.status_code == 503
    assert "no server answers" in answer.text


WEIRD = (
    "/holds/99999999999999999999999",
    "/holds/-1",
    "/holds/1?first=99999999999999999999999",
    "/holds/1?first=-5",
    "/holds/x",
    "/promotions/99999999999999999999999",
    "/promotions/1?first=99999999999999999999999",
    "/orders/%00",
    "/orders/" + "9" * 23,
    "/orders/%ed%a0%80",
    "/explain?vendor=%00&sku=a",
    "/explain?vendor=a&sku=%00",
    "/explain?vendor=a&sku=b&at=%00",
    "/explain?vendor=a&sku=b&at=0001-01-01T00:00%2B23:59",
    "/explain?vendor=a&sku=b&at=9999-12-31T23:59-23:59",
    "/explain?vendor=" + "x" * 300 + "&sku=b",
    "/%00",
    "/explain?%00=1",
)


@pytest.mark.parametrize("address", WEIRD)
def test_an_address_that_names_nothing_is_answered_in_words(world, browse, address):
    answer = browse(world.app).get(address)
    assert answer.status_code in {200, 400, 404}
    assert "<main" in answer.text or answer.json() == {"detail": "Not Found"}


@pytest.mark.slow
def test_a_first_sync_in_progress_is_no_error(world, browse):
    """The scheduled delta runs while the jobs of the first full sync are open: a busy vendor is no failure."""
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-001", "a", "1.00")
    world.platform.control("PUT", "settings", {"job_seconds": 3600})
    world.begin("full", upto="deliver")
    assert _rows(browse(world.app)) == [("at work", "First sync in progress")]
    world.begin("delta", upto="deliver")
    assert [row["last_state"] for row in world.app.status()["vendors"]] == ["busy"]
    ((tone, words),) = _rows(browse(world.app))
    assert tone == "at work"
    assert words.startswith("First sync in progress: ")


@pytest.mark.slow
def test_a_store_whose_first_sync_succeeded_is_not_in_progress(world, browse):
    """A delta that was passed over meanwhile is newer, and says nothing once the full sync has ended."""
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-001", "a", "1.00")
    run_id, vendors = world.begin("full")
    world.sync("delta")
    for word in ("deliver", "confirm", "acknowledge"):
        if word == "confirm":
            world.app.wait(run_id, vendors)
        world.app.step(word, run_id, vendors)
    assert _rows(browse(world.app)) == [("right", "The last run has sent what changed")]


@pytest.mark.slow
def test_work_in_progress_is_distinguished_from_a_failure(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.sync("full")
    world.platform.control("PUT", "settings", {"job_seconds": 3600})
    world.erp.put("store-001", "a", "2.00")
    world.begin("delta", upto="deliver")
    assert _rows(browse(world.app)) == [("at work", "In progress")]
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'no'")
    assert _rows(browse(world.app)) == [("failing", "The last run failed: no")]


def test_a_vendor_that_waits_after_consecutive_failures_is_an_error(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.begin("full")
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.vendor_run SET state = 'busy', error = 'the last 9 requests failed'")
        connection.exec_driver_sql("UPDATE ledger.vendor SET consecutive_failures = 9")
    assert _rows(browse(world.app)) == [("failing", "Busy: the last 9 requests failed")]


def _rows(client):
    """State and last run's words of each vendor's tile, with the error behind a colon."""
    tiles = re.findall(r'<li class="tile [^"]*">(.*?)</li>', client.get("/").text, re.DOTALL)
    return [_tile(tile) for tile in tiles]


def _tile(text):
    state = re.search(r'<span class="state">([^<]+)', text).group(1)
    words = re.search(r"</h3>\s*<p>([^.]+)\.", text).group(1)
    error = re.search(r">Run \d+</a>: (.*?)</p>", text)
    return state, words + (f": {error.group(1)}" if error else "")


def test_while_everything_is_paused_no_page_promises_that_it_will_be_done(world, browse):
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-001", "a", "1.00")
    world.begin("full", upto="batch")
    assert "done before the next run is due" in browse(world.app).get("/").text
    world.app.pause("all", None, why="wrong prices", who="ada")
    text = browse(world.app).get("/").text
    assert "next run is due" not in text
    assert re.search(
        r"PAUSED: everything is paused by ada since 20\d\d-.* UTC: wrong prices; nothing but orders is sent", text
    )
    assert "1 request body waits until sending is resumed" in text


@pytest.mark.parametrize(
    ("stores", "of_store", "lines"),
    [
        (1, None, ["store s1 is paused by ada"]),
        (3, None, ["3 stores: s1, s2, s3; nothing"]),
        (PAUSED_STORES + 2, None, ["7 stores: s1, s2, s3, s4, s5 and 2 more; nothing"]),
        (3, "s2", ["store s2 is paused by ada"]),
        (3, "s9", []),
    ],
)
def test_paused_stores_share_a_line_and_a_page_about_a_store_tells_of_no_other(stores, of_store, lines):
    since = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    off = [Stop("vendor", f"s{number}", "stocktaking", "ada", since) for number in range(1, stores + 1)]
    found = pauses([Stop("all", "", "wrong prices", "ada", since), *off], of_store)
    begins = ["everything is paused by ada", *lines]
    assert [line[: len(begin)] for line, begin in zip(found, begins, strict=True)] == begins


def test_a_pause_is_shown_once_a_page(world, browse):
    world.app.pause("all", None, why="wrong prices", who="ada")
    pages = browse(world.app)
    for path in ("/", "/holds", "/explain", "/promotions", "/orders"):
        assert pages.get(path).text.count("wrong prices") == 1, path


@pytest.mark.slow
def test_a_first_job_that_the_platform_failed_is_an_error(world, browse):
    """No SKU of it is known to be accepted, so no first sync is in progress."""
    world.platform.put_products("store-001", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-001", "a", "1.00")
    world.platform.faults({"at": "job", "kind": "failed"})
    world.sync("full")
    ((tone, words),) = _rows(browse(world.app))
    assert tone == "failing", words


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("run `shelfsync check`; then `a<b`", "run <code>shelfsync check</code>; then <code>a&lt;b</code>"),
        ("one ` alone <b>", "one ` alone &lt;b&gt;"),
        ("", ""),
    ],
)
def test_a_command_in_a_message_is_shown_as_one_and_nothing_of_it_is_markup(message, shown):
    assert with_commands({}, message) == shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (1234567.0, "1,234,567"),
        (Decimal("1234567.00"), "1,234,567"),
        (Decimal("1234567.50"), "1,234,567.5"),
        (1234567.5, "1,234,567.5"),
        (0.12, "0.12"),
    ],
)
def test_a_number_has_its_thousands_apart_whatever_its_type(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("value", ["1E+90", "1E+1000"])
def test_a_number_that_cannot_be_formatted_takes_no_page_with_it(value):
    """PostgreSQL's numeric takes it; arithmetic of 28 digits does not."""
    assert shown(Decimal(value)) == "cannot be shown"


@pytest.mark.parametrize("act", ["holds show 12", "holds reopen 12 --reason TEXT", "--chain north holds show 12"])
def test_the_command_about_a_hold_is_a_link_to_it(act):
    text = f"an operator approves hold 12 (`shelfsync {act}`). The guard"
    shown = with_commands({"root": "/pages"}, text)
    assert shown == 'an operator approves <a href="/pages/holds/12">hold 12</a>. The guard'


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "1 of 2 SKUs move; the rule price_change lets none through (SHELFSYNC_GUARDS__PRICE_CHANGE__MOVE)",
            "1 of 2 SKUs move; the rule price change lets none through",
        ),
        ("the guard shifted_decimal holds it (hold 1): x_y", "the guard shifted decimal holds it (hold 1): x_y"),
        (
            "price differs (held, report): a guard holds it: shifted_decimal",
            "price differs: a guard holds it: shifted decimal",
        ),
        (
            "price differs (export_older_than_change, ignore): the export is older",
            "price differs: the export is older",
        ),
        ("SKU rule_7 (red, blue): 1", "SKU rule_7 (red, blue): 1"),
        ("1 of 2 vendors failed: 7: 3 rows (see warehouse.x)", "1 of 2 stores failed: 7: 3 rows"),
        ("vendor 7 was passed over by two runs: the vendor", "store 7 was passed over by two runs: the vendor"),
        ("the rule new_skus lets none through", "the rule new SKUs lets none through"),
        ("5 rows cannot be sent (`shelfsync quarantine --vendor 7`)", "5 rows cannot be sent"),
        (
            "no price (row 7) arrives (5 x: `shelfsync --chain north quarantine`). More",
            "no price (row 7) arrives. More",
        ),
        ("it is off. Give it no schedule (AIRFLOW__SHELFSYNC__X=none)", "it is off. Give it no schedule"),
        ("approves hold 1 (`shelfsync holds show 1`)", "approves hold 1 (`shelfsync holds show 1`)"),
        (
            "vendor 7 is paused by ada: x; nothing is sent (`shelfsync resume 7`)",
            "store 7 is paused by ada: x; nothing is sent",
        ),
    ],
)
def test_a_buyer_reads_no_code_of_a_program(message, shown):
    assert for_buyers(message) == shown


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (DataError("restore: store '7' has no category 'x'; it has y"), "store '7' has no category 'x'; it has y"),
        (DataError("runs: there is no run 5; `shelfsync runs list` shows the last ones"), "there is no run 5"),
        (DataError("hold 5: these thresholds are the present ones"), "hold 5: these thresholds are the present ones"),
        (ValueError("'x' is no instant"), "'x' is no instant"),
    ],
)
def test_a_page_says_what_cannot_be_without_the_step_and_its_command(error, shown):
    assert sentence(error) == shown
