"""What happened, recomputed from the platform's memory alone: its journal, its jobs and their items, its products."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from story.day import UNSAID

if TYPE_CHECKING:
    from story.day import Day

_ITEMS = """
SELECT job.seq AS seq, job.job_id AS job_id, job.vendor AS vendor, job.file AS file, job.items AS items, job_item.number AS number,
    job_item.sku AS sku, job_item.quantity AS quantity, job_item.price_milli AS price_milli, job_item.active AS active,
    job_item.sales_limit AS sales_limit, job_item.error AS error
FROM job JOIN job_item ON job_item.job_seq = job.seq WHERE job.kind = 'update' AND job.state = 'COMPLETED' ORDER BY 1, 6
"""
WORDS = {"put_catalog": "put_catalog", "log": "download", "job_status": "job_status", "export": "export"}
"""The sandbox's word for a call -> the client's."""


@dataclass(frozen=True)
class Item:
    """One item of one request, and what the partner could know of its end."""

    job: str
    vendor: str
    sku: str
    quantity: int | None
    price: Decimal | None
    active: bool | None
    limit: int | None
    state: str
    error: str | None
    told_at: dt.datetime

    def over(self, before: Item) -> Item:
        """What the SKU is after this, when it was that before; what is not said stays."""
        stays = {name: getattr(before, name) for name in ("quantity", "price", "active", "limit")}
        return replace(self, **{name: value for name, value in stays.items() if getattr(self, name) is None})

    @property
    def sells(self) -> bool:
        return self.active is not False and self.quantity != 0

    @property
    def stops_selling(self) -> bool:
        return self.active is False or self.quantity == 0


class Truth:
    """Read once, after the day."""

    def __init__(self, day: Day) -> None:
        self.day = day
        self.journal = self._journal()
        self.items = self._items()

    def acceptance(self) -> dict[tuple[str, dt.date], tuple[int, int, int, int]]:
        counted: dict[tuple[str, dt.date], Counter[str]] = defaultdict(Counter)
        for item in self.items:
            counted[item.vendor, item.told_at.date()][item.state] += 1
        return {
            key: (states.total(), states["accepted"], states["refused"], states["unaccounted"])
            for key, states in counted.items()
        }

    def refusals(self) -> dict[tuple[str, dt.date, str], tuple[int, int]]:
        found: dict[tuple[str, dt.date, str], list[str]] = defaultdict(list)
        for item in self.items:
            if item.error is not None:
                found[item.vendor, item.told_at.date(), item.error].append(item.sku)
        return {key: (len(skus), len(set(skus))) for key, skus in found.items()}

    def accepted(self) -> list[Item]:
        return [item for item in self.items if item.state == "accepted"]

    def stops(self) -> set[tuple[str, str, str]]:
        """(job, vendor, SKU) of what took a SKU off sale that was on sale before."""
        stands: dict[tuple[str, str], Item] = {}
        found = set()
        for item in self.accepted():
            before = stands.get((item.vendor, item.sku))
            if item.stops_selling and before is not None and before.sells:
                found.add((item.job, item.vendor, item.sku))
            stands[item.vendor, item.sku] = item if before is None else item.over(before)
        return found

    def is_shown(self, item: Item) -> bool:
        """Whether the picture shows what this item said."""
        shown = self.day.shown[item.vendor][item.sku]
        return (
            (item.price is None or item.price == Decimal(str(shown["price"])))
            and (item.limit is None or item.limit == shown["max_sales_quantity"])
            and (item.active is not False or shown["active"] is False)
        )

    def gaps(self) -> set[tuple[str, str, str]]:
        found = set()
        for vendor, shown in self.day.shown.items():
            ours = {sku for name, sku in self.day.rows if name == vendor}
            found |= {(vendor, sku, "not_on_platform") for sku in ours - shown.keys()}
            found |= {(vendor, sku, "not_in_erp") for sku in shown.keys() - ours}
        return found

    def requests(self) -> Counter[str]:
        """Requests that left, by call."""
        return Counter(
            WORDS[entry["operation"]]
            for entry in self.journal
            if entry["operation"] in WORDS and entry["kind"] == "request"
        )

    def last_said(self) -> dict[tuple[str, str], Decimal]:
        """The last price that the platform took of each SKU, whatever it did with it, and whether its log said so or not."""
        return {
            (item.vendor, item.sku): item.price for item in self.items if item.error is None and item.price is not None
        }

    def rejections(self) -> dict[tuple[str, str], tuple[str, int]]:
        """(vendor, SKU) whose last word from the platform was no: its words, and how often it said so since it last said yes."""
        found: dict[tuple[str, str], tuple[str, int]] = {}
        for item in self.items:
            if item.error is not None:
                found[item.vendor, item.sku] = (item.error, found.get((item.vendor, item.sku), ("", 0))[1] + 1)
            elif item.state == "accepted":
                found.pop((item.vendor, item.sku), None)
        return found

    def lanes(self) -> dict[str, str]:
        """The platform's job -> the lane that it should have gone by, from what was on sale before it and after."""
        stands: dict[tuple[str, str], Item] = {}
        found: dict[str, str] = {}
        rank = ("stop_sell", "price", "catalog")
        for item in self.items:
            before = stands.get((item.vendor, item.sku))
            after = item if before is None else item.over(before)
            word = "catalog"
            if item.stops_selling and (before is None or before.sells):
                word = "stop_sell"
            elif before is not None and after.sells and after.price != before.price:
                word = "price"
            found[item.job] = min(found.get(item.job, "catalog"), word, key=rank.index)
            if item.state == "accepted":
                stands[item.vendor, item.sku] = after
        return found

    def heard(self) -> tuple[set[str], set[str]]:
        """(platform's jobs whose event was lost, jobs that the platform was asked about)."""
        rows = self.day.world.platform_rows(
            "SELECT subject FROM delivery WHERE operation = 'job_webhook' AND state = 'lost'"
        )
        asked = {
            entry["route"].split("?")[0].rsplit("/", 1)[-1]
            for entry in self.journal
            if entry["operation"] == "job_status"
        }
        return {row.subject for row in rows}, asked

    def _journal(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        while page := self.day.world.platform.journal(entries[-1]["n"] if entries else 0)["entries"]:
            entries += page
        return entries

    def _items(self) -> list[Item]:
        told = {
            entry["route"].rsplit("/", 1)[-1].split("?")[0]: entry
            for entry in self.journal
            if entry["operation"] == "log"
        }
        found = []
        rows = self.day.world.platform_rows(_ITEMS)
        unsaid = max(row.seq for row in rows if (row.vendor, row.sku) == (self.day.vendors[2], UNSAID))
        for row in rows:
            log = told[row.file]
            skipped = row.seq == unsaid and row.number == row.seq % row.items  # what the fault leaves out of a log
            state = "unaccounted" if skipped else "accepted" if row.error is None else "refused"
            found.append(
                Item(
                    job=row.job_id,
                    vendor=row.vendor,
                    sku=row.sku,
                    quantity=row.quantity,
                    price=None if row.price_milli is None else Decimal(row.price_milli) / 1000,
                    active=None if row.active is None else bool(row.active),
                    limit=row.sales_limit,
                    state=state,
                    error=row.error,
                    told_at=dt.datetime.fromtimestamp(log["at"], dt.UTC),
                )
            )
        return found
