"""What a customer pays for a SKU at a vendor at an instant, and why: the acknowledged base price and the promotions that cover it."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.warehouse.history import unmoved

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
WORDS_OF_PROMOTIONS = """
FROM warehouse.promotion AS p
JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
JOIN warehouse.promotion_job AS j ON j.promotion_id = p.promotion_id
JOIN LATERAL (
    SELECT * FROM warehouse.promotion_outcome AS said
    WHERE said.job_id = j.job_id AND said.sku = :sku AND said.vendor IN (:vendor, '*')
    ORDER BY said.vendor = '*' LIMIT 1
) AS o ON true
"""
"""Promotions (p) of a vendor with each job (j) about them and the platform's word in it (o) about `:sku` at `:vendor`."""
_SAID = f"""
    SELECT p.promotion_id, p.campaign, p.name, p.type, p.start_time, p.end_time,
        j.job_id, o.state, o.reason, o.active, o.subtype, o.value, o.settled_at
    {WORDS_OF_PROMOTIONS}
    WHERE p.end_time > :at AND o.settled_at <= :at AND (p.ended_at IS NULL OR p.ended_at > :at)
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
    SELECT max(p.ended_at) {WORDS_OF_PROMOTIONS}
    WHERE p.ended_at > :young AND p.ended_at <= :at AND p.start_time <= p.ended_at AND o.state = 'accepted' AND o.active
"""


@dataclass(frozen=True)
class CustomerPrice:
    """`price` is what a customer pays, None where the base price is not known; `why` is a sentence without its full stop.

    `until`: when that ends by itself, None where nothing says so. `promotions`: all told of the SKU whose end is yet to come, also those
    that have not begun, the one that counts first (the later start wins): promotion_id, campaign, name, type, start_time, end_time,
    subtype, value, price, since (when it was acknowledged), job_id, known (False: nobody knows whether it holds), refused (why the
    platform did not take the newest of it here; subtype and value are then those that it took before, or None).
    """

    vendor: str
    sku: str
    price: Decimal | None
    base_price: Decimal | None
    active: bool | None
    why: str
    until: dt.datetime | None = None
    promotions: list[dict[str, Any]] = field(default_factory=list)
    seen_by: dt.datetime | None = None
    """When the app shows it at the latest; None: by now. Before that it may show what held before."""
    promoted_lately: bool = False
    """Whether a promotion that is over now may still be shown."""


def customer_price(engine: Engine, vendor: str, sku: str, at: dt.datetime) -> CustomerPrice:
    """As far as the platform had acknowledged it by then, and when the app shows it: CATALOG_S and PROMOTION_S at the latest."""
    with engine.connect() as connection:
        return price_at(connection, vendor, sku, at)


def price_at(
    connection: Connection, vendor: str, sku: str, at: dt.datetime, *, catalog_s: float = CATALOG_S
) -> CustomerPrice:
    """The same in somebody's transaction; `catalog_s`: how long a change of the catalog takes to reach the app."""
    values = {"vendor": vendor, "sku": sku, "at": at}
    base = connection.execute(sa.text(_BASE), values).one_or_none() or unmoved(connection, vendor, sku, at)
    said = [dict(row) for row in connection.execute(sa.text(_SAID), values).mappings()]
    base_price = None if base is None else base.price
    rows = list(_standing(said, base_price))
    begun = [row for row in rows if row["start_time"] <= at]
    counts = next(
        (row for row in begun if row["known"] and row["type"] == STRIKETHROUGH and row["value"] is not None), None
    )
    price, why = _verdict(base_price, counts)
    why += "".join(f"; {line}" for line in _besides(begun, counts))
    if base is not None and base.active is False:
        why = f"the product is inactive, so nobody can buy it; otherwise {why}"
    until = _until(rows, counts, at)
    young = {name: at - dt.timedelta(seconds=s) for name, s in (("base", catalog_s), ("promotion", PROMOTION_S))}
    ended = connection.execute(sa.text(_ENDED), {**values, "young": young["promotion"]}).scalar()
    moved = [one for one in (ended, *_moved(said, at)) if one is not None and one > young["promotion"]]
    seen = [one + dt.timedelta(seconds=PROMOTION_S) for one in moved]
    if counts is None or counts["subtype"] != "FINAL_PRICE":
        base_moved = connection.execute(sa.text(_BASE_MOVED), {**values, "young": young["base"]}).scalar()
        seen += [] if base_moved is None else [base_moved + dt.timedelta(seconds=catalog_s)]
    return CustomerPrice(
        vendor,
        sku,
        price,
        base_price,
        None if base is None else base.active,
        why,
        until,
        rows,
        seen_by=max(seen, default=None),
        promoted_lately=bool(moved),
    )


