"""The kinds of conditions: how severe each is, what customers see meanwhile, what happens without a person, and its runbook."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shelfsync.errors import RUNBOOKS, Alarm


class Severity(StrEnum):
    """How soon a person must know."""

    SEVERE = "severe"
    """Customers see a wrong shelf, or an order waits: at once, day and night."""
    WARNING = "warning"
    """A person has to decide or to repair something: in working hours."""
    NOTICE = "notice"
    """Good to know."""

    @property
    def rank(self) -> int:
        """Its place in a list that begins with the most severe: 0, 1, 2."""
        return list(Severity).index(self)


@dataclass(frozen=True)
class Kind:
    """One kind of condition. `page` is the path of its runbook in the project."""

    name: str
    severity: Severity
    title: str
    customers: str
    by_itself: str
    page: str


_AS_BEFORE = "The app shows the last acknowledged prices and stock."
_NOTHING = "Nothing, until a person acts."
_TRIES = "shelfsync tries again with each run, and sends what differs as soon as it can."


def _kind(name: str, severity: Severity, title: str, customers: str, by_itself: str, page: Alarm | str) -> Kind:
    return Kind(name, severity, title, customers, by_itself, page.page if isinstance(page, Alarm) else RUNBOOKS + page)


KINDS = {
    kind.name: kind
    for kind in (
        _kind("platform_away", Severity.SEVERE, "the platform is away", _AS_BEFORE, _TRIES, "platform-away.md"),
        _kind("erp_away", Severity.SEVERE, "the ERP is away", _AS_BEFORE, _TRIES, "nothing-is-sent.md"),
        _kind("not_read", Severity.SEVERE, "the ERP is not read", _AS_BEFORE, _NOTHING, "nothing-is-sent.md"),
        _kind("erp_still", Severity.SEVERE, "the ERP stands still", _AS_BEFORE, _NOTHING, "erp-stands-still.md"),
        _kind("store_late", Severity.SEVERE, "a store is late", _AS_BEFORE, _TRIES, "changes-not-acknowledged.md"),
        _kind("run_failed", Severity.WARNING, "a run failed", _AS_BEFORE, _TRIES, "nothing-is-sent.md"),
        _kind(
            *(
                "campaigns_failed",
                Severity.WARNING,
                "campaigns are not sent",
                "They miss a new campaign, or see an old one.",
            ),
            *("The next run of promotions tries again.", "promotion-failed.md"),
        ),
        _kind(
            *("store_failed", Severity.WARNING, "a store's run failed", "This store shows what it showed before."),
            *("The next run tries it again. Every other store goes on.", Alarm.VENDOR_FAILED),
        ),
        _kind(
            *(
                "hold_waits",
                Severity.WARNING,
                "held changes wait for a decision",
                "The held products keep their values.",
            ),
            *("A hold expires without a decision; its rows stay held.", Alarm.HELD),
        ),
        _kind(
            *("hold_expires", Severity.SEVERE, "a hold expires", "The held products keep their values."),
            *("Its rows stay held, and no question is asked again.", Alarm.HELD),
        ),
        _kind("paused", Severity.WARNING, "sending is paused", _AS_BEFORE, _NOTHING, Alarm.PAUSED),
        _kind(
            *("unaccounted", Severity.WARNING, "SKUs without an outcome", "Unknown for these products."),
            *("The next run sends the newest values of these products again.", Alarm.UNACCOUNTED),
        ),
        _kind(
            *("rows_of_no_store", Severity.WARNING, "rows of the ERP belong to no store", _AS_BEFORE),
            *(_NOTHING, Alarm.UNUSABLE_ROWS),
        ),
        _kind(
            *(
                "rows_quarantined",
                Severity.WARNING,
                "many rows of a store cannot be sent",
                "These products keep their values.",
            ),
            *("shelfsync sends each row as soon as the ERP gives it whole.", "rows-quarantined.md"),
        ),
        _kind(
            *("changes_missed", Severity.WARNING, "the changes query misses rows", "Late prices, until the full sync."),
            *("The daily full sync repairs what it missed.", Alarm.CHANGES_MISSED),
        ),
        _kind(
            *("job_events", Severity.WARNING, "events of jobs are quarantined", "Nothing."),
            *("The jobs end by polling.", Alarm.QUARANTINED),
        ),
        _kind(
            *("columns_changed", Severity.WARNING, "the ERP's columns have changed", "Nothing, if the columns fit."),
            *("shelfsync reads the columns that it knows.", "columns-changed.md"),
        ),
        _kind(
            *("rejected", Severity.NOTICE, "the platform rejects products", "These products keep their values."),
            *("The daily full sync tries them again.", "products-rejected.md"),
        ),
        _kind(
            *(
                "drift_returns",
                Severity.WARNING,
                "the platform does not keep values",
                "These products show values that the ERP does not have.",
            ),
            *("The daily full sync tries them again.", "products-rejected.md"),
        ),
        _kind(
            "rate_limited", Severity.WARNING, "the platform stops shelfsync", _AS_BEFORE, _TRIES, "rate-limit-pauses.md"
        ),
        _kind(
            *("no_webhook", Severity.WARNING, "the webhook is silent", "Prices, stop-sells and orders are later."),
            *("shelfsync polls instead.", Alarm.POLLED),
        ),
        _kind(
            *(
                "secret_refused",
                Severity.WARNING,
                "calls come with a wrong secret",
                "Later values, if it is the platform.",
            ),
            *("shelfsync polls instead; picking results wait at the store.", Alarm.CALLS_REJECTED),
        ),
        _kind(
            *(
                "few_accepted",
                Severity.WARNING,
                "the platform accepts too few SKUs of a store",
                "These products keep their values.",
            ),
            *("The daily full sync tries them again.", "products-rejected.md"),
        ),
        _kind("dag_off", Severity.WARNING, "a DAG is off", "Unknown: it depends on the DAG.", _NOTHING, "dag-off.md"),
        _kind(
            *("dag_late", Severity.WARNING, "a DAG does not run", "Unknown: it depends on the DAG."),
            *(_NOTHING, "dag-off.md"),
        ),
        _kind(
            *("dag_failed", Severity.WARNING, "a DAG fails", "Unknown: it depends on the DAG."),
            *("The next run of its schedule tries again.", "dag-failed.md"),
        ),
        _kind("disk", Severity.SEVERE, "a disk is nearly full", _AS_BEFORE, _NOTHING, "disk-full.md"),
        _kind(
            *("orders_wait", Severity.SEVERE, "what comes of orders is not taken up", "They wait."),
            *(_NOTHING, Alarm.NOT_TAKEN),
        ),
        _kind("not_taken", Severity.SEVERE, "no store takes an order", "They wait.", _TRIES, Alarm.NOT_TAKEN),
        _kind("missed", Severity.SEVERE, "orders came too late to a store", "They wait.", _NOTHING, Alarm.MISSED),
        _kind("overdue", Severity.SEVERE, "orders are not picked", "They wait.", _NOTHING, Alarm.OVERDUE),
        _kind("not_sent", Severity.SEVERE, "picking results wait", "They wait.", _TRIES, Alarm.NOT_SENT),
        _kind("unreadable", Severity.WARNING, "a picking result is rejected", "They wait.", _NOTHING, Alarm.UNREADABLE),
        _kind("quarantined", Severity.WARNING, "orders are quarantined", "They wait.", _NOTHING, Alarm.QUARANTINED),
        _kind("history", Severity.NOTICE, "the order history is behind", "Nothing.", _TRIES, Alarm.HISTORY),
        _kind(
            *("not_watched", Severity.WARNING, "a condition cannot be looked at", "Unknown."),
            *("The next watch looks again.", "README.md"),
        ),
        _kind(
            *("route_away", Severity.WARNING, "messages do not reach a route", "Nothing."),
            *("shelfsync sends them again, after longer and longer waits.", "README.md"),
        ),
    )
}
"""By name. A condition of another name is a mistake of the programmer."""
