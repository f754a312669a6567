"""From an alert a link leads to the page that has what it is about."""

from __future__ import annotations

import pytest

from page_paths import PATHS
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger import alerts
from shelfsync.pages.alert_page import ELSEWHERE, page_about


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_alert_leads_to_a_page_or_is_named_as_one_without(kind):
    found = page_about(kind, "store-001")
    assert (found is None) == (kind in ELSEWHERE)
    assert found is None or found.path.partition("?")[0] in PATHS


def test_the_alert_its_list_and_the_overview_link_the_store_and_every_page_that_an_alert_leads_to_opens(world, browse):
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {("store_late", "store-001"): "store-001: late"})
    pages = browse(world.app)
    link = '<a href="/shelfsync/pages/store?vendor=store-001">Look at the store</a>'
    for path in ("/", "/alerts", "/alerts/1"):
        assert link in pages.get(path).text, path
    assert "store_late" not in pages.get("/alerts/1").text
    for path in {found.path for kind in KINDS if (found := page_about(kind, "store-001"))}:
        assert pages.get(path).status_code == 200, path
