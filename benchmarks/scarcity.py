"""More vendors than requests: a week of a till's rhythm, simulated on the functions that decide in production who sends when.

    PYTHONPATH=include .venv/bin/python -m benchmarks.scarcity --vendors 50 300 1000 --days 7

A virtual clock, no database, no platform. Real: the order of sending (`catalog.turn`), and when a request may leave
(`platform.rate_limit.sliding_window`). Assumed, and named in `Assumed`: what happens in the stores, and how long everything else takes.
It is `shelfsync sync --watch`: a run reads all changes, sends them, waits for the jobs, and reads their logs; then the next one begins.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from shelfsync.catalog.state import PRIORITIES
from shelfsync.catalog.whose_turn import Turn, in_order
from shelfsync.platform.rate_limit.sliding_window import Rate, next_slot

START = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)  # a Monday, midnight
BOUND_REQUEST_S = 1.0
"""What a request takes at 60 a minute, whoever sends it."""
OF_BOUND_MAX = 1.1
"""The target of a run that the request limit makes long, against its requests alone."""
HOURS = (0, 0, 0, 0, 0, 0, 1, 4, 6, 7, 8, 10, 11, 8, 7, 8, 10, 12, 11, 8, 5, 2, 0, 0)
"""Sales by hour of the day: two peaks, and seven hours without a customer."""
DELIVERIES = (1, 1, 1, 1, 1, 8, 8, 8, 8, 8, *(1,) * 14)
OFFICE = (*(0,) * 8, *(1,) * 10, *(0,) * 6)
WEEKDAYS = (0.9, 0.85, 0.9, 1.0, 1.25, 1.4, 0.7)


@dataclass(frozen=True)
class Assumed:
    """A store of a chain, and the machine. Counts are by store and day."""

    stop_sells: float = 60.0
    refills: float = 60.0
    prices: float = 20.0
    price_wave_at: int = 6
    """The hour of Monday and Thursday in which every store gets new prices."""
    prepare_s: float = 1.0
    """Reading the changes, and what a run costs beside its vendors."""
    prepare_vendor_s: float = 0.05
    """Comparing one vendor of some 7,000 SKUs."""
    request_s: float = 0.15
    job_s: tuple[float, float] = (1.0, 4.0)
    """From the platform's 202 to its webhook, at least and at most."""
    without_webhook: float = 0.01
    """The share of jobs whose webhook does not come, so that they are polled."""
    poll_first_s: float = 20.0
    look_s: float = 2.0


@dataclass
class Limit:
    """The shared allowance as one process meets it."""

    rate: Rate = field(default_factory=lambda: Rate(60))
    free_at: dt.datetime | None = None
    arrived: deque[dt.datetime] = field(default_factory=deque)
    requests: int = 0

    def slot(self, now: dt.datetime, request_s: float) -> dt.datetime:
        """When the request leaves; it has arrived when it is answered."""
        nth = self.arrived[0] if len(self.arrived) == self.rate.limit else None
        at = next_slot(self.rate, now, free_at=self.free_at, paused_until=None, nth_arrival=nth)
        self.free_at = at + self.rate.spacing
        self.arrived.append(at + dt.timedelta(seconds=request_s))
        if len(self.arrived) > self.rate.limit:
            self.arrived.popleft()
        self.requests += 1
        return at


@dataclass
class Vendor:
    """What the ERP has changed, and what of it is not acknowledged yet: (when, priority), oldest first."""

    name: str
    to_come: deque[tuple[float, str]]
    waiting: list[tuple[float, str]] = field(default_factory=list)

    def read(self, until_s: float) -> None:
        while self.to_come and self.to_come[0][0] <= until_s:
            self.waiting.append(self.to_come.popleft())

    def turn(self) -> Turn:
        """One body with all that waits, of the priority of its most urgent change."""
        priority = min((one for _, one in self.waiting), key=PRIORITIES.index)
        return Turn(self.name, priority, START + dt.timedelta(seconds=self.waiting[0][0]))


