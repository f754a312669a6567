"""Each duty of a client, and how it is judged by what the platform's tables hold since the last reset.

A duty that had no occasion is "not seen". Records are named by their numbers, as GET /_sandbox/records shows them.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, or_, select

from partner_sandbox.clock import SECOND_US
from partner_sandbox.jobs import job
from partner_sandbox.journal import WINDOW_US, journal
from partner_sandbox.orders.store import orders
from partner_sandbox.webhooks import attempt, delivery

Verdict = Literal["met", "broken", "not seen"]
EVIDENCE_MAX = 5
LIMIT = 60
"""Requests a minute by the interface, whatever limit the sandbox has (interface.md 8)."""
REPEATS = 3
"""So many times the same wrong thing is a habit, and no accident."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one duty, with the sentences that it rests on."""

    verdict: Verdict
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """What a judge looks at."""

    connection: Connection
    now_us: int
    virtual: bool

    def lines(self, *where: ColumnElement[bool]) -> Iterator[Row[Any]]:
        """The records of requests, in their order."""
        of = select(journal).where(journal.c.kind != "webhook", *where).order_by(journal.c.n)
        yield from self.connection.execute(of.execution_options(yield_per=1000))

    def count(self, *where: ColumnElement[bool]) -> int:
        """How many there are."""
        of = select(func.count()).select_from(journal).where(journal.c.kind != "webhook", *where)
        return int(self.connection.execute(of).scalar_one())


def _judged(broken: list[str], met: str | None) -> Finding:
    """Broken by any evidence against it, met by evidence for it alone."""
    if broken:
        more = len(broken) - EVIDENCE_MAX
        return Finding("broken", (*broken[:EVIDENCE_MAX], *([f"and {more} more"] if more > 0 else [])))
    return Finding("met", (met,)) if met else Finding("not seen")


def _answered() -> ColumnElement[bool]:
    return journal.c.status.between(200, 299)


def _token_reused(look: Look) -> Finding:
    tokens = list(look.lines(journal.c.operation == "token", _answered()))
    used = look.connection.execute(
        select(journal.c.caller, func.count().label("calls"))
        .where(journal.c.kind == "request", journal.c.caller.is_not(None), journal.c.operation != "token")
        .group_by(journal.c.caller)
    ).all()
    calls = sum(row.calls for row in used)
    if len(tokens) >= REPEATS and calls < REPEATS * len(tokens):
        numbers = _numbers(tokens[-REPEATS:])
        return Finding("broken", (f"{len(tokens)} tokens were issued for {calls} requests, the last by {numbers}",))
    most = max((row.calls for row in used), default=0)
    return _judged([], f"one token carried {most} requests" if most > 1 else None)


def _token_renewed(look: Look) -> Finding:
    rejected: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    renewed: list[str] = []
    waiting: Row[Any] | None = None
    for line in look.lines(journal.c.kind == "request", journal.c.caller.is_not(None)):
        if line.status == 401:
            rejected[line.caller].append(line)
            waiting = waiting or line
        elif waiting is not None and line.caller != waiting.caller and 200 <= (line.status or 0) < 300:
            renewed.append(f"after the 401 of record {waiting.n}, record {line.n} has another token")
            waiting = None
    broken = [
        f"{len(lines)} requests with the same rejected token: records {_numbers(lines)}"
        for lines in rejected.values()
        if len(lines) > REPEATS
    ]
    return _judged(broken, renewed[0] if renewed else None)


def _within_the_limit(look: Look) -> Finding:
    window: deque[Row[Any]] = deque()
    busiest: tuple[int, int] = (0, 0)
    total = 0
    for line in look.lines(journal.c.kind == "request"):
        total += 1
        window.append(line)
        while window[0].at_us <= line.at_us - WINDOW_US:
            window.popleft()
        busiest = max(busiest, (len(window), -line.n))
    rejected = list(look.lines(journal.c.hint.contains("choice requests_per_minute=")))
    broken = [f"{len(rejected)} requests were rejected by the limit: records {_numbers(rejected)}"] if rejected else []
    if busiest[0] > LIMIT:
        broken.append(f"{busiest[0]} requests in the 60 seconds up to record {-busiest[1]}; {LIMIT} are allowed")
    return _judged(broken, f"at most {busiest[0]} requests in any 60 seconds" if total > 1 else None)


def _backs_off(look: Look) -> Finding:
    if look.virtual:
        return Finding("not seen", ("a virtual clock does not show how long a client waited",))
    at_once: list[str] = []
    waited = 0
    rejected: dict[tuple[str, str], Row[Any]] = {}
    for line in look.lines(journal.c.kind == "request"):
        key = (line.method, line.route)
        before = rejected.pop(key, None)
        if before is not None:
            after_s = (line.at_us - before.at_us) / SECOND_US
            waited += after_s >= 1
            if after_s < 1:
                at_once.append(f"record {line.n} repeats record {before.n} ({before.status}) after {after_s:.1f} s")
        if line.status == 429 or (line.status or 0) >= 500:
            rejected[key] = line
    return _judged(
        at_once if len(at_once) >= REPEATS else [], f"{waited} repeats after a second or more" if waited else None
    )