def _moved(said: Iterable[Mapping[str, Any]], at: dt.datetime) -> Iterator[dt.datetime]:
    """Of each promotion that has begun, when the platform first took what it says of the SKU now: a repeat is no news."""
    for _, words in itertools.groupby(said, key=lambda row: row["promotion_id"]):
        taken = [row for row in words if row["state"] == "accepted" and row["start_time"] <= at]
        for _, same in itertools.islice(itertools.groupby(taken, key=_offer), 1):
            yield min(row["settled_at"] for row in same)


def _offer(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["active"], row["subtype"], row["value"])


def promoted(subtype: str, value: Decimal, base: Decimal | None) -> Decimal | None:
    """The price that a discount makes of a base price, cut after three decimals; None where it is not known."""
    if subtype == "FINAL_PRICE":
        return value
    if base is None:
        return None
    off = value if subtype == "ABSOLUTE" else base * value / 100
    return (base - off).quantize(_THOUSANDTH, ROUND_DOWN)


def _standing(said: Iterable[Mapping[str, Any]], base: Decimal | None) -> Iterator[dict[str, Any]]:
    """One row a promotion that may cover the SKU: the newest word that the platform took, with what nobody knows of newer ones."""
    for _, words in itertools.groupby(said, key=lambda row: row["promotion_id"]):
        newest, doubtful, taken = None, None, None
        for row in words:
            newest = newest or row
            if row["state"] == "accepted":
                taken = row
                break
            if row["state"] == "unaccounted":
                doubtful = doubtful or row
        assert newest is not None
        stands = taken if taken is not None and taken["active"] else None
        if stands is None and doubtful is None and newest["state"] != "refused":
            continue
        shown = stands or doubtful
        value = None if shown is None else shown["value"]
        yield {
            **{name: newest[name] for name in ("promotion_id", "campaign", "name", "type", "start_time", "end_time")},
            "subtype": None if shown is None else shown["subtype"],
            "value": value,
            "price": None if shown is None else promoted(shown["subtype"], shown["value"], base),
            "since": None if shown is None else shown["settled_at"],
            "job_id": newest["job_id"] if shown is None else shown["job_id"],
            "known": doubtful is None,
            "refused": newest["reason"] if newest["state"] == "refused" else None,
        }


def _verdict(base: Decimal | None, promotion: Mapping[str, Any] | None) -> tuple[Decimal | None, str]:
    if promotion is None:
        if base is None:
            return None, "the platform has acknowledged no price of this SKU, and no promotion covers it"
        return base, f"no promotion covers it: the base price {_plain(base)} as the platform acknowledged it"
    price: Decimal | None = promotion["price"]
    if price is None:
        return None, f"{named(promotion)} applies, and the base price it is taken off is not known"
    if base is not None and price >= base:
        return (
            base,
            f"{named(promotion)} is not below the base price {_plain(base)} any more, so nothing is struck through",
        )
    return (
        price,
        f"{named(promotion)} makes {_plain(price)} of the base price {'(unknown)' if base is None else _plain(base)}",
    )


def _besides(begun: Iterable[Mapping[str, Any]], counts: Mapping[str, Any] | None) -> Iterator[str]:
    """What else a person has to know of promotions that have begun."""
    for row in begun:
        if row["refused"] is not None:
            kept = "" if row["value"] is None else ", and what it took before stands"
            yield f"the platform refused the SKU in {named(row)}: {row['refused']}{kept}"
        if not row["known"]:
            yield f"nobody knows whether {named(row)} holds, because job {row['job_id']} was not confirmed"
        elif row["type"] != STRIKETHROUGH and row["value"] is not None:
            yield f"{named(row)} is a bundle, which makes some of several pieces cheaper and no single one"
        elif row is not counts and row["value"] is not None:
            yield f"{named(row)} gives way to it, because the later start wins"


def _until(rows: Iterable[Mapping[str, Any]], counts: Mapping[str, Any] | None, at: dt.datetime) -> dt.datetime | None:
    """The end of what counts, or the start of what will win over it."""
    coming = [
        row["start_time"]
        for row in rows
        if row["start_time"] > at and row["known"] and row["type"] == STRIKETHROUGH and row["value"] is not None
    ]
    ends = [] if counts is None else [counts["end_time"]]
    return min([*coming, *ends], default=None)


def named(promotion: Any) -> str:
    """A promotion for a sentence: any row with name, campaign, start_time and end_time."""
    window = f"from {promotion['start_time']:%Y-%m-%d %H:%M} to {promotion['end_time']:%Y-%m-%d %H:%M} UTC"
    return f"promotion {promotion['name']} (campaign {promotion['campaign']}) {window}"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
