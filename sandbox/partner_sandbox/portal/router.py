"""The pages of the portal (interface.md 3.4, 4.1, 5.6: what a partner sees there), drawn on the server."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from partner_sandbox import conformance, jobs, records, webhooks
from partner_sandbox.control import on_this_machine
from partner_sandbox.errors import not_found
from partner_sandbox.faults import OPERATIONS, REQUESTS
from partner_sandbox.jobs import address_of
from partner_sandbox.orders import store
from partner_sandbox.portal import actions, pages, views
from partner_sandbox.portal.pages import PageRoute, TheFrame, ThePager
from partner_sandbox.promotions import shown
from partner_sandbox.records import TheFilter
from partner_sandbox.vendors import CHAIN, CLIENT_ID, named_vendor

router = APIRouter(
    prefix="/portal", dependencies=[Depends(on_this_machine)], include_in_schema=False, route_class=PageRoute
)
router.include_router(actions.router)
FEW = 6
CHOICES = 200


@router.get("")
@router.get("/")
def overview(frame: TheFrame, request: Request) -> HTMLResponse:
    """All of it on one page, the latest of each."""
    now_us = frame.now_us
    sandbox = frame.sandbox
    with sandbox.storage.begin() as connection:
        shops = views.vendors(connection, frame.chain, now_us)
        jobs_total, latest_jobs = views.jobs(connection, frame.chain, 0, FEW)
        orders_total, latest_orders = store.page(connection, store.of_chain(frame.chain), 0, FEW, newest_first=True)
        events_total, events = views.deliveries(connection, frame.chain, 0, FEW)
        values: dict[str, Any] = {
            "vendors": shops,
            "skus": _choices(connection, shops),
            "chart": views.draw_chart(connection, now_us, sandbox.behaviour.requests_per_minute),
            "jobs": latest_jobs,
            "orders": latest_orders,
            "promotions": shown.overview(connection, frame.chain, now_us, FEW),
            "webhook": webhooks.addresses(connection, frame.chain),
            "deliveries": events,
        }
    totals = {"jobs": jobs_total, "orders": orders_total, "deliveries": events_total}
    return frame.page(
        "overview.html",
        **values,
        totals=totals,
        faults=sandbox.faults.state(),
        busiest=sandbox.journal.max_requests_in_60s,
        rate_key=sandbox.behaviour.rate_key,
        client_id=CLIENT_ID,
        base_url=address_of(sandbox, request),
        published=frame.chain == CHAIN,
    )


@router.get("/vendors/{vendor_id}")
def vendor_page(frame: TheFrame, vendor_id: str, pager: ThePager, q: str = "", edit: str = "") -> HTMLResponse:
    """What customers of a vendor see now, a basket to order from it, and a form for one product (`edit`: its SKU)."""
    with frame.sandbox.storage.begin() as connection:
        found = named_vendor(connection, frame.chain, vendor_id)
        pager.total, shown = views.shelf(connection, found, frame.now_us, pager.first, pager.size, q)
        edited = views.one_product(connection, found, edit) if edit else None
    return frame.page("vendor.html", vendor=found, products=shown, term=q, pager=pager, edited=edited)


@router.get("/jobs")
def jobs_page(frame: TheFrame, pager: ThePager) -> HTMLResponse:
    """Every job of the chain, the newest first."""
    with frame.sandbox.storage.begin() as connection:
        pager.total, rows = views.jobs(connection, frame.chain, pager.first, pager.size)
    return frame.page("jobs.html", jobs=rows, pager=pager)


@router.get("/jobs/{job_id}")
def job_page(frame: TheFrame, job_id: str, pager: ThePager, rejected: str = "") -> HTMLResponse:
    """A job with the outcome of each SKU."""
    only_rejected = rejected == "1"
    with frame.sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, frame.chain, job_id)
        if job is None:
            raise not_found("Job")
        pager.total, items = views.job_items(connection, job.seq, pager.first, pager.size, only_rejected=only_rejected)
        _, events = views.deliveries(connection, frame.chain, 0, pages.PAGE_ROWS, subject=job.job_id)
    left_out = views.left_out(vars(job))
    return frame.page(
        "job.html",
        job=job,
        items=items,
        left_out=left_out[:1000],
        left_out_total=len(left_out),
        only_rejected=only_rejected,
        deliveries=events,
        pager=pager,
    )


@router.get("/promotions")
def promotions_page(frame: TheFrame) -> HTMLResponse:
    """The promotions with the states of interface.md 3.4."""
    with frame.sandbox.storage.begin() as connection:
        found = shown.overview(connection, frame.chain, frame.now_us)
    return frame.page("promotions.html", promotions=found)


@router.get("/promotions/{promotion_id}")
def promotion_page(frame: TheFrame, promotion_id: str, pager: ThePager) -> HTMLResponse:
    """A promotion with its SKUs."""
    with frame.sandbox.storage.begin() as connection:
        known = promotion_id.isdecimal() and len(promotion_id) < 10
        found = shown.one(connection, frame.chain, int(promotion_id), frame.now_us) if known else None
        if found is None:
            raise not_found("Promotion")
        rows = list(shown.skus(connection, found["id"], pager.first, pager.size))
    pager.total = found["pairs"]
    return frame.page("promotion.html", promotion=found, skus=rows, pager=pager)


@router.get("/orders")
def orders_page(frame: TheFrame, pager: ThePager) -> HTMLResponse:
    """The orders of the chain, the newest first, and a form for one more."""
    with frame.sandbox.storage.begin() as connection:
        shops = views.vendors(connection, frame.chain, frame.now_us)
        where = store.of_chain(frame.chain)
        pager.total, found = store.page(connection, where, pager.first, pager.size, newest_first=True)
        skus = _choices(connection, shops)
    return frame.page("orders.html", orders=found, vendors=shops, skus=skus, pager=pager)


@router.get("/orders/{order_id}")
def order_page(frame: TheFrame, order_id: str) -> HTMLResponse:
    """One order, what happened to it, and what can happen next."""
    with frame.sandbox.storage.begin() as connection:
        order = store.find(connection, order_id.lower(), frame.now_us, chain=frame.chain)
        _, events = views.deliveries(connection, frame.chain, 0, pages.PAGE_ROWS, subject=order.order_id)
    return frame.page("order.html", order=order, deliveries=events)


@router.get("/webhooks")
def webhooks_page(frame: TheFrame, pager: ThePager) -> HTMLResponse:
    """Where events go, and every attempt to deliver one."""
    with frame.sandbox.storage.begin() as connection:
        settings = webhooks.addresses(connection, frame.chain)
        pager.total, rows = views.deliveries(connection, frame.chain, pager.first, pager.size)
    bodies = {row["id"]: views.compact(row["body"]) for row in rows}
    return frame.page("webhooks.html", webhook=settings, deliveries=rows, bodies=bodies, pager=pager)


@router.get("/requests")
def requests_page(frame: TheFrame, pager: ThePager, wanted: TheFilter) -> HTMLResponse:
    """What clients sent and what was answered, the newest first; and the events to them."""
    with frame.sandbox.storage.begin() as connection:
        pager.total, rows = records.page(connection, wanted, pager.first, pager.size)
        rules = records.rules(connection)
    choices: dict[str, Any] = {
        "kinds": records.KINDS,
        "operations": OPERATIONS[:-1],
        "statuses": records.STATUSES,
        "rules": rules,
    }
    return frame.page("requests.html", rows=rows, wanted=wanted, chosen=wanted.values(), pager=pager, **choices)


@router.get("/requests.har")
def requests_har(frame: TheFrame, wanted: TheFilter) -> Response:
    """The newest of the list with their bodies, as an HTTP archive."""
    return records.har_of(frame.sandbox, wanted)


@router.get("/requests/{n}.har")
def request_har(frame: TheFrame, n: int) -> Response:
    """One record as an HTTP archive."""
    return records.har_of(frame.sandbox, records.Filter(), n)


@router.get("/requests/{n}")
def request_page(frame: TheFrame, n: int) -> HTMLResponse:
    """One request: headers, the beginning of each body, and why it was rejected."""
    with frame.sandbox.storage.begin() as connection:
        row = records.one(connection, n)
    return frame.page("request.html", record=row)


@router.get("/check")
def check_page(frame: TheFrame) -> HTMLResponse:
    """Which duties of the interface the clients were seen to meet or to break."""
    with frame.sandbox.storage.begin() as connection:
        found = conformance.report(connection, frame.sandbox)
    return frame.page("check.html", found=found)


@router.get("/faults")
def faults_page(frame: TheFrame) -> HTMLResponse:
    """The faults in force, a form for one more, and every kind with a sentence."""
    return frame.page("faults.html", faults=frame.sandbox.faults.state(), operations=OPERATIONS, requests=[*REQUESTS])


def _choices(connection: Any, shops: list[dict[str, Any]]) -> list[str]:
    """SKUs to choose from, of the vendors together."""
    found: dict[str, None] = {}
    for shop in shops:
        found.update(dict.fromkeys(views.orderable(connection, shop["id"], CHOICES)))
    return list(found)[:CHOICES]