def _not_repeated(look: Look) -> Finding:
    rejected = (journal.c.status == 400, journal.c.operation != "token")
    same = (journal.c.method, journal.c.route, journal.c.bytes_in, journal.c.reason)
    often = look.connection.execute(
        select(*same, func.count().label("times"), func.max(journal.c.n).label("n"))
        .where(journal.c.kind == "request", *rejected)
        .group_by(*same)
        .having(func.count() >= REPEATS)
    )
    broken = [
        f"{row.method} {row.route} was sent {row.times} times, last record {row.n}: {row.reason}" for row in often
    ]
    total = look.count(*rejected)
    return _judged(broken, f"{total} requests were rejected with 400, none was repeated as it was" if total else None)


_PAGE = re.compile(r"[?&]page=0*([2-9]|[1-9]\d)")


def _page_parameter(look: Look) -> Finding:
    broken: list[str] = []
    further: int | None = None
    for line in look.lines(journal.c.operation.in_(["list_catalog", "list_orders"]), journal.c.route.contains("?")):
        if re.search(r"[?&](page_number|pageNumber|offset)=", line.route):
            broken.append(f"record {line.n}: {line.route} is answered with page 1 for ever")
        elif _PAGE.search(line.route):
            further = line.n
    return _judged(broken, f"record {further} asks for a further page by page" if further else None)


def _outcomes_read(look: Look) -> Finding:
    ended = select(job).where(job.c.kind == "update", job.c.state == "COMPLETED", job.c.file.is_not(None))
    read: dict[str, int] = {}
    for line in look.lines(journal.c.operation.in_(["log", "job_status"]), _answered()):
        read[line.route.partition("?")[0].rpartition("/")[2]] = line.n
    broken: list[str] = []
    met: str | None = None
    for row in look.connection.execute(ended.order_by(job.c.seq)):
        number = max(read.get(row.file, 0), read.get(row.job_id, 0))
        if number:
            met = f"record {number} reads the outcomes of job {row.job_id}"
        elif row.rejected and row.link_ends_us <= look.now_us:
            broken.append(
                f"job {row.job_id} of {row.vendor}: {row.rejected} of {row.items} items were rejected,"
                " and neither its log nor its status was read while the link was good"
            )
    return _judged(broken, met)


def _presigned_alone(look: Look) -> Finding:
    broken = [
        f"record {line.n} sends a token to the storage host"
        for line in look.lines(journal.c.kind == "storage", journal.c.caller.is_not(None))
    ]
    good = look.count(journal.c.kind == "storage", _answered())
    return _judged(broken, f"{good} presigned links were fetched without a token" if good else None)


def _in_bulk(look: Look) -> Finding:
    minute = job.c.created_us / WINDOW_US
    small = (
        select(job.c.vendor, func.count().label("jobs"), func.min(job.c.created_us).label("first_us"))
        .where(job.c.kind == "update", job.c["items"] <= 2, job.c.state != "RECEIVING")
        .group_by(job.c.vendor, minute)
        .having(func.count() >= 10)
    )
    broken = [
        f"{row.jobs} requests with one or two products for {row.vendor} within a minute"
        for row in look.connection.execute(small)
    ]
    most = look.connection.execute(select(func.max(job.c["items"])).where(job.c.kind == "update")).scalar()
    return _judged(broken, f"a request had {most} products" if (most or 0) > 2 else None)


def _sku_beside_id(look: Look) -> Finding:
    without = select(orders.c.order_id).where(orders.c.document.contains("ITEM_WITHOUT_SKU"))
    broken = [
        f"order {row.order_id} was cancelled by an item with _id and no sku" for row in look.connection.execute(without)
    ]
    asked = look.lines(journal.c.operation == "put_order", journal.c.reason.contains("_id without sku"))
    broken += [f"record {line.n}: {line.reason}" for line in asked]
    good = look.count(journal.c.operation == "put_order", _answered())
    return _judged(broken, f"{good} changes of orders" if good else None)


def _state_respected(look: Look) -> Finding:
    late = look.lines(journal.c.operation == "put_order", journal.c.reason.startswith("status: an order that is"))
    broken = [f"record {line.n}: {line.reason}" for line in late]
    good = look.count(journal.c.operation == "put_order", _answered())
    return _judged(broken, f"{good} changes of orders" if good else None)


def _orders_answered(look: Look) -> Finding:
    delivered = select(delivery.c.subject).where(delivery.c.event == "RECEIVED", delivery.c.state == "delivered")
    known = select(orders).where(orders.c.order_id.in_(delivered))
    promised = func.json_extract(orders.c.document, "$.promised_us")
    late = look.connection.execute(known.where(orders.c.state == "RECEIVED", promised < look.now_us))
    broken = [f"order {row.order_id} was delivered to the webhook and is still RECEIVED" for row in late]
    met = look.connection.execute(
        select(func.count()).select_from(known.where(orders.c.state != "RECEIVED").subquery())
    ).scalar_one()
    return _judged(broken, f"{met} orders were accepted, fulfilled or cancelled" if met else None)


