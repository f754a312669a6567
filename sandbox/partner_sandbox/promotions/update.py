"""PUT a promotion: accepted, applied when its job runs, and its status (interface.md 4.7; field notes, Promotions).

SKUs in active entries are put in or changed, SKUs in inactive entries leave, SKUs that are not mentioned stay. A request
that changes nothing is a DUPLICATE; one of which nothing could be taken is FAILED.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import Connection, Row, func, select

from partner_sandbox import bodies, job_runner, jobs, money
from partner_sandbox.bodies import EVERY_VENDOR
from partner_sandbox.clock import iso, to_us
from partner_sandbox.errors import not_found
from partner_sandbox.promotions import store
from partner_sandbox.promotions.body import PromotionBody, check
from partner_sandbox.promotions.store import Value
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.vendors import Chain, TheChain, vendor_table

PIECE_SKUS = 5_000
Wanted = dict[str, Value | None]
"""SKU to its discount; None: it leaves the promotion."""


@dataclass
class Outcome:
    """The outcome of a request."""

    body: PromotionBody | None = None
    """None: a fault forbids to apply it."""
    invalid_vendors: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    rejected: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sound: int = 0
    changed: int = 0
    made: bool = False
    """The promotion is new."""

    def result(self) -> dict[str, Any]:
        """As the status call returns it."""
        return {
            "invalid_vendors": self.invalid_vendors,
            "missing_skus": dict(self.missing),
            "invalid_discounted_skus": dict(self.rejected),
        }

    def progress(self) -> dict[str, Any]:
        """What no repeat after a death can see any more; the job's payload."""
        return {"made": self.made, "changed": self.changed}


def put_skus(sandbox: Sandbox, job: jobs.Job) -> Outcome:
    """Puts the SKUs of an active promotion, piece by piece."""
    with sandbox.storage.begin() as connection:
        body = bodies.parse(store.requested(connection, job.seq), PromotionBody, {"promotion_times": True})
        vendors, unknown = _vendors(connection, job.chain, body.vendors)
    if sandbox.faults.draw("job", "not_applied"):
        return Outcome()
    outcome = Outcome(body, unknown, **(job.payload or {}))
    if not body.active:
        return outcome
    seen_us = _seen_us(sandbox)
    with sandbox.storage.begin() as connection:
        known = store.find(connection, job.chain, body.identity)
        if known is None:
            outcome.made = True
            promotion_id = store.add(connection, job.chain, body, sandbox.clock.now_us(), seen_us)
            jobs.change(connection, job.seq, payload=outcome.progress())
        else:
            promotion_id = known.id
    wanted = _wanted(body)
    skus = list(wanted)
    for name, vendor_key in vendors.items():
        for first in range(0, len(skus), PIECE_SKUS):
            piece = {sku: wanted[sku] for sku in skus[first : first + PIECE_SKUS]}
            with sandbox.storage.begin() as connection:
                _put_piece(
                    connection, promotion_id, (name, vendor_key), piece, outcome, sandbox.clock.now_us(), seen_us
                )
                jobs.change(connection, job.seq, payload=outcome.progress())
    return outcome


def conclude(sandbox: Sandbox, job: jobs.Job, outcome: Outcome) -> str | None:
    """The promotion beside its SKUs. Returns the state the job ends in; None for COMPLETED."""
    rejected = sum(map(len, outcome.missing.values())) + sum(map(len, outcome.rejected.values()))
    with sandbox.storage.begin() as connection:
        store.forget_request(connection, job.seq)
        jobs.change(connection, job.seq, result=outcome.result(), rejected=rejected)
        if outcome.body is None:
            return None
        known = store.find(connection, job.chain, outcome.body.identity)
        if known is None:
            return "FAILED"
        if not outcome.body.active:
            return _deactivated(connection, sandbox, known)
        if outcome.made:
            return _added(connection, known)
        return _changed(connection, sandbox, known, outcome.body, outcome)


def _added(connection: Connection, new: Row[Any]) -> str | None:
    if store.has_skus(connection, new.id):
        return None
    store.forget(connection, new.id)
    return "FAILED"


def _changed(
    connection: Connection, sandbox: Sandbox, known: Row[Any], body: PromotionBody, outcome: Outcome
) -> str | None:
    if not outcome.sound:
        return "FAILED"
    changes = {name: value for name, value in store.header(body).items() if getattr(known, name) != value}
    if not known.active:
        changes |= {"active": True, "cancelled_us": None, "seen_from_us": _seen_us(sandbox), "seen_until_us": None}
    if not changes and not outcome.changed:
        return "DUPLICATE"
    store.change(connection, known.id, **changes, updated_us=sandbox.clock.now_us())
    return None


