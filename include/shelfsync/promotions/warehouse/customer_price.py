"""What a customer pays for a SKU at a vendor at an instant, and why: the acknowledged base price and the promotions that cover it."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.assortment.state import unmoved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy.engine import Connection, Engine

_THOUSANDTH = Decimal("0.001")
STRIKETHROUGH = "STRIKETHROUGH"
CATALOG_S, PROMOTION_S = 1800.0, 3000.0
"""How long a change of the catalog and of a promotion takes to reach the platform's app, at most, as integrators have seen it."""

_BASE = """
    SELECT price, active FROM warehouse.baseline_history
    WHERE vendor = :vendor AND sku = :sku AND valid_from <= :at ORDER BY version DESC LIMIT 1
"""
OUTCOMES_OF_PROMOTIONS = """
FROM warehouse.promotion AS p
JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
JOIN warehouse.promotion_job AS j ON j.promotion_id = p.promotion_id
JOIN LATERAL (
    SELECT * FROM warehouse.promotion_outcome AS found
    WHERE found.job_id = j.job_id AND found.sku = :sku AND found.vendor IN (:vendor, '*')
    ORDER BY found.vendor = '*' LIMIT 1
) AS o ON true
"""
"""Promotions (p) of a vendor with each job (j) about them and its outcome (o) of `:sku` at `:vendor`."""
_OUTCOMES = f"""
    SELECT p.promotion_id, p.campaign, p.name, p.type, p.start_time, p.end_time,
        j.job_id, o.state, o.reason, o.active, o.subtype, o.value, o.known_at
    {OUTCOMES_OF_PROMOTIONS}
    WHERE p.end_time > :at AND o.known_at <= :at AND (p.ended_at IS NULL OR p.ended_at > :at)
    ORDER BY p.start_time DESC, p.promotion_id DESC, j.job_id DESC
"""
_BASE_MOVED = """
    SELECT max(h.valid_from) FROM warehouse.baseline_history AS h
    LEFT JOIN LATERAL (
        SELECT price, active FROM warehouse.baseline_history AS older
        WHERE older.vendor = :vendor AND older.sku = :sku AND older.version < h.version ORDER BY older.version DESC LIMIT 1
    ) AS before ON true
    WHERE h.vendor = :vendor AND h.sku = :sku AND h.valid_from > :young AND h.valid_from <= :at AND h.job_id IS NOT NULL
        AND (h.price, h.active) IS DISTINCT FROM (before.price, before.active)
"""
_ENDED = f"""
    SELECT max(p.ended_at) {OUTCOMES_OF_PROMOTIONS}
    WHERE p.ended_at > :young AND p.ended_at <= :at AND p.start_time <= p.ended_at AND o.state = 'accepted' AND o.active
"""


@dataclass(frozen=True)
class CustomerPrice:
    """`price` is what a customer pays, None where the base price is not known; `reason` is a sentence without its full stop.

    `until`: when that price ends, None if no end is known. `promotions`: all of the SKU that have not ended, also those that have not
    begun, in the order in which they count (the later start wins): promotion_id, campaign, name, type, start_time, end_time,
    subtype, value, price, since (when it was acknowledged), job_id, known (False: unconfirmed), rejected (why the platform
    rejected the newest request here; subtype and value are then those that it accepted before, or None).
    """

    vendor: str
    sku: str
    price: Decimal | None
    base_price: Decimal | None
    active: bool | None
    reason: str
    until: dt.datetime | None = None
    promotions: list[dict[str, Any]] = field(default_factory=list)
    seen_by: dt.datetime | None = None
    """When the app shows it at the latest; None: already. Before that, it may show an earlier price."""
    promoted_lately: bool = False
    """Whether the app may still show a promotion that has ended."""


def customer_price(engine: Engine, vendor: str, sku: str, at: dt.datetime) -> CustomerPrice:
    """As far as the platform had acknowledged it by then, and when the app shows it: CATALOG_S and PROMOTION_S at the latest."""
    with engine.connect() as connection:
        return price_at(connection, vendor, sku, at)


def price_at(
    connection: Connection, vendor: str, sku: str, at: dt.datetime, *, catalog_s: float = CATALOG_S
) -> CustomerPrice:
    """The same in the caller's transaction; `catalog_s`: how long a change of the catalog takes to reach the app."""
    values = {"vendor": vendor, "sku": sku, "at": at}
    base = connection.execute(sa.text(_BASE), values).one_or_none() or unmoved(connection, vendor, sku, at)
    outcomes = [dict(row) for row in connection.execute(sa.text(_OUTCOMES), values).mappings()]
    base_price = None if base is None else base.price
    rows = list(_in_force(outcomes, base_price))
    begun = [row for row in rows if row["start_time"] <= at]
    counts = next(
        (row for row in begun if row["known"] and row["type"] == STRIKETHROUGH and row["value"] is not None), None
    )
    price, reason = _verdict(base_price, counts)
    reason += "".join(f"; {line}" for line in _besides(begun, counts))
    until = _until(rows, counts, at)
    young = {name: at - dt.timedelta(seconds=s) for name, s in (("base", catalog_s), ("promotion", PROMOTION_S))}
    ended = connection.execute(sa.text(_ENDED), {**values, "young": young["promotion"]}).scalar()
    moved = [moment for moment in (ended, *_moved(outcomes, at)) if moment is not None and moment > young["promotion"]]
    seen = [moment + dt.timedelta(seconds=PROMOTION_S) for moment in moved]
    if counts is None or counts["subtype"] != "FINAL_PRICE":
        base_moved = connection.execute(sa.text(_BASE_MOVED), {**values, "young": young["base"]}).scalar()
        seen += [] if base_moved is None else [base_moved + dt.timedelta(seconds=catalog_s)]
    return CustomerPrice(
        vendor,
        sku,
        price,
        base_price,
        None if base is None else base.active,
        reason,
        until,
        rows,
        seen_by=max(seen, default=None),
        promoted_lately=bool(moved),
    )