@dataclass
class Week:
    """What came out."""

    vendors: int
    waits_s: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PRIORITIES})
    """From the change in the ERP to the log that acknowledges it, by the change's own priority."""
    busy_s: float = 0.0
    busy_requests: int = 0
    """Of the runs in which at least half of all vendors waited."""
    longest_run_s: float = 0.0
    most_waiting: int = 0
    polls: int = 0
    requests: int = 0

    def figures(self) -> dict[str, Any]:
        """For the table: times in seconds."""
        stops = sorted(self.waits_s["stop_sell"])
        worst_s = max(max(waits, default=0.0) for waits in self.waits_s.values())
        return {
            "vendors": self.vendors,
            "most_waiting": self.most_waiting,
            "cycle_of_bound": round(self.busy_s / (self.busy_requests * BOUND_REQUEST_S), 2) if self.busy_s else None,
            "longest_run_s": round(self.longest_run_s),
            "stop_sells": len(stops),
            "stop_sell_p50_s": round(stops[len(stops) // 2]),
            "stop_sell_p95_s": round(stops[int(len(stops) * 0.95)]),
            "worst_s": round(worst_s),
            "worst_bound_s": round(wait_s_max(self.vendors)),
            "polls_share": round(self.polls / self.requests, 4),
        }


def wait_s_max(vendors: int) -> float:
    """The stated bound: a change waits for the end of the run at work and for its own, each of two requests a vendor and a tenth more."""
    return 2 * OF_BOUND_MAX * 2 * vendors * BOUND_REQUEST_S


def changes(chance: random.Random, days: int, assumed: Assumed) -> deque[tuple[float, str]]:
    """The changes of one store: stop-sells with the sales, refills with the deliveries, prices by hand and, twice a week, for all at once."""
    found: list[tuple[float, str]] = []
    for day in range(days):
        busy = WEEKDAYS[day % 7]
        for priority, count, hours in (
            ("stop_sell", assumed.stop_sells * busy, HOURS),
            ("catalog", assumed.refills * busy, DELIVERIES),
            ("price", assumed.prices, OFFICE),
        ):
            of_day = chance.choices(range(24), hours, k=max(0, round(chance.gauss(count, count**0.5))))
            found += [((day * 24 + hour + chance.random()) * 3600, priority) for hour in of_day]
        if day % 7 in {0, 3}:
            found.append(((day * 24 + assumed.price_wave_at) * 3600 + chance.random(), "price"))
    return deque(sorted(found))


def week(vendors: int, *, days: int = 7, seed: int = 1, assumed: Assumed = Assumed()) -> Week:
    """The week of a chain, or so many days of it."""
    chance = random.Random(seed)
    shops = {f"store-{n:04}": Vendor(f"store-{n:04}", changes(chance, days, assumed)) for n in range(vendors)}
    limit, found, now_s = Limit(), Week(vendors), 0.0
    while now_s < days * 86_400:
        for shop in shops.values():
            shop.read(now_s)
        turns = in_order(shop.turn() for shop in shops.values() if shop.waiting)
        if not turns:
            now_s += assumed.look_s
            continue
        began_s, before = now_s, limit.requests
        acknowledged, now_s = _run(turns, limit, now_s, chance, assumed)
        for name, at_s in acknowledged.items():
            for changed_s, priority in shops[name].waiting:
                found.waits_s[priority].append(at_s - changed_s)
            shops[name].waiting = []
        found.polls += limit.requests - before - 2 * len(turns)
        found.most_waiting = max(found.most_waiting, len(turns))
        found.longest_run_s = max(found.longest_run_s, now_s - began_s)
        if 2 * len(turns) >= vendors:
            found.busy_s += now_s - began_s
            found.busy_requests += limit.requests - before
    found.requests = limit.requests
    return found


def _run(
    turns: list[Turn], limit: Limit, now_s: float, chance: random.Random, assumed: Assumed
) -> tuple[dict[str, float], float]:
    """One run: when each vendor's log was read, and when the run ended."""
    now_s += assumed.prepare_s + assumed.prepare_vendor_s * len(turns)
    ends_s: list[float] = []
    polls_s: list[float] = []
    for _ in turns:
        now_s = _requested(limit, now_s, assumed)
        if chance.random() < assumed.without_webhook:
            polls_s.append(now_s + assumed.poll_first_s)
        else:
            ends_s.append(now_s + chance.uniform(*assumed.job_s))
    for due_s in polls_s:
        now_s = _requested(limit, max(now_s, due_s), assumed)
    now_s = max(now_s, *ends_s, 0.0)
    acknowledged: dict[str, float] = {}
    for turn in turns:
        now_s = _requested(limit, now_s, assumed)
        acknowledged[turn.vendor] = now_s
    return acknowledged, now_s


def _requested(limit: Limit, now_s: float, assumed: Assumed) -> float:
    """When a request that is asked for now has its answer."""
    slot_at = limit.slot(START + dt.timedelta(seconds=now_s), assumed.request_s)
    return (slot_at - START).total_seconds() + assumed.request_s


def main() -> int:
    """Runs it and prints the figures; `--json` as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scarcity", description=__doc__)
    parser.add_argument("--vendors", type=int, nargs="+", default=[20, 50, 100, 300, 1000])
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = [week(vendors, days=options.days, seed=options.seed).figures() for vendors in options.vendors]
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    names = list(found[0])
    print("| " + " | ".join(name.replace("_", " ") for name in names) + " |\n|" + "---|" * len(names))
    for row in found:
        print("| " + " | ".join(f"{row[name]:,}" if row[name] is not None else "-" for name in names) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