def _attempts(look: Look, *where: ColumnElement[bool]) -> list[Row[Any]]:
    tried = select(attempt, delivery.c.event, delivery.c.subject).join(delivery, delivery.c.id == attempt.c.delivery_id)
    return list(look.connection.execute(tried.where(*where).order_by(delivery.c.id, attempt.c.number)))


def _good(row: Row[Any]) -> bool:
    return row.status is not None and 200 <= row.status < 300


def _webhook_answered(look: Look) -> Finding:
    tried = _attempts(look, delivery.c.authorization.is_(None))
    broken = [
        f"{row.event} of {row.subject}, attempt {row.number}: {row.problem or f'answered {row.status}'}"
        for row in tried
        if not _good(row)
    ]
    return _judged(broken, f"{len(tried)} calls were answered with 2xx in time" if tried else None)


def _secret_checked(look: Look) -> Finding:
    forged = _attempts(look, delivery.c.authorization.is_not(None))
    broken = [
        f"{row.event} of {row.subject} with a wrong secret was answered {row.status}" for row in forged if _good(row)
    ]
    kept_out = [row.status for row in forged if row.status in {401, 403}]
    return _judged(
        broken, f"{len(kept_out)} calls with a wrong secret were answered {kept_out[0]}" if kept_out else None
    )


def _replay_harmless(look: Look) -> Finding:
    again = (
        select(delivery.c.subject, delivery.c.event, func.count().label("times"), func.max(delivery.c.id).label("last"))
        .where(delivery.c.authorization.is_(None))
        .group_by(delivery.c.subject, delivery.c.event, delivery.c.body)
        .having(func.count() > 1)
    )
    broken: list[str] = []
    met = 0
    for row in look.connection.execute(again).all():
        tried = _attempts(look, delivery.c.id == row.last)
        if not tried:
            continue
        met += _good(tried[-1])
        if not _good(tried[-1]):
            broken.append(f"the repeated {row.event} of {row.subject} was answered {tried[-1].status or 'not at all'}")
        twice = look.lines(
            journal.c.operation == "put_order",
            journal.c.route.endswith(row.subject),
            journal.c.at_us >= tried[0].at_us,
            or_(journal.c.reason.startswith("status: an order that is"), journal.c.reason.contains("cannot be")),
        )
        broken += [f"record {line.n}: after the repeated {row.event} the order was changed again" for line in twice]
    return _judged(broken, f"{met} repeated events were answered with 2xx and changed nothing" if met else None)


def _numbers(lines: list[Row[Any]]) -> str:
    shown = ", ".join(str(line.n) for line in lines[:EVIDENCE_MAX])
    return shown if len(lines) <= EVIDENCE_MAX else f"{shown}, …"


@dataclass(frozen=True)
class Duty:
    """What a client has to do, and the section of interface.md (or "field notes") that asks it."""

    name: str
    rule: str
    sentence: str
    judge: Callable[[Look], Finding]


DUTIES = (
    Duty("token_reused", "5.3", "Use a token for many requests: it is valid for two hours.", _token_reused),
    Duty("token_renewed", "5.3", "After a 401, request a new token and repeat the request.", _token_renewed),
    Duty("rate_limit", "8", "Send no more than 60 requests in any minute.", _within_the_limit),
    Duty("back_off", "8", "After a 429 or a server error, wait before the same request.", _backs_off),
    Duty("rejection_not_repeated", "7", "Do not repeat a request that was rejected with 400 as it was.", _not_repeated),
    Duty("bulk", "8", "Send products in bulk, not one by one.", _in_bulk),
    Duty("outcomes_read", "4.1", "Read the outcome of each SKU: COMPLETED may contain rejected items.", _outcomes_read),
    Duty("presigned_link", "5.5", "Send no token to the storage host of a presigned link.", _presigned_alone),
    Duty("page_parameter", "4.2", "Ask for a further page by page; page_number is ignored.", _page_parameter),
    Duty("webhook_answered", "6", "Answer each event with 2xx within 10 seconds.", _webhook_answered),
    Duty("secret_checked", "5.6", "Reject events without the configured secret.", _secret_checked),
    Duty("replay_harmless", "6", "Accept an event that comes twice, and act on it once.", _replay_harmless),
    Duty("orders_answered", "3.1", "Accept, fulfil or cancel each order before its promised time.", _orders_answered),
    Duty("state_respected", "3.1", "Fulfil an order once, and leave a cancelled one alone.", _state_respected),
    Duty("sku_beside_id", "4.8.7", "Send sku beside _id: _id alone cancels the order.", _sku_beside_id),
)
