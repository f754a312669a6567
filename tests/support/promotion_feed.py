"""The campaigns of a chain as real ones have them, made by a seed; and the pairs that its customers must see, by plain dictionaries.

The frequencies are those of real supermarkets: per store some 2,000 campaigns, half of them plain final prices, a tenth "N of one item
for X", a third mixes, some "N + M", and some for club members, with a coupon or a minimum purchase. Items are in several campaigns at once,
or twice in one; a few campaigns have a name and period of another; many begin on one day; a sixth runs longer than a year.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import random
import sqlite3
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

SQL = "SELECT * FROM feed"
COLUMNS = (
    "campaign", "vendor", "sku", "price", "discount_type", "name", "start_time", "end_time", "type", "purchased_quantity", "discounted_quantity", "pieces",
    "audience", "condition",
)  # fmt: skip
HELD = (
    "SELECT campaign, vendor, rows AS skus FROM ledger.hold WHERE subject = 'promotions' AND rule = 'discount'"
    " AND state IN ('open', 'expired') AND superseded_by IS NULL"
)
"""SKUs that wait for a person because of their discount."""
EVERY = "*"
KINDS = {"final": 500, "several_for": 110, "mix": 315, "bundle": 15, "club": 25, "coupon": 20, "minimum": 10, "gift": 5}
"""Of 1,000 campaigns of a store."""
_DAY = dt.timedelta(days=1)
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Row:
    """One row of the ERP."""

    campaign: str
    kind: str
    vendor: str
    sku: str
    price: Decimal
    name: str
    start: dt.datetime
    end: dt.datetime
    bought: int | None = None
    free: int | None = None
    pieces: int | None = None

    def columns(self) -> dict[str, Any]:
        bundle = self.kind == "bundle"
        return {
            "campaign": self.campaign,
            "vendor": self.vendor,
            "sku": self.sku,
            "price": str(self.price),
            "discount_type": "PERCENTAGE" if bundle else None,
            "name": self.name,
            "start_time": self.start.isoformat(),
            "end_time": self.end.isoformat(),
            "type": "SAME_ITEM_BUNDLE" if bundle else None,
            "purchased_quantity": self.bought,
            "discounted_quantity": self.free,
            "pieces": self.pieces,
            "audience": "club" if self.kind == "club" else "everybody",
            "condition": {"mix": "mix", "coupon": "coupon", "minimum": "minimum_purchase", "gift": "basket_gift"}.get(self.kind),
        }  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """What the platform must have of one SKU at one vendor in one window."""

    vendor: str
    sku: str
    start: dt.datetime
    end: dt.datetime
    type: str
    subtype: str
    value: Decimal


@dataclass
class Feed:
    """`rows` of all stores; `prices` of their catalogs (unset: made here), which also have the `unpriced` items."""

    seed: int
    campaigns: int
    now: dt.datetime
    vendors: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    prices: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    unpriced: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        per_store = self.campaigns // len(self.vendors)
        if not self.prices:
            self._make_prices(max(40, per_store * 2))
        self.skus = sorted({sku for _, sku in (*self.prices, *self.unpriced)})
        self._next = 0
        for vendor in self.vendors:
            for kind, share in KINDS.items():
                for _ in range(max(1, per_store * share // 1000)):
                    self.rows += self._campaign(vendor, kind)

    def _make_prices(self, skus: int) -> None:
        for vendor in self.vendors:
            for sku in (f"{number:06}" for number in range(skus)):
                dice = self.random.random()
                if dice < 0.96:  # not every store has every item
                    self.prices[vendor, sku] = Decimal(self.random.randrange(89, 2999)) * CENT
                elif dice < 0.98:
                    self.unpriced.add((vendor, sku))

    def _campaign(self, vendor: str, kind: str) -> Iterator[Row]:
        chance = self.random
        self._next += 1
        campaign = f"{vendor}-{self._next:05}"
        start = self.now - _DAY * chance.choice((1, 1, 1, chance.randrange(2, 60), -chance.randrange(1, 20)))
        end = self.now + _DAY * (chance.randrange(400, 900) if chance.random() < 1 / 6 else chance.randrange(21, 40))
        name = f"Offer {self._next}"
        if self.rows and chance.random() < 0.02:  # the name and period of another
            other = chance.choice(self.rows)
            name, start, end = other.name, other.start, other.end
        count = chance.choice((1, 1, 1, 1, 2, 2, 3, 3, 5, 8, 14))
        if chance.random() < 0.003:
            count = min(434, len(self.skus) // 4)
        of = EVERY if kind == "final" and chance.random() < 0.1 else vendor
        bought, free = chance.choice(((1, 1), (2, 1), (3, 1))) if kind == "bundle" else (None, None)
        pieces = chance.choice((2, 3, 4)) if kind == "several_for" else None
        for sku in chance.sample(self.skus, count):
            price = self._price(vendor, sku, kind) * (pieces or 1)
            row = Row(campaign, kind, of, sku, price, name, start, end, bought, free, pieces)
            yield row
            if chance.random() < 0.01:  # an item twice: mostly equal, now and then a contradiction
                yield row if chance.random() < 0.7 or kind == "bundle" else replace(row, price=row.price + CENT)

    def _price(self, vendor: str, sku: str, kind: str) -> Decimal:
        if kind == "bundle":
            return Decimal(100)
        base = self.prices.get((vendor, sku), Decimal(5))
        share = Decimal(self.random.choice((50, 60, 70, 75, 80, 85, 90, 95)))
        if self.random.random() < 0.02:
            share = Decimal(105)  # no reduction
        elif self.random.random() < 0.01:
            share = Decimal(20)  # a person is asked
        return max(CENT, (base * share / 100).quantize(CENT))

    def change(self) -> None:
        """A day later: campaigns leave and come, prices move, items leave and join, one becomes a club price, some get another window."""
        chance = self.random
        by_campaign: dict[str, list[Row]] = {}
        for row in self.rows:
            by_campaign.setdefault(row.campaign, []).append(row)
        self.rows = []
        for rows in by_campaign.values():
            dice, plain = chance.random(), rows[0].kind == "final"
            if dice < 0.04:
                continue
            if dice < 0.08 and plain:
                self.rows += [replace(row, price=self._price(self.vendors[0] if row.vendor == EVERY else row.vendor, row.sku, "final")) for row in rows]  # fmt: skip
            elif dice < 0.10 and len(rows) > 1:
                self.rows += rows[1:]
            elif dice < 0.11 and plain:
                self.rows += [replace(row, kind="club") for row in rows]
            else:
                self.rows += rows
        for vendor in self.vendors:
            for _ in range(max(1, self.campaigns // 200)):
                self.rows += self._campaign(vendor, "final")

    def end(self) -> None:
        """All campaigns leave but one: a table without rows would be a broken one."""
        self.rows = [row for row in self.rows if row.campaign == self.rows[-1].campaign]

    def write(self, file: Path) -> None:
        """The table of the ERP, as it is now."""
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("DROP TABLE IF EXISTS feed")
            connection.execute(f"CREATE TABLE feed ({', '.join(f'{name} TEXT' for name in COLUMNS)})")
            values = [tuple(row.columns()[name] for name in COLUMNS) for row in self.rows]
            connection.executemany(f"INSERT INTO feed VALUES ({', '.join('?' for _ in COLUMNS)})", values)

    def write_catalog(self, file: Path, vendors: Collection[str] | None = None) -> None:
        """The stock of these stores, or of every store."""
        prices: dict[tuple[str, str], Decimal | None] = self.prices | dict.fromkeys(sorted(self.unpriced))
        rows = [
            (vendor, sku, None, None if price is None else str(price), "10", 1, None)
            for (vendor, sku), price in prices.items()
            if vendors is None or vendor in vendors
        ]
        with contextlib.closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("DELETE FROM stock")
            connection.executemany("INSERT INTO stock VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


@dataclass
class NaiveModel:
    """What the platform must have, row by row. A row that cannot be sent keeps what its campaign had of the SKU before."""

    feed: Feed
    unsynced: set[str] = field(default_factory=set)
    """Stores whose catalog has never been synced, so that no base price is known."""
    kinds: Collection[str] = ("final", "several_for", "bundle")
    """What the platform can express."""
    ahead_days: float = 14
    """What begins later is not sent yet."""
    shown: dict[tuple[str, str, str, dt.datetime, dt.datetime], Pair] = field(default_factory=dict)
    held: int = 0
    titles: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Campaign -> its vendor and its name. Campaigns that share these, start and end are one promotion of the platform."""

    def pairs(self, now: dt.datetime | None = None, planned_at: dt.datetime | None = None) -> set[Pair]:
        """After the rows of the feed as it is; what is over at `now` (unset: when the rows were made) is not shown.

        `planned_at` (unset: `now`): when the last run looked for what begins soon.
        """
        before, self.shown, self.held = self.shown, {}, 0
        self.titles |= {row.campaign: (row.vendor, row.name) for row in self.feed.rows}
        self.horizon = (planned_at or now or self.feed.now) + self.ahead_days * _DAY
        for vendor in self.feed.vendors:
            if vendor not in self.unsynced:
                self._vendor(vendor, before, now or self.feed.now)
        return set(self.shown.values())

    def _vendor(self, vendor: str, before: dict[Any, Pair], now: dt.datetime) -> None:
        by_key: dict[tuple[str, str], list[Row]] = {}
        own = {(row.campaign, row.sku) for row in self.feed.rows if row.vendor == vendor}
        for row in self.feed.rows:
            if row.vendor == vendor or (row.vendor == EVERY and (row.campaign, row.sku) not in own):
                by_key.setdefault((row.campaign, row.sku), []).append(row)
        taken: dict[str, list[Row]] = {}
        there = {(campaign, sku) for campaign, of, sku, _, _ in before if of == vendor}
        rows = [(of[0], len({row.price for row in of}) == 1) for of in by_key.values()]
        for row, clear in sorted(rows, key=lambda pair: (pair[0].start, pair[0].end, pair[0].campaign)):
            if row.kind not in self.kinds or row.end <= now:
                continue
            key = (row.campaign, vendor, row.sku, row.start, row.end)
            base = self.feed.prices.get((vendor, row.sku))
            overlaps = any(other.start < row.end and row.start < other.end for other in taken.get(row.sku, []))
            if (vendor, row.sku) in self.feed.unpriced:  # the ERP's row of the store gives no price, so it waits
                continue
            if base is None:  # the store does not have it
                if clear and row.kind != "several_for" and not overlaps:
                    if row.kind == "final" and self._deep_elsewhere(row):
                        self.held += 1
                    else:
                        taken.setdefault(row.sku, []).append(row)
                continue
            pair = _pair(row, vendor, base)
            kept = self._kept(before, key)
            if not clear or pair is None:
                if kept:
                    self.shown[key] = kept
                continue
            if overlaps:
                continue  # the winner has the SKU, and the loser gives it up
            if row.kind != "bundle" and row.price < (row.pieces or 1) * base * Decimal("0.3"):  # more than 70 % off
                self.held += 1
                if kept or (row.campaign, row.sku) in there:  # else it wins over no other campaign
                    taken.setdefault(row.sku, []).append(row)
                if kept:
                    self.shown[key] = kept
                continue
            taken.setdefault(row.sku, []).append(row)
            if row.start <= self.horizon:
                self.shown[key] = pair

    def _kept(self, before: dict[Any, Pair], key: tuple[Any, ...]) -> Pair | None:
        """What the promotion had of the SKU, of this campaign or of another one of the same promotion."""
        campaign, *rest = key
        same = [other for other, title in self.titles.items() if title == self.titles[campaign]]
        return next((before[other, *rest] for other in (campaign, *same) if (other, *rest) in before), None)

    def _deep_elsewhere(self, row: Row) -> bool:
        """Whether it would be held at the store with the lowest price: then it is held where the ERP has none, too."""
        synced = [vendor for vendor in self.feed.vendors if vendor not in self.unsynced]
        prices = [self.feed.prices.get((vendor, row.sku)) for vendor in synced]
        lowest = min((price for price in prices if price is not None), default=None)
        return lowest is not None and row.price < lowest * Decimal("0.3")


