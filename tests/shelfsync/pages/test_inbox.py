"""The inbox on its page: what came, what was set aside and why, what was refused; an event processed again; no content of any event."""

from __future__ import annotations

import pytest

from csv_answer import rows_of

EVENT = (
    "INSERT INTO inbox.event (kind, identity, platform_job_id, vendor, body, processed_at, quarantine_reason) VALUES"
)


@pytest.fixture
def received(world):
    """An event that waits, one that is done, an order that was set aside, one of no kind, and calls that were refused."""
    with world.app.context.engine.begin() as connection:
        for values in (
            "('job', '1', 'p-1', 'store-001', 'Ada Lovelace', NULL, NULL)",
            "('job', '2', 'p-2', 'store-002', 'Ada Lovelace', now(), NULL)",
            "('order', '3', NULL, 'store-001', 'Ada Lovelace', now(), 'it has no items')",
            "('unknown', '4', NULL, NULL, 'Ada Lovelace', now(), NULL)",
        ):
            connection.exec_driver_sql(f"{EVENT} {values}")
        connection.exec_driver_sql("INSERT INTO inbox.refusal (endpoint, calls) VALUES ('picking', 7)")
    return world


def test_what_came_stands_newest_first_without_its_content(received, browse):
    pages = browse(received.app)
    shown = pages.get("/inbox").text
    assert "it has no items" in shown
    assert '<td>picking results of the stores<td class="n">7' in shown
    rows = rows_of(pages.get("/inbox.csv"))
    assert [row["event_id"] for row in rows] == ["4", "3", "2", "1"]
    assert "Lovelace" not in shown + pages.get("/inbox.csv").text


CASES = {
    "?waiting=yes": ["1"],
    "?set_aside=yes": ["3"],
    "?kind=job&order=oldest": ["1", "2"],
    "?vendor=store-001": ["3", "1"],
    "?job=p-2": ["2"],
}


def test_the_address_filters_and_sorts(received, browse):
    pages = browse(received.app)
    for query, found in CASES.items():
        assert [row["event_id"] for row in rows_of(pages.get(f"/inbox.csv{query}"))] == found, query


def test_an_order_that_was_set_aside_and_a_job_are_processed_again(received, browse):
    pages = browse(received.app)
    assert pages.get("/inbox").text.count("Process again") == 2
    for event in ("2", "3"):
        answer = pages.post("/inbox/replay", data={"event": event}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/shelfsync/pages/inbox")
    waiting = received.rows("SELECT event_id FROM inbox.event WHERE processed_at IS NULL ORDER BY event_id")
    assert waiting == [(1,), (2,), (3,)]
    for event in ("4", "99", "", "x"):
        answer = pages.post("/inbox/replay", data={"event": event})
        assert (answer.status_code, "Nothing was changed" in answer.text) == (409, True)


def test_who_may_only_look_processes_nothing_again(received, browse):
    pages = browse(received.app, may_decide=False)
    assert "Process again" not in pages.get("/inbox").text
    assert pages.post("/inbox/replay", data={"event": "3"}).status_code == 403
