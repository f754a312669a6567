"""Required Actions as a person uses them, in a real browser: the form of a hold, what it records, and what an empty field does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browser_fixture import browser, chromium  # noqa: F401  fixtures
from documents import data
from installation.browsing import logged_in
from installation.state import HELD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from installation.installed import Installation

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ONCE = "Use these thresholds once"
WAITS = "SELECT hold_id, vendor, rows, state FROM ledger.hold WHERE state = 'open' ORDER BY hold_id"
DECIDED = """
SELECT h.state, d.state AS decision, d.decided_by, d.why, d.thresholds
FROM ledger.decision AS d JOIN ledger.hold AS h USING (hold_id) WHERE hold_id = %(hold)s ORDER BY decision_id
"""
SLIP = """
INSERT INTO erp.price (product_id, store_id, amount, valid_from)
SELECT product_id, store_id, 10 * coalesce(own.amount, list_price), current_date
FROM erp.listing JOIN erp.product USING (product_id) JOIN erp.store USING (store_id)
LEFT JOIN LATERAL (
    SELECT amount FROM erp.price AS p WHERE p.product_id = listing.product_id AND (p.store_id = listing.store_id OR p.store_id IS NULL)
    AND p.valid_from <= current_date AND (p.valid_until >= current_date OR p.valid_until IS NULL)
    ORDER BY p.store_id IS NULL, p.valid_from DESC, p.price_id DESC LIMIT 1
) AS own ON true
WHERE store.code = %(vendor)s AND listing.active AND product.active AND product_id IN (
    SELECT product_id FROM erp.listing JOIN erp.store USING (store_id) JOIN erp.product USING (product_id)
    WHERE store.code = %(vendor)s AND listing.active AND product.active ORDER BY product_id LIMIT %(products)s)
"""
BACK = "DELETE FROM erp.price WHERE price_id > %(last)s"


@pytest.fixture
def page(installation: Installation, browser: Browser) -> Iterator[Page]:  # noqa: F811
    """A browser in which admin has logged in to Airflow."""
    with logged_in(installation, browser) as page:
        yield page


@pytest.fixture
def held(installation: Installation) -> Iterator[dict[str, Any]]:
    """Two prices of one store have slipped by a decimal point, and Airflow opens questions about them: `hold`, `vendor`, and the task's place."""
    vendor = installation.rows("SELECT min(vendor) AS vendor FROM ledger.vendor")[0]["vendor"]
    (last,) = installation.erp("SELECT max(price_id) AS last FROM erp.price")
    installation.erp(SLIP, vendor=vendor, products=2)
    done = installation.shelfsync("sync", "--vendor", vendor)
    assert done.returncode == HELD, done.stderr
    (hold,) = installation.until(lambda: installation.rows(WAITS), "a hold")
    installation.trigger("catalog_holds")
    task = installation.until(lambda: _question(installation, hold["hold_id"]), "the question in Airflow")
    yield {**hold, "task": task}
    installation.erp(BACK, **last)
    installation.until(lambda: _is_back(installation, vendor), "the prices of before")


def _is_back(installation: Installation, vendor: str) -> bool:
    """Sends the values of the ERP, and approves what a guard holds again: nothing of the vendor differs or waits."""
    done = installation.shelfsync("sync", "--vendor", vendor, "--json")
    assert done.returncode in {0, HELD}, done.stderr
    (row,) = data(done.stdout)["vendors"]
    quiescent = row["state"] in {"unchanged", "acknowledged"} and row["changes_held"] == 0
    for hold in installation.rows(WAITS):
        done = installation.shelfsync("holds", "approve", "--yes", str(hold["hold_id"]), "--reason", "as it was")
        assert done.returncode == 0, done.stderr
    return quiescent


def _question(installation: Installation, hold_id: int) -> dict[str, Any] | None:
    """The task that waits for a person about this hold."""
    waiting = installation.get("/dags/catalog_holds/dagRuns/~/hitlDetails", response_received=False, limit=100)
    asked = [one for one in waiting["hitl_details"] if re.search(rf"/holds/{hold_id}\b", one["body"])]
    return dict(asked[0]["task_instance"]) if asked else None


def _acknowledged(installation: Installation, hold_id: int) -> bool:
    """Lets the schedule's DAG go on once more: it sends what was approved on the page, and confirms what was sent."""
    installation.run("catalog_recover")
    (row,) = installation.rows(
        "SELECT h.released_at IS NOT NULL AND bool_and(b.state = 'done') AS done FROM ledger.hold AS h"
        " JOIN ledger.batch AS b USING (run_id, vendor) WHERE hold_id = %(hold)s GROUP BY h.released_at",
        hold=hold_id,
    )
    return bool(row["done"])


def _open(page: Page, held: dict[str, Any]) -> None:
    """From the list of Required Actions to the form."""
    page.goto("/required_actions")
    page.locator(f"a[href*='{held['task']['dag_run_id']}/tasks/']").first.click()
    expect(page.get_by_test_id(f"hitl-option-{ONCE}")).to_be_enabled()


