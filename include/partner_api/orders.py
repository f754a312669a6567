"""Order picking and order history (interface.md 4.8 to 4.10). Answers hold personal data: errors show no excerpt of them."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from partner_api import answers, json_values
from partner_api.call import Call
from partner_api.catalog import JSON
from partner_api.errors import AmbiguousError, InvalidRequestError, NotFoundError, UnexpectedAnswerError
from partner_api.exchange import judged
from partner_api.json_values import dumps, instant_text
from partner_api.order import Order, OrderHistory, OrderPage
from partner_api.pages import walk

if TYPE_CHECKING:
    from partner_api.order_update import OrderUpdate
    from partner_api.sender import Answer
    from partner_api.session import Session


RANGE_MAX = dt.timedelta(days=60)
PAGE_SIZE_MAX = 500


def put_order(session: Session, update: OrderUpdate, *, priority: str = "order") -> Order:
    """Accepts, fulfils, changes, validates (UPDATE_CART) or cancels one order (4.8); the order as the platform has it now.

    AmbiguousError: read the order before anything else. The client repeats only UPDATE_CART, which changes nothing.
    """
    call = Call(
        operation="put_order",
        priority=priority,
        vendors=(),
        method="PUT",
        url=session.url(session.dialect.order_path, order_id=update.order_id),
        body=dumps(update.wire()),
        headers=JSON,
        safe_to_repeat=update.status == "UPDATE_CART",
        personal=True,
    )
    answer = judged(session, call)
    return _order(session, call, answer, update.order_id)


def get_order(session: Session, order_id: str, *, priority: str = "order") -> Order:
    """One order of the past 60 days (4.9); NotFoundError for an older or unknown one."""
    url = session.url(session.dialect.order_path, order_id=order_id)
    call = Call("get_order", priority, (), "GET", url, safe_to_repeat=True, personal=True)
    answer = judged(session, call)
    return _order(session, call, answer, order_id)


def list_orders(
    session: Session,
    vendor_id: str,
    start_time: dt.datetime,
    end_time: dt.datetime,
    page: int = 1,
    page_size: int = PAGE_SIZE_MAX,
    *,
    priority: str = "history",
) -> OrderPage:
    """One page of a vendor's orders (4.10), counted from 1. The range is at most 60 days; without one the platform finds nothing.

    `vendor_id` is the store id, or the partner's own if there is one. The client finds out once which history path answers.
    """
    _check_range(start_time, end_time, page, page_size)
    parameters = {
        "start_time": instant_text(start_time, suffix=""),
        "end_time": instant_text(end_time, suffix=""),
        "page": str(page),
        "page_size": str(page_size),
    }
    missing: NotFoundError | None = None
    details: dict[str, Any] = {"operation": "list_orders"}
    known = session.discovered.get("history_path")
    for path in (known,) if known else session.dialect.history_paths:
        url = f"{session.url(path, vendor_id=vendor_id)}?{urlencode(parameters)}"
        call = Call("list_orders", priority, (vendor_id,), "GET", url, safe_to_repeat=True, personal=True)
        try:
            answer = judged(session, call)
        except NotFoundError as error:
            missing = error
            continue
        body = json_values.mapping(json_values.json_or_none(answer.body))
        if isinstance(body.get("orders"), list):
            session.discovered["history_path"] = path
            return OrderPage.read(body)
        details = answers.of(answer, call, session)
    if missing is not None:
        raise missing
    raise UnexpectedAnswerError("no history path of the dialect answers with orders", **details)


def whole_history(
    session: Session, vendor_id: str, start_time: dt.datetime, end_time: dt.datetime, *, priority: str = "history"
) -> OrderHistory:
    """All orders of a range, each once; incomplete if the pages contradict each other."""

    def fetch(page: int) -> OrderPage:
        return list_orders(session, vendor_id, start_time, end_time, page, priority=priority)

    found = walk(fetch, lambda page: page.orders, _identity, session.dialect.pages_max)
    return OrderHistory(tuple(found.entries.values()), found.pages, found.why is None, found.why)


def _identity(order: Order) -> object:
    return order.order_id or order.external_order_id or id(order)


def _check_range(start_time: dt.datetime, end_time: dt.datetime, page: int, page_size: int) -> None:
    problem = None
    if start_time.tzinfo is None or end_time.tzinfo is None:
        problem = "start and end need a time zone"
    elif not dt.timedelta(0) <= end_time - start_time <= RANGE_MAX:
        problem = f"the range is {end_time - start_time}, at most {RANGE_MAX.days} days are allowed, and the end is not before the start"
    elif page < 1 or not 1 <= page_size <= PAGE_SIZE_MAX:
        problem = f"page {page} of {page_size} orders: pages count from 1 and hold 1 to {PAGE_SIZE_MAX}"
    if problem:
        raise InvalidRequestError(problem, operation="list_orders", remedy="Nothing was sent; correct it")


def _order(session: Session, call: Call, answer: Answer, order_id: str) -> Order:
    body = answers.body_of(answer, call, session)
    order = Order.read(json_values.mapping(body.get("order")) or body)
    if order.order_id is not None and order.order_id.lower() != order_id.lower():
        kind = UnexpectedAnswerError if call.safe_to_repeat else AmbiguousError
        raise kind(
            "the answer holds another order than the requested one",
            operation=call.operation,
            status=answer.status,
            request_id=answer.request_id,
        )
    return order
