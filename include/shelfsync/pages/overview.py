"""The first page: how the chain is in one sentence, what needs a person, every store by its condition, and the figures of the last day."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import HTMLResponse

from shelfsync import outages
from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.steps import lists as alerts
from shelfsync.alerts.subject_in_words import subject_in_words
from shelfsync.catalog.steps.overview import overview as read_overview
from shelfsync.catalog.store_condition import Condition
from shelfsync.chosen_chain import of_chain
from shelfsync.decisions.steps.lists import open_by_rule
from shelfsync.pages.alert_page import page_about
from shelfsync.pages.charts import Bar, Bars
from shelfsync.pages.drift import CAUSES
from shelfsync.pages.shell import First, Page, context, show, shown
from shelfsync.terminal import age

OVERVIEW = Page(
    "/",
    "Overview",
    ("catalog_full_sync", "catalog_delta_sync", "catalog_recover", "catalog_urgent_sync", "housekeeping"),
)

TILES = 60
"""Stores on a page."""
ALERTS = 8
"""Open alerts that the first page names."""

_PRIORITIES = {"stop_sell": "off sale", "price": "prices", "catalog": "other changes"}
_CALLS = {
    "token": "log-ins",
    "put_catalog": "updates of products",
    "list_catalog": "listings",
    "export": "exports",
    "job_status": "status calls",
    "download": "results and exports read",
    "put_promotion": "updates of promotions",
    "promotion_status": "status calls of promotions",
    "put_order": "results of orders",
    "get_order": "orders read",
    "list_orders": "lists of orders",
    "outlet_status": "states of stores",
}
State = Annotated[str, Query(max_length=20)]


@OVERVIEW.router.get("/")
def overview(request: Request, state: State = "", first: First = 0) -> HTMLResponse:
    """The same facts as `shelfsync status`."""
    app = context(request)
    found = read_overview(app)
    order = list(Condition)
    vendors = sorted(found["vendors"], key=lambda row: order.index(row["condition"]))
    numbers = Counter(row["condition"] for row in vendors)
    chosen = [row for row in vendors if state in {"", row["condition"]}]
    after = first + TILES
    listed = [row for row in alerts.listed(app) if row["kind"] != "hold_waits"]  # the holds themselves stand below
    opened = [
        {
            **row,
            "kind": KINDS[row["kind"]],
            "in_words": subject_in_words(row["kind"], row["subject"]),
            "about": page_about(row["kind"], row["subject"]),
        }
        for row in listed
    ]
    return show(
        request,
        "overview.html",
        full_sync=of_chain(OVERVIEW.dags[0], request.app.state.chain),
        of_chain=request.app.state.chain,
        title="Overview",
        sentence=found["sentence"],
        alerts=opened[:ALERTS],
        more_alerts=len(opened) - ALERTS,
        look=alerts.look(app),
        holds=open_by_rule(app),
        restored=[row for row in vendors if row["restorations"]],
        outages=outages.lines(found["outages"]),
        states=[(str(one), numbers[one]) for one in order if numbers[one]],
        state=state,
        stores=chosen[first:after],
        known=len(vendors),
        next=urlencode(({"state": state} if state else {}) | {"first": after}) if after < len(chosen) else "",
        charts=[chart for chart in charts(found) if chart.bars],
        **{name: found[name] for name in ("alarms", "absent", "forecast", "runs")},
    )


def charts(found: dict[str, Any]) -> list[Bars]:
    """The figures of the last day, and of what is rejected and differs now."""
    return [_freshness(found), _requests(found), _acceptance(found), _rejections(found), _drift(found)]


def _freshness(found: dict[str, Any]) -> Bars:
    bars = [
        Bar(f"{_PRIORITIES[row['priority']]}: {share}", row[name], age(row[name]), tone)
        for row in found["freshness"]
        for share, name, tone in (("half of them within", "seconds_median", ""), ("95 % within", "seconds_p95", "note"))
    ]
    note = "From the reading of the ERP to the platform's confirmation, last 24 hours."
    return Bars("How fast changes arrive", ("changes", "time"), tuple(bars), note=note)


def _requests(found: dict[str, Any]) -> Bars:
    used = found["requests"]
    bars = tuple(
        Bar(_CALLS.get(name, name.replace("_", " ")), count, shown(count)) for name, count in used["by"].items()
    )
    note = f"{shown(used['requests'])} of {shown(used['allowed'])} allowed in {used['hours']} hours ({used['requests'] / used['allowed']:.1%})."
    return Bars("Requests used, by kind", ("kind", "requests"), bars, note=note)


def _acceptance(found: dict[str, Any]) -> Bars:
    of = found["acceptance"]
    bars = [
        Bar(label, of[name], shown(of[name]), tone)
        for name, label, tone in (
            ("accepted", "accepted", "good"),
            ("rejected", "rejected", "bad"),
            ("unaccounted", "without a result", "note"),
        )
        if of["sent"]
    ]
    note = f"Of {shown(of['sent'])} products sent in the last 24 hours, {of['accepted'] / max(of['sent'], 1):.1%} were accepted."
    return Bars("What the platform accepts", ("result", "products"), tuple(bars), whole=of["sent"], note=note)


def _rejections(found: dict[str, Any]) -> Bars:
    bars = [
        Bar(
            row["reason"], row["rows"], shown(row["rows"]), "bad", f"/rejections?{urlencode({'reason': row['reason']})}"
        )
        for row in found["rejections"]
    ]
    return Bars("Rejected now, by reason", ("reason", "products"), tuple(bars))


def _drift(found: dict[str, Any]) -> Bars:
    bars = [
        Bar(
            CAUSES.get(row["cause"], row["cause"]),
            row["differing"],
            shown(row["differing"]),
            "note",
            f"/drift?{urlencode({'cause': row['cause']})}",
        )
        for row in found["drift"]
    ]
    note = "Values that differ in the newest export of each store."
    return Bars("Differences on the platform, by cause", ("cause", "values"), tuple(bars), note=note)
