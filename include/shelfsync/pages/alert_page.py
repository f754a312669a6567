"""Where a person looks who reads an alert: the page that has what it is about, by the alert's kind."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote_plus


class Link(NamedTuple):
    """`path`: of the pages, with its query."""

    text: str
    path: str


_OF_STORE = {
    "store_late": Link("Look at the store", "/store?vendor="),
    "store_failed": Link("Look at the store", "/store?vendor="),
    "rows_quarantined": Link("The rows that cannot be sent", "/quarantine?vendor="),
    "unaccounted": Link("The products without a result", "/products?state=unconfirmed&vendor="),
    "few_accepted": Link("The rejected products", "/rejections?vendor="),
}
"""Kinds whose subject is a store: it stands behind the address."""
_OF_ALL = {
    "hold_waits": Link("Decide about the holds", "/holds"),
    "hold_expires": Link("Decide about the holds", "/holds"),
    "paused": Link("What is paused, and resuming it", "/switches"),
    "run_failed": Link("The runs that failed", "/runs?state=failed"),
    "campaigns_failed": Link("The promotions", "/promotions"),
    "rows_of_no_store": Link("The rows that cannot be sent", "/quarantine"),
    "changes_missed": Link("The last runs", "/runs"),
    "not_read": Link("The last runs", "/runs"),
    "erp_away": Link("The last runs", "/runs"),
    "erp_still": Link("The last runs", "/runs"),
    "platform_away": Link("The last runs", "/runs"),
    "rejected": Link("The rejected products", "/rejections"),
    "drift_returns": Link("The differences", "/drift"),
    "no_webhook": Link("What came from the platform", "/inbox"),
    "secret_refused": Link("What came from the platform", "/inbox"),
    "job_events": Link("What came from the platform", "/inbox?set_aside=yes"),
    "orders_wait": Link("What came from the platform", "/inbox"),
    "not_taken": Link("The orders still to be picked", "/orders?open=yes"),
    "missed": Link("The orders still to be picked", "/orders?open=yes"),
    "overdue": Link("The orders still to be picked", "/orders?open=yes"),
    "not_sent": Link("The orders still to be picked", "/orders?open=yes"),
    "unreadable": Link("The orders still to be picked", "/orders?open=yes"),
    "quarantined": Link("The orders", "/orders"),
}
ELSEWHERE = frozenset(
    {
        *("columns_changed", "disk", "dag_off", "dag_late", "dag_failed", "history"),
        *("rate_limited", "not_watched", "route_away"),
    }
)
"""Kinds about which no page has more than the alert."""


def page_about(kind: str, subject: str) -> Link | None:
    """The page with what an alert of this kind and subject is about; None: there is none."""
    if kind in _OF_STORE:
        text, path = _OF_STORE[kind]
        return Link(text, path + quote_plus(subject))
    return _OF_ALL.get(kind)