def _moved(outcomes: Iterable[Mapping[str, Any]], at: dt.datetime) -> Iterator[dt.datetime]:
    """Of each promotion that has begun, when the platform first accepted its current values of the SKU, without repeats."""
    for _, rows in itertools.groupby(outcomes, key=lambda row: row["promotion_id"]):
        accepted = [row for row in rows if row["state"] == "accepted" and row["start_time"] <= at]
        for _, same in itertools.islice(itertools.groupby(accepted, key=_offer), 1):
            yield min(row["known_at"] for row in same)


def _offer(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["active"], row["subtype"], row["value"])


def promoted(subtype: str, value: Decimal, base: Decimal | None) -> Decimal | None:
    """The base price less the discount, cut after three decimals; None if it is unknown."""
    if subtype == "FINAL_PRICE":
        return value
    if base is None:
        return None
    off = value if subtype == "ABSOLUTE" else base * value / 100
    return (base - off).quantize(_THOUSANDTH, ROUND_DOWN)


def _in_force(outcomes: Iterable[Mapping[str, Any]], base: Decimal | None) -> Iterator[dict[str, Any]]:
    """One row a promotion that may cover the SKU: its newest accepted outcome, and whether a newer one is unconfirmed."""
    for _, rows in itertools.groupby(outcomes, key=lambda row: row["promotion_id"]):
        newest, unconfirmed, accepted = None, None, None
        for row in rows:
            newest = newest or row
            if row["state"] == "accepted":
                accepted = row
                break
            if row["state"] == "unaccounted":
                unconfirmed = unconfirmed or row
        assert newest is not None
        active = accepted if accepted is not None and accepted["active"] else None
        if active is None and unconfirmed is None and newest["state"] != "rejected":
            continue
        shown = active or unconfirmed
        value = None if shown is None else shown["value"]
        yield {
            **{name: newest[name] for name in ("promotion_id", "campaign", "name", "type", "start_time", "end_time")},
            "subtype": None if shown is None else shown["subtype"],
            "value": value,
            "price": None if shown is None else promoted(shown["subtype"], shown["value"], base),
            "since": None if shown is None else shown["known_at"],
            "job_id": newest["job_id"] if shown is None else shown["job_id"],
            "known": unconfirmed is None,
            "rejected": newest["reason"] if newest["state"] == "rejected" else None,
        }


def _verdict(base: Decimal | None, promotion: Mapping[str, Any] | None) -> tuple[Decimal | None, str]:
    if promotion is None:
        if base is None:
            return None, "the platform has acknowledged no price of this SKU, and no promotion covers it"
        return base, f"no promotion covers it: the base price {display.price(base)} as the platform acknowledged it"
    price: Decimal | None = promotion["price"]
    if price is None:
        return None, f"{named(promotion)} applies, and its base price is unknown"
    if base is not None and price >= base:
        return (
            base,
            f"{named(promotion)} is no longer below the base price {display.price(base)}, so the platform shows no discount",
        )
    return (
        price,
        f"{named(promotion)} makes {display.price(price)} of the base price {'(unknown)' if base is None else display.price(base)}",
    )


def _besides(begun: Iterable[Mapping[str, Any]], counts: Mapping[str, Any] | None) -> Iterator[str]:
    """Further facts about promotions that have begun."""
    for row in begun:
        if row["rejected"] is not None:
            kept = "" if row["value"] is None else ", and the values accepted before stay"
            yield f"the platform rejected the SKU in {named(row)}: {row['rejected']}{kept}"
        if not row["known"]:
            yield f"{named(row)} is unconfirmed, because job {row['job_id']} was not confirmed"
        elif row["type"] != STRIKETHROUGH and row["value"] is not None:
            yield f"{named(row)} is a bundle, which discounts several pieces together and no single piece"
        elif row is not counts and row["value"] is not None:
            yield f"{named(row)} does not apply, because the later start wins"


def _until(rows: Iterable[Mapping[str, Any]], counts: Mapping[str, Any] | None, at: dt.datetime) -> dt.datetime | None:
    """The end of the promotion that counts, or the start of the next one."""
    coming = [
        row["start_time"]
        for row in rows
        if row["start_time"] > at and row["known"] and row["type"] == STRIKETHROUGH and row["value"] is not None
    ]
    ends = [] if counts is None else [counts["end_time"]]
    return min([*coming, *ends], default=None)


def named(promotion: Any) -> str:
    """A promotion as text: any row with name, campaign, start_time and end_time."""
    window = display.span(promotion["start_time"], promotion["end_time"])
    return f"promotion {promotion['name']} (campaign {promotion['campaign']}) from {window}"