def _put_piece(
    connection: Connection,
    promotion_id: int,
    vendor: tuple[str, int],
    wanted: Wanted,
    outcome: Outcome,
    now_us: int,
    seen_us: int,
) -> None:
    name, vendor_key = vendor
    prices = store.prices(connection, vendor_key, wanted)
    held = store.in_force(connection, promotion_id, vendor_key, wanted)
    sound: Wanted = {}
    for sku, value in wanted.items():
        if sku not in prices and (value is not None or sku not in held):
            outcome.missing[name].append(sku)
        elif value is not None and money.discounted_milli(value.subtype, value.value_milli, prices.get(sku)) is None:
            outcome.rejected[name].append(sku)
        else:
            sound[sku] = value
    changed = {sku: value for sku, value in sound.items() if held.get(sku) != value}
    outcome.sound += len(sound)
    outcome.changed += len(changed)
    store.replace(connection, promotion_id, vendor_key, held, changed, now_us, seen_us)


def _deactivated(connection: Connection, sandbox: Sandbox, known: Row[Any]) -> str | None:
    if not known.active:
        return "DUPLICATE"
    now_us = sandbox.clock.now_us()
    ended = {"active": False, "cancelled_us": now_us, "seen_until_us": _seen_us(sandbox), "updated_us": now_us}
    store.change(connection, known.id, **ended)
    return None


def _vendors(connection: Connection, chain: str, names: list[str]) -> tuple[dict[str, int], list[str]]:
    """The vendors by name, and the names that are none."""
    rows = connection.execute(select(vendor_table.c.vendor, vendor_table.c.id).where(vendor_table.c.chain == chain))
    known = {row.vendor: row.id for row in rows.all()}
    if EVERY_VENDOR in names:
        return dict(sorted(known.items())), []
    wanted = dict.fromkeys(names)
    return {name: known[name] for name in wanted if name in known}, [name for name in wanted if name not in known]


def _wanted(body: PromotionBody) -> Wanted:
    """The last entry that names a SKU decides."""
    wanted: Wanted = {}
    for entry in body.discount:
        subtype = entry.discount_subtype if entry.active else None
        value = None if subtype is None else Value(subtype, entry.value_milli, entry.max_quantity)
        wanted.update(dict.fromkeys(entry.sku, value))
    return wanted


def _seen_us(sandbox: Sandbox) -> int:
    return sandbox.clock.now_us() + to_us(sandbox.behaviour.promotion_propagation_s)


router = APIRouter(prefix="/v2/chains/{chain_id}/promotion")


@router.put("", name="put_promotion")
async def put_promotion(request: Request, sandbox: TheSandbox, chain: TheChain) -> Response:
    """Creates, modifies or deactivates: a job does it."""
    body = await request.body()
    job = await asyncio.to_thread(_take, sandbox, chain, body, jobs.address_of(sandbox, request))
    return await job_runner.accepted(sandbox, job, request)


@router.get("/jobs/{job_id}", name="promotion_status")
def promotion_status(job_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """The state of a promotion's job and, once it has ended, what it left out."""
    with sandbox.storage.begin() as connection:
        job = jobs.by_id(connection, chain.chain, job_id)
    if job is None or job.kind != "promotion":
        raise not_found("Job")
    state = "QUEUED" if job.state in jobs.OPEN else job.state  # promotion jobs lack IN_PROGRESS (interface.md 3.3)
    if sandbox.faults.draw("promotion_status", "unknown_status"):
        state = job_runner.UNKNOWN_STATE
    answer: dict[str, Any] = {
        "job_id": jobs.shown_id(sandbox, job),
        "job_status": state,
        "created_at": iso(job.created_us),
        "updated_at": iso(job.ended_us or job.created_us),
    }
    if job.state not in jobs.OPEN:
        answer["result"] = {**Outcome().result(), **(job.result or {})}
    return answer


def _take(sandbox: Sandbox, chain: Chain, text: bytes, address: str) -> jobs.Job:
    body = bodies.parse(text, PromotionBody, {"promotion_times": sandbox.behaviour.promotion_times == "any"})
    with sandbox.storage.begin() as connection:
        vendors = select(func.count()).select_from(vendor_table).where(vendor_table.c.chain == chain.chain)
        check(body, sandbox.behaviour, connection.execute(vendors).scalar_one())
        job = jobs.receive(connection, sandbox, "promotion", address, chain=chain.chain)
        store.keep_request(connection, job.seq, text)
        return jobs.queue(connection, sandbox, job.seq, sum(len(entry.sku) for entry in body.discount))
