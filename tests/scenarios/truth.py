"""The expected views, computed from the sandbox's store alone: journal, jobs with items, products."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scenarios.day import UNACCOUNTED

if TYPE_CHECKING:
    from scenarios.day import Day

_ITEMS = """
SELECT job.seq AS seq, job.job_id AS job_id, job.vendor AS vendor, job.file AS file, job.items AS items, job_item.number AS number,
    job_item.sku AS sku, job_item.quantity AS quantity, job_item.price_milli AS price_milli, job_item.active AS active,
    job_item.sales_limit AS sales_limit, job_item.error AS error
FROM job JOIN job_item ON job_item.job_seq = job.seq WHERE job.kind = 'update' AND job.state = 'COMPLETED' ORDER BY 1, 6
"""
OPERATIONS = {"put_catalog": "put_catalog", "log": "download", "job_status": "job_status", "export": "export"}
"""The sandbox's name of an operation -> the client's."""


@dataclass(frozen=True)
class Item:
    """One item of a request, with the outcome that the platform reported."""

    job: str
    vendor: str
    sku: str
    quantity: int | None
    price: Decimal | None
    active: bool | None
    limit: int | None
    state: str
    error: str | None
    reported_at: dt.datetime

    def over(self, before: Item) -> Item:
        """The state of the SKU after this item; fields without a value stay as before."""
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
            counted[item.vendor, item.reported_at.date()][item.state] += 1
        return {
            key: (states.total(), states["accepted"], states["rejected"], states["unaccounted"])
            for key, states in counted.items()
        }

    def rejections_by_reason(self) -> dict[tuple[str, dt.date, str], tuple[int, int]]:
        found: dict[tuple[str, dt.date, str], list[str]] = defaultdict(list)
        for item in self.items:
            if item.error is not None:
                found[item.vendor, item.reported_at.date(), item.error].append(item.sku)
        return {key: (len(skus), len(set(skus))) for key, skus in found.items()}

    def accepted(self) -> list[Item]:
        return [item for item in self.items if item.state == "accepted"]

    def stops(self) -> set[tuple[str, str, str]]:
        """(job, vendor, SKU) of what took a SKU off sale that was on sale before."""
        current: dict[tuple[str, str], Item] = {}
        found = set()
        for item in self.accepted():
            before = current.get((item.vendor, item.sku))
            if item.stops_selling and before is not None and before.sells:
                found.add((item.job, item.vendor, item.sku))
            current[item.vendor, item.sku] = item if before is None else item.over(before)
        return found

    def is_shown(self, item: Item) -> bool:
        """Whether the export shows the values of this item."""
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
            OPERATIONS[entry["operation"]]
            for entry in self.journal
            if entry["operation"] in OPERATIONS and entry["kind"] == "request"
        )

    def last_prices(self) -> dict[tuple[str, str], Decimal]:
        """The last price that the platform accepted for each SKU, whether or not it applied it, and whether or not its log has it."""
        return {
            (item.vendor, item.sku): item.price for item in self.items if item.error is None and item.price is not None
        }

    def rejections(self) -> dict[tuple[str, str], tuple[str, int]]:
        """(vendor, SKU) whose last outcome is a rejection: the reason, and how often in a row."""
        found: dict[tuple[str, str], tuple[str, int]] = {}
        for item in self.items:
            if item.error is not None:
                found[item.vendor, item.sku] = (item.error, found.get((item.vendor, item.sku), ("", 0))[1] + 1)
            elif item.state == "accepted":
                found.pop((item.vendor, item.sku), None)
        return found

    def priorities(self) -> dict[str, str]:
        """The platform's job -> its expected priority, from what was on sale before it and after."""
        current: dict[tuple[str, str], Item] = {}
        found: dict[str, str] = {}
        rank = ("stop_sell", "price", "catalog")
        for item in self.items:
            before = current.get((item.vendor, item.sku))
            after = item if before is None else item.over(before)
            priority = "catalog"
            if item.stops_selling and (before is None or before.sells):
                priority = "stop_sell"
            elif before is not None and after.sells and after.price != before.price:
                priority = "price"
            found[item.job] = min(found.get(item.job, "catalog"), priority, key=rank.index)
            if item.state == "accepted":
                current[item.vendor, item.sku] = after
        return found

    def lost_and_polled(self) -> tuple[set[str], set[str]]:
        """(platform's jobs whose event was lost, jobs that shelfsync polled)."""
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
        logs = {
            entry["route"].rsplit("/", 1)[-1].split("?")[0]: entry
            for entry in self.journal
            if entry["operation"] == "log"
        }
        found = []
        rows = self.day.world.platform_rows(_ITEMS)
        unaccounted_job = max(row.seq for row in rows if (row.vendor, row.sku) == (self.day.vendors[2], UNACCOUNTED))
        for row in rows:
            log = logs[row.file]
            skipped = (
                row.seq == unaccounted_job and row.number == row.seq % row.items
            )  # what the fault leaves out of a log
            state = "unaccounted" if skipped else "accepted" if row.error is None else "rejected"
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
                    reported_at=dt.datetime.fromtimestamp(log["at"], dt.UTC),
                )
            )
        return found