def _pair(row: Row, vendor: str, base: Decimal) -> Pair | None:
    """What the platform can have of this row at this base price; None: it is no reduction that the platform can express."""
    of = partial(Pair, vendor, row.sku, row.start, row.end)
    if row.kind == "bundle":
        return of("SAME_ITEM_BUNDLE", "PERCENTAGE", row.price)
    if row.kind == "final":
        return of("STRIKETHROUGH", "FINAL_PRICE", row.price) if row.price < base else None
    pieces, left, bought = row.pieces or 1, row.price, 0
    while left >= base and bought < pieces:  # one after the other at full price
        left, bought = left - base, bought + 1
    if bought in {0, pieces}:
        return None
    each = Decimal(int(left * 1000) // (pieces - bought)) / 1000
    return of("SAME_ITEM_BUNDLE", "FINAL_PRICE", each) if each else of("SAME_ITEM_BUNDLE", "PERCENTAGE", Decimal(100))


def on_platform(get: Callable[[str], Any]) -> list[Pair]:
    """The pairs of every promotion that runs or will run; `get` reads a path of the platform's control plane."""
    found: list[Pair] = []
    for promotion in _pages(get, "chains/demo-chain/promotions", "promotions"):
        if promotion["state"] in {"Cancelled", "Ended"}:
            continue
        start, end = (dt.datetime.fromisoformat(promotion[name]) for name in ("start_time", "end_time"))
        for row in _pages(get, f"chains/demo-chain/promotions/{promotion['id']}/skus", "skus"):
            value = Decimal(row["value"])
            found += [Pair(row["vendor"], row["sku"], start, end, promotion["type"], row["subtype"], value)]
    return found


def differences(found: Collection[Pair], expected: Collection[Pair]) -> str:
    """What the platform has too much and what it lacks, the first few of each; empty: nothing."""
    has, wants = Counter(found), Counter(expected)
    if has == wants:
        return ""
    return f"too much: {list(has - wants)[:5]}; missing: {list(wants - has)[:5]}; {len(found)} of {len(expected)}"


def products(feed: Feed, vendor: str) -> list[dict[str, Any]]:
    """The products of a store, for the platform's control plane."""
    prices = {sku: float(price) for (of, sku), price in feed.prices.items() if of == vendor}
    prices |= {sku: 5.0 for of, sku in sorted(feed.unpriced) if of == vendor}
    return [{"sku": sku, "title": sku, "price": price, "active": True} for sku, price in prices.items()]


def _pages(get: Callable[[str], Any], path: str, name: str) -> Iterator[dict[str, Any]]:
    first, total = 0, 1
    while first < total:
        page = get(f"{path}?offset={first}&limit=200")
        yield from page[name]
        first, total = first + 200, page["total"]