def _field(page: Page, name: str) -> Any:
    return page.locator(f"[name='element_{name}']")


def test_the_form_takes_thresholds_as_numbers_and_an_empty_one_decides_nothing(
    installation: Installation, held: dict[str, Any], page: Page
) -> None:
    _open(page, held)
    assert [_field(page, name).input_value() for name in ("max_rows", "max_share", "slack", "why")] == ["", "", "", ""]
    expect(page.get_by_text("It is 0.12 now, and stays so if this is left empty.")).to_be_visible()
    page.get_by_test_id(f"hitl-option-{ONCE}").click()
    task = held["task"]
    installation.until(
        lambda: any(
            "no threshold was given, so nothing was decided" in line
            for line in installation.log(task["dag_id"], task["dag_run_id"], task["task_id"], task["map_index"])
        ),
        "the empty answer to be rejected",
    )
    installation.until(lambda: _question(installation, held["hold_id"]), "the question to be asked again")
    assert installation.rows(DECIDED, hold=held["hold_id"]) == []
    _open(page, held)
    _field(page, "max_rows").fill("5")
    _field(page, "why").fill("two packs of ten")
    page.get_by_test_id(f"hitl-option-{ONCE}").click()
    (row,) = installation.until(lambda: installation.rows(DECIDED, hold=held["hold_id"]), "the decision")
    assert (row["state"], row["decision"], row["decided_by"], row["why"]) == (
        "approved",
        "approved",
        installation.user,
        "two packs of ten",
    )
    assert (row["thresholds"]["max_rows"], row["thresholds"]["max_share"]) == (5, 0)
    installation.ended(task["dag_id"], task["dag_run_id"])
    page.reload()
    expect(_field(page, "why")).to_be_disabled()
    assert [_field(page, name).input_value() for name in ("max_rows", "max_share", "why")] == [
        "5",
        "",
        "two packs of ten",
    ]


def test_an_approval_in_airflow_after_a_decline_elsewhere_does_nothing_and_reports_who_decided(
    installation: Installation, held: dict[str, Any]
) -> None:
    number = held["hold_id"]
    declined = installation.shelfsync("holds", "decline", str(number), "--user", "ada", "--reason", "price list wrong")
    assert declined.returncode == 0, declined.stderr
    task = held["task"]
    where = f"/dags/{task['dag_id']}/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}/{task['map_index']}"
    answer = {"chosen_options": ["Approve"], "params_input": {}}
    assert installation.airflow.patch(f"/api/v2{where}/hitlDetails", json=answer).status_code == 200
    installation.ended(task["dag_id"], task["dag_run_id"])
    found = installation.get(f"{where}")
    assert found["state"] == "skipped"
    assert "is declined by ada at " in found["rendered_map_index"]
    assert "nothing was done" in found["rendered_map_index"]
    assert installation.rows("SELECT state, released_at FROM ledger.hold WHERE hold_id = %(hold)s", hold=number) == [
        {"state": "declined", "released_at": None}
    ]
    shown = installation.shelfsync("holds", "show", str(number)).stdout
    assert f"approved by {installation.user} (Airflow); too late: hold {number} " in shown


def test_a_declined_hold_in_airflow_and_an_approval_on_the_page_are_both_kept_with_their_reasons(
    installation: Installation, held: dict[str, Any], page: Page
) -> None:
    _open(page, held)
    _field(page, "why").fill("a typing error")
    page.get_by_test_id("hitl-option-Decline").click()
    installation.ended(held["task"]["dag_id"], held["task"]["dag_run_id"])
    page.goto(f"/shelfsync/pages/holds/{held['hold_id']}")
    expect(page.locator("#decisions tbody tr")).to_have_count(1)
    before = page.locator("table").last.inner_text()
    reopen = page.locator("form", has=page.get_by_role("button", name="Reopen: decide it anew"))
    reopen.get_by_label("reason").fill("asked the buyers")
    reopen.get_by_role("button").click()
    approve = page.locator("form", has=page.get_by_role("button", name="Approve: show what it will do"))
    approve.get_by_label("reason").fill("it is right after all")
    approve.get_by_role("button").click()
    expect(page.locator("#stake")).to_contain_text("2 rows: 2 prices up")
    page.get_by_role("button", name="Yes, send these values").click()
    rows = page.locator("#decisions tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("declined")
    expect(rows.nth(0)).to_contain_text("a typing error")
    expect(rows.nth(1)).to_contain_text("reopened")
    expect(rows.nth(2)).to_contain_text("approved")
    expect(rows.nth(2)).to_contain_text("it is right after all")
    installation.until(lambda: _acknowledged(installation, held["hold_id"]), "the approved values to be acknowledged")
    page.reload()
    assert page.locator("table").last.inner_text() == before, "what was compared stays as it was asked"
