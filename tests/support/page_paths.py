"""Every address of the pages, which a test compares with the application: no other test can forget a new page."""

from __future__ import annotations

PATHS = (
    "/",
    "/alerts",
    "/alerts.csv",
    "/alerts/{}",
    "/holds",
    "/holds.csv",
    "/holds/{}",
    "/holds/{}/rows.csv",
    "/promotions",
    "/promotions.csv",
    "/promotions/{}",
    "/orders",
    "/orders.csv",
    "/orders/{}",
    "/explain",
    "/from-airflow",
    "/rejections",
    "/rejections.csv",
    "/rejections.xlsx",
    "/quarantine",
    "/quarantine.csv",
    "/store",
    "/store/restore",
    "/products",
    "/products.csv",
    "/search",
    "/search/suggestions",
    "/search/stores",
    "/search/stores.csv",
    "/drift",
    "/drift.csv",
    "/inbox",
    "/inbox.csv",
    "/drift/{}.csv",
    "/runs",
    "/runs.csv",
    "/runs/{}",
    "/runs/{}/rows.csv",
    "/switches",
    "/{}",
)
FORMS = (
    "/alerts/{}/acknowledge",
    "/holds/{}/approve",
    "/holds/{}/decline",
    "/holds/{}/reconsider",
    "/holds/{}/reopen",
    "/holds/rules/{}/approve",
    "/holds/rules/{}/decline",
    "/inbox/replay",
    "/rejections/release",
    "/store/end-restoration",
    "/store/restore",
    "/store/sync",
    "/switches/{}",
)
_PLACES = {"/alerts/{}": "1", "/holds/{}": "1", "/promotions/{}": "1", "/runs/{}": "1", "/{}": "nothing"}
_QUERIES = (
    "/from-airflow?dag_id=catalog_delta_sync",
    "/store?vendor=store-001",
    "/store/restore?vendor=store-001&at=2020-01-01T00:00",
    "/explain?vendor=store-001&sku=a1",
    "/explain?vendor=store-001&sku=a1&at=2020-01-01T00:00",
    "/rejections?reason=product+not+found+in+the+catalog+of+the+vendor",
    "/rejections?reason=no+such+reason",
    "/search?q=a",
    "/search/stores?sku=a1",
    "/alerts/999",
)


def addresses(order: str = "nothing") -> list[str]:
    """What a browser shows of each path, with something behind it where there is something; `order`: an order's code."""
    shown = [path for path in PATHS if not path.endswith((".csv", ".xlsx", "/suggestions"))]
    places = _PLACES | {"/orders/{}": order}
    return [*(path.format(places.get(path, "")) for path in shown), *_QUERIES]
