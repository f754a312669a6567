"""Every connection type that the provider registers, in Airflow's own pages and a real browser: filled in, saved, tested, changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browser_fixture import browser, chromium
from installation.browsing import logged_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from installation.installed import Installation

__all__ = ["browser", "chromium"]
pytestmark = [pytest.mark.slow, pytest.mark.browser]

CONN_ID = "from_the_form"
PORTAL_TOKEN = "a-token-of-the-portal"
SECRET = {"client": "password", "token": "element_token"}
"""Way to fill a form in -> its field that holds the secret."""


def forms(installation: Installation) -> dict[str, dict[str, dict[str, str]]]:
    """Connection type -> way to fill its form in -> the form's field -> what a person types."""
    platform = installation.configured["platform"]
    address = {"host": platform["base_url"], "element_chain": platform["chain"]}
    return {
        "shelfsync_platform": {
            "client": address | {"login": platform["client_id"], "password": platform["client_secret"]},
            "token": address | {"element_token": PORTAL_TOKEN},
        }
    }


@pytest.fixture
def page(installation: Installation, browser: Browser) -> Iterator[Page]:
    """Airflow's list of connections, with the administrator logged in."""
    with logged_in(installation, browser) as page:
        page.goto("/connections")
        yield page
    installation.airflow.delete(f"/api/v2/connections/{CONN_ID}")


def registered(installation: Installation) -> dict[str, str]:
    """The connection types whose hook is ours -> the name that the form offers."""
    answer = installation.airflow.get("/ui/connections/hook_meta")
    assert answer.is_success, answer.text
    ours = [one for one in answer.json() if str(one["hook_class_name"]).startswith("shelfsync")]
    return {one["connection_type"]: one["hook_name"] for one in ours}


def fill_in(dialog: Locator, fields: dict[str, str]) -> None:
    """Types into a form; a section that is folded away is opened first, which folds the other one."""
    for name, text in fields.items():
        field = dialog.locator(f"input[name={name}]")
        if not field.is_visible():
            section = "Extra Fields" if name.startswith("element_") else "Standard Fields"
            dialog.get_by_role("button", name=section, exact=True).click()
            expect(field).to_be_visible()
        field.fill(text)
        field.press("Tab")


def save(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def pressed(page: Page) -> dict[str, Any]:
    """Presses the button of the list; what Airflow answered, which the page has to show."""
    row = page.get_by_role("row").filter(has_text=CONN_ID)
    with page.expect_response(re.compile(r"/api/v2/connections/test$")) as response:
        row.get_by_role("button", name="Test Connection").click()
    answer = response.value
    assert answer.status == 200, f"{answer.status} {answer.text()}"
    found = dict(answer.json())
    expect(page.get_by_text(found["message"]).last).to_be_visible()
    return found


def test_every_type_that_is_registered_is_tried(installation: Installation) -> None:
    assert registered(installation).keys() == forms(installation).keys()


@pytest.mark.parametrize(("conn_type", "way"), [("shelfsync_platform", "client"), ("shelfsync_platform", "token")])
def test_a_connection_is_filled_in_saved_tested_changed_and_tested_again(
    installation: Installation, page: Page, conn_type: str, way: str
) -> None:
    installation.sandbox("PUT", f"/chains/{installation.configured['platform']['chain']}", {"tokens": [PORTAL_TOKEN]})
    page.get_by_role("button", name="Add Connection").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("input[name=connection_id]").fill(CONN_ID)
    dialog.get_by_role("combobox").first.fill(registered(installation)[conn_type])
    page.keyboard.press("Enter")
    fill_in(dialog, forms(installation)[conn_type][way])
    save(page)
    found = pressed(page)
    assert found["status"] is True, found

    page.get_by_role("row").filter(has_text=CONN_ID).get_by_role("button", name="Edit Connection").click()
    page.get_by_role("dialog").locator("textarea[name=description]").fill("changed")
    save(page)
    found = pressed(page)
    assert found["status"] is True, f"what was saved before is lost: {found}"

    page.get_by_role("row").filter(has_text=CONN_ID).get_by_role("button", name="Edit Connection").click()
    fill_in(page.get_by_role("dialog"), {SECRET[way]: "not-the-secret"})
    save(page)
    found = pressed(page)
    assert found["status"] is False, found
    assert "not-the-secret" not in found["message"]
