"""What the platform does with a promotion when its job runs (interface.md 4.7; field notes, Promotions).

SKUs in active entries are put in or changed, SKUs in inactive entries leave, SKUs that are not mentioned stay. A request
that changes nothing is a DUPLICATE; one of which nothing could be taken is FAILED.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from partner_sandbox.access.tables import vendor as vendor_table
from partner_sandbox.clock import to_us
from partner_sandbox.jobs import jobs
from partner_sandbox.promotions import store
from partner_sandbox.promotions.body import EVERY_VENDOR, PromotionBody
from partner_sandbox.promotions.seen import discounted_milli
from partner_sandbox.promotions.store import Value
from partner_sandbox.sandbox import Sandbox

PIECE_SKUS = 5_000
Wanted = dict[str, Value | None]
"""SKU to its discount; None: it leaves the promotion."""


@dataclass
class Outcome:
    """The outcome of a request."""

    invalid_vendors: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    rejected: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sound: int = 0
    changed: int = 0

    def result(self) -> dict[str, Any]:
        """As the status call returns it."""
        return {
            "invalid_vendors": self.invalid_vendors,
            "missing_skus": dict(self.missing),
            "invalid_discounted_skus": dict(self.rejected),
        }


def run(sandbox: Sandbox, job: jobs.Job) -> str | None:
    """The state the job ends in; None for COMPLETED."""
    with sandbox.storage.begin() as connection:
        body = PromotionBody.model_validate_json(store.requested(connection, job.seq))
        store.forget_request(connection, job.seq)
        vendors, unknown = _vendors(connection, job.chain, body.vendors)
    if sandbox.faults.draw("job", "not_applied"):
        _save_outcome(sandbox, job, Outcome())
        return None
    outcome = Outcome(invalid_vendors=unknown)
    state = _put(sandbox, job, body, vendors, outcome) if body.active else _deactivate(sandbox, job, body)
    _save_outcome(sandbox, job, outcome)
    return state


def _put(sandbox: Sandbox, job: jobs.Job, body: PromotionBody, vendors: dict[str, int], outcome: Outcome) -> str | None:
    seen_us = _seen_us(sandbox)
    with sandbox.storage.begin() as connection:
        known = store.find(connection, job.chain, body.identity)
        now_us = sandbox.clock.now_us()
        promotion_id = known.id if known is not None else store.add(connection, job.chain, body, now_us, seen_us)
    wanted = _wanted(body)
    skus = list(wanted)
    for name, vendor_key in vendors.items():
        for first in range(0, len(skus), PIECE_SKUS):
            piece = {sku: wanted[sku] for sku in skus[first : first + PIECE_SKUS]}
            with sandbox.storage.begin() as connection:
                _put_piece(connection, promotion_id, (name, vendor_key), piece, outcome, seen_us)
    with sandbox.storage.begin() as connection:
        if known is None and not store.has_skus(connection, promotion_id):
            store.forget(connection, promotion_id)
            return "FAILED"
        if known is None:
            return None
        if not outcome.sound:
            return "FAILED"
        changes = {name: value for name, value in store.header(body).items() if getattr(known, name) != value}
        if not known.active:
            changes |= {"active": True, "cancelled_us": None, "seen_from_us": seen_us, "seen_until_us": None}
        if not changes and not outcome.changed:
            return "DUPLICATE"
        store.change(connection, promotion_id, **changes, updated_us=sandbox.clock.now_us())
    return None


def _put_piece(
    connection: Connection,
    promotion_id: int,
    vendor: tuple[str, int],
    wanted: Wanted,
    outcome: Outcome,
    seen_us: int,
) -> None:
    name, vendor_key = vendor
    prices = store.prices(connection, vendor_key, wanted)
    held = store.in_force(connection, promotion_id, vendor_key, wanted)
    sound: Wanted = {}
    for sku, value in wanted.items():
        if sku not in prices and (value is not None or sku not in held):
            outcome.missing[name].append(sku)
        elif value is not None and discounted_milli(value, prices.get(sku)) is None:
            outcome.rejected[name].append(sku)
        else:
            sound[sku] = value
    changed = {sku: value for sku, value in sound.items() if held.get(sku) != value}
    outcome.sound += len(sound)
    outcome.changed += len(changed)
    store.replace(connection, promotion_id, vendor_key, held, changed, seen_us)


def _deactivate(sandbox: Sandbox, job: jobs.Job, body: PromotionBody) -> str | None:
    now_us = sandbox.clock.now_us()
    with sandbox.storage.begin() as connection:
        known = store.find(connection, job.chain, body.identity)
        if known is None:
            return "FAILED"
        if not known.active:
            return "DUPLICATE"
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
        value = Value(entry.discount_subtype, entry.value_milli, entry.max_quantity) if entry.active else None
        wanted.update(dict.fromkeys(entry.sku, value))
    return wanted


def _seen_us(sandbox: Sandbox) -> int:
    return sandbox.clock.now_us() + to_us(sandbox.behaviour.promotion_propagation_s)


def _save_outcome(sandbox: Sandbox, job: jobs.Job, outcome: Outcome) -> None:
    rejected = sum(map(len, outcome.missing.values())) + sum(map(len, outcome.rejected.values()))
    with sandbox.storage.begin() as connection:
        jobs.change(connection, job.seq, result=outcome.result(), rejected=rejected)
