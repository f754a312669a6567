"""From a DAG or a run in Airflow to the page about it: where the tabs in Airflow lead."""

from __future__ import annotations

from fastapi import HTTPException, Request
from starlette.responses import RedirectResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.catalog.ledger import runs
from shelfsync.pages.shell import Page, Text, context, lead_to

FROM_AIRFLOW = Page("/from-airflow", "From Airflow", in_menu=False)

_PAGES = {
    **dict.fromkeys(("catalog_full_sync", "catalog_delta_sync", "catalog_urgent_sync", "catalog_recover"), "/runs"),
    "catalog_holds": "/holds",
    "assortment_export": "/drift",
    **dict.fromkeys(("promotions_sync", "promotions_recover"), "/promotions"),
    **dict.fromkeys(("orders_fulfilment", "orders_history"), "/orders"),
    "alerts_watch": "/alerts",
    "housekeeping": "/",
}
"""The page of each DAG."""


@FROM_AIRFLOW.router.get("/from-airflow")
def from_airflow(request: Request, dag_id: Text = "", run_id: Text = "") -> RedirectResponse:
    """To the run, or to the page of the DAG if shelfsync has no such run. 404: the DAG is none of shelfsync."""
    page = _PAGES.get(dag_id.partition("__")[0])
    if page is None:
        raise HTTPException(HTTP_404_NOT_FOUND, "shelfsync has no page about this DAG.")
    with context(request).engine.connect() as connection:
        found = runs.of_key(connection, f"{dag_id}/{run_id}") if run_id else None
    return lead_to(request, page if found is None else f"/runs/{found}")
