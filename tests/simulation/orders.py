"""Orders under faults: customers, a rider, stores and dying processes of ours on the virtual clock, and a naive model of what must come of it.

The model knows what customers and stores did, and nothing of how shelfsync works. O1: no order is lost. O2: no store sees an order in a wrong
state, or another store's. O3: nothing of ours cancels. O4: an order gets its store's result, once. O5: what breaks a rule never
leaves the machine.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app_calls import Calls
from order_picker import ASSORTMENT
from shelfsync.settings import OrdersSettings
from simulation import day
from simulation.erp import VENDORS
from simulation.fault_point import Death, FaultPoint, Killed
from simulation.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simulation.world import World

WEBHOOK = ("lost", "repeated", "reordered", "late", "early", "forged_secret", "oversized", "other_vendor")
REQUEST = {
    "put_order": (
        "drop_answer",
        "half_body",
        "refuse_connection",
        "not_applied",
        "status_503",
        "status_500",
        "status_429",
        "token_expired",
    ),
    "get_order": ("drop_answer", "status_502", "status_500", "stale"),
    "list_orders": ("drop_answer", "status_500", "first_page_again", "endless_pages", "stale"),
    "list_catalog": ("status_503", "drop_answer"),
    "token": ("status_503",),
}
ENDED = {"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"}
SOLD = ("MILK", "BREAD", "JAM", "HONEY", "CHEESE")
CHEAPER = {"JAM": "BREAD", "HONEY": "JAM", "BREAD": "MILK"}


@dataclass
class Result:
    """A picking result of a store. The store repeats it until shelfsync has stored it."""

    raw: dict[str, Any]
    legal: bool
    stored: bool = False


@dataclass
class OrdersVerdict:
    """What a seed came to."""

    seed: int
    orders: int = 0
    results: int = 0
    illegal: int = 0
    deaths: int = 0
    ends: Counter[str] = field(default_factory=Counter)


class OrdersRun:
    """One seed: some virtual hours of all processes at once."""

    def __init__(self, world: World, folder: Path, seed: int, log: Callable[[str], None] = lambda _: None) -> None:
        self.world = world
        self.folder = folder
        self.chance = random.Random(f"orders {seed}")
        self.verdict = OrdersVerdict(seed)
        self.log = log
        self.placed: dict[str, dict[str, Any]] = {}
        self.vendor: dict[str, str] = {}
        self.cancelled_by_customer: set[str] = set()
        self.results: dict[str, list[Result]] = {}
        self.seen: set[str] = set()
        self.lagging = False

    def run(self, actions: int = 40) -> OrdersVerdict:
        """Raises AssertionError with the broken rule."""
        self.begin()
        steps = (
            self.customer,
            self.customer,
            self._process,
            self._process,
            self._process,
            self._store,
            self._store,
            self._time,
            self._faults,
            self._change,
        )
        for number in range(actions):
            step = self.chance.choice(steps)
            self.log(f"{number:3} +{self.world.clock.monotonic_s():.0f} s {step.__name__}")
            step()
            self.look()
        self.end()
        return self.verdict

    def begin(self) -> None:
        """A world with an assortment, and with the events of its orders."""
        self.world.reset(self.verdict.seed, Shape(dialect=self.chance.choice(("spec", "live", "legacy"))))
        for vendor in VENDORS:
            self.world.platform.put_products(vendor, ASSORTMENT)
        self.world.platform.put_webhook(order_url=self.world.receiver_url, secret=self.world.chain.webhook_secret)
        self.world.clock.sleep(1)

    def customer(self) -> None:
        """A customer orders."""
        vendor = self.chance.choice(VENDORS)
        skus = self.chance.sample(SOLD, self.chance.randint(1, 3))
        body = {
            "items": [
                {"sku": sku, "quantity": self.chance.randint(1, 2) if sku in {"MILK", "BREAD"} else 1} for sku in skus
            ],
            "transport_type": self.chance.choice(("LOGISTICS_DELIVERY", "VENDOR_DELIVERY")),
            "order_type": self.chance.choice(("DELIVERY", "DELIVERY", "PICKUP")),
        }
        order = self.world.platform.control("POST", f"chains/demo-chain/vendors/{vendor}/orders", body)
        self.placed[order["order_id"]] = order
        self.vendor[order["order_id"]] = vendor
        self.verdict.orders += 1

    def _change(self) -> None:
        """A customer cancels, or a rider picks up the order."""
        if not self.placed:
            return
        order_id = self.chance.choice(sorted(self.placed))
        state = self._platform()[order_id]["state"]
        if state not in {"CANCELLED", "PICKED_UP"} and self.chance.random() < 0.5:
            self.cancel(order_id)
        elif state in ENDED - {"PICKED_UP"}:
            self.world.platform.control("POST", f"orders/{order_id}/pick-up")

    def cancel(self, order_id: str) -> None:
        """The customer cancels the order."""
        self.world.platform.control("POST", f"orders/{order_id}/cancel")
        self.cancelled_by_customer.add(order_id)

    def _store(self) -> None:
        """A store takes its new orders and sends picking results. It repeats a result that was lost."""
        self.pick()
        with self.app(self._fault_point()) as app, contextlib.suppress(Killed):
            self.report(app)
        for file in self.folder.glob("*/*.json"):
            file.unlink()

    def pick(self) -> None:
        """The stores prepare the results of their new orders."""
        for paper in self.papers():
            order_id = paper["order_id"]
            if paper["kind"] == "new" and order_id not in self.results:
                self.results[order_id] = [
                    self._result(self.placed[order_id], number) for number in range(self.chance.choice((1, 1, 1, 2)))
                ]

    def report(self, app: Calls) -> None:
        """The stores send the results that were not stored yet."""
        for order_id, results in self.results.items():
            for result in results:
                if not result.stored:
                    app.orders.report(order_id, result.raw)
                    result.stored = True

    def _result(self, order: dict[str, Any], number: int) -> Result:
        self.verdict.results += 1
        if self.chance.random() < 0.25:
            self.verdict.illegal += 1
            first = order["items"][0]["sku"]
            lines = self.chance.choice(
                (
                    [{"status": "picked", "item_id": order["items"][0]["_id"]}],
                    [{"sku": first, "status": "picked", "quantity": 99, "weight": "99"}],
                    [{"sku": first, "status": "replaced", "replaced_by": {"sku": "NOWHERE", "quantity": 1}}],
                    [{"sku": item["sku"], "status": "not_found"} for item in order["items"]],
                )
            )
            return Result({"result_id": f"bad-{number}", "action": "fulfil", "items": lines}, legal=False)
        if self.chance.random() < 0.1:
            return Result({"result_id": f"no-{number}", "action": "cancel", "reason": "TOO_BUSY"}, legal=True)
        lines = []
        for place, item in enumerate(order["items"]):
            line: dict[str, Any] = {"sku": item["sku"], "item_id": item["_id"], "status": "picked"}
            dice = self.chance.random()
            if place and dice < 0.25:
                line["status"] = "not_found"
            elif dice < 0.5 and item["sku"] in CHEAPER:
                line |= {"status": "replaced", "replaced_by": {"sku": CHEAPER[item["sku"]], "quantity": 1}}
            elif item["sku"] == "CHEESE":
                line["weight"] = "0.75"
            lines.append(line)
        return Result({"result_id": f"ok-{number}", "action": "fulfil", "items": lines}, legal=True)

    def _time(self) -> None:
        self.world.clock.sleep(self.chance.choice((1, 10, 70, 200)))

    def _faults(self) -> None:
        if self.chance.random() < 0.3:
            self.world.platform.faults()
            return
        rules: list[dict[str, Any]] = [
            {
                "at": "order_webhook",
                "kind": kind,
                "probability": 0.5,
                **({"bytes": 2 << 20} if kind == "oversized" else {}),
            }
            for kind in self.chance.sample(WEBHOOK, 2)
        ]
        rules += [
            {"at": at, "kind": self.chance.choice(REQUEST[at]), "times": self.chance.randint(1, 3)}
            for at in self.chance.sample(sorted(REQUEST), 2)
        ]
        self.lagging |= any(rule["kind"] == "stale" for rule in rules)
        self.world.platform.faults(*rules, seed=self.chance.getrandbits(16))

    def _process(self) -> None:
        """A process of ours does the minute's steps, or the history, and may die of it."""
        steps = self.chance.choice(
            (
                ("take", "hand_over", "fulfil", "hand_over"),
                ("take", "hand_over", "fulfil", "hand_over"),
                ("history",),
                ("fulfil",),
            )
        )
        self._work(steps, self._fault_point())

    def _work(self, steps: tuple[str, ...], fault_point: FaultPoint) -> None:
        try:
            with self.app(fault_point) as app:
                for step in steps:
                    day.tolerated(getattr(app.orders, step))
        except Killed:
            self.verdict.deaths += 1

    def _fault_point(self) -> FaultPoint:
        if self.chance.random() < 0.6:
            return FaultPoint()
        return FaultPoint(Death(self.chance.randint(1, 20), self.chance.random() < 0.5))

    @contextlib.contextmanager
    def app(self, fault_point: FaultPoint) -> Iterator[Calls]:
        """A process of ours that handles orders."""
        settings = OrdersSettings(
            encryption_key="the key of the simulation",
            hand_over="files",
            hand_over_url=str(self.folder),
            history_window_days=59,
            history_lag_s=0,
            confirm_s=30,
        )
        with self.world.app(fault_point) as app:
            others = app.context.settings
            named = others.sync.model_copy(update={"vendors": VENDORS})  # as no catalog run ever names them here
            ours = others.model_copy(update={"orders": settings, "sync": named})
            yield Calls(replace(app.context, settings=ours))

    def look(self) -> None:
        """O2, during the run: a store's folder has only orders of this store, and a new order can be picked."""
        self.world.unexpected.check()
        shown = self._platform()
        for file in sorted(self.folder.glob("*/*.json")):
            paper = json.loads(file.read_text())
            order_id = paper["order_id"]
            assert file.parent.name == self.vendor[order_id] == paper["vendor"], (
                f"O2: order {order_id} lies at {file.parent.name}"
            )
            if str(file) in self.seen:
                continue
            self.seen.add(str(file))
            if paper["kind"] == "new":
                assert paper["status"] in {"RECEIVED", "ACCEPTED"}, (
                    f"O2: order {order_id} was handed over {paper['status']}"
                )
                if not self.lagging:
                    assert shown[order_id]["state"] != "CANCELLED", (
                        f"O2: order {order_id} was cancelled before it was handed over"
                    )
            if paper["kind"] == "cancelled":
                assert shown[order_id]["state"] == "CANCELLED", f"O2: order {order_id} is {shown[order_id]['state']}"

    def end(self) -> None:
        """No further faults; the schedules continue, and then every rule must hold."""
        self.world.platform.faults()
        for _ in range(8):
            self.world.clock.sleep(120)
            self._work(("history", "take", "hand_over", "fulfil", "hand_over"), FaultPoint())
            self.look()
            self._store_in_peace()
        self._judge()

    def _store_in_peace(self) -> None:
        chance, self.chance = self.chance, random.Random(0)
        self.chance.random = lambda: 0.55  # type: ignore[method-assign]  # neither dies nor breaks a rule from here on
        self._store()
        self.chance = chance

    def _judge(self) -> None:
        shown = self._platform()
        ours = {row[0]: row[1] for row in self.world.rows("SELECT order_id, status FROM warehouse.customer_order")}
        handed_over = {
            row[0]: row[1] for row in self.world.rows("SELECT order_id, state FROM ledger.hand_over WHERE kind = 'new'")
        }
        put = self._put()
        for order_id, order in shown.items():
            state = order["state"]
            self.verdict.ends[state] += 1
            assert order_id in ours, f"O1: order {order_id} is lost"
            assert ours[order_id] == state, f"O1: order {order_id} is {state}, and shelfsync has {ours[order_id]}"
            if state in {"RECEIVED", "ACCEPTED"}:
                assert handed_over.get(order_id) == "taken", (
                    f"O1: order {order_id} is open, and its hand-over is {handed_over.get(order_id)}"
                )
            results = self.results.get(order_id, [])
            asked = [result for result in results if result.raw["action"] == "cancel" and result.stored]
            if state == "CANCELLED":
                assert order_id in self.cancelled_by_customer or asked, (
                    f"O3: neither customer nor store cancelled order {order_id}"
                )
                assert (order["cancellation"]["cancelled_by"] == "VENDOR") <= bool(asked), f"O3: order {order_id}"
            legal = [result for result in results if result.legal]
            if not legal:
                assert order_id not in put, f"O5: order {order_id} was sent, and its results break the rules"
                assert state not in ENDED, f"O5: order {order_id} is {state}"
            elif state != "CANCELLED":
                assert state in ENDED, f"O4: order {order_id} is {state}: {self._results(order_id)}"
                self._ended_as_reported(order, legal[0].raw)
        left = self.world.rows(
            "SELECT state, count(*) FROM ledger.picking_result WHERE state IN ('waiting', 'sending', 'answered') GROUP BY 1"
        )
        assert left == [], f"O4: results are left: {left}"

    def _ended_as_reported(self, order: dict[str, Any], raw: dict[str, Any]) -> None:
        of_id = {item["id"]: item for item in order["items"]}
        words = {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}
        for line in raw["items"]:
            assert of_id[line["item_id"]]["status"] == words[line["status"]], f"O4: order {order['order_id']}: {line}"
        extra = [item for item in order["items"] if item["replaced_id"]]
        wanted = [line for line in raw["items"] if line["status"] == "replaced"]
        assert len(extra) == len(wanted), f"O4: order {order['order_id']} was changed more than once"

    def _results(self, order_id: str) -> list[Any]:
        return self.world.rows(
            "SELECT result_id, state, attempts, error, problems::text FROM ledger.picking_result WHERE order_id = :id ORDER BY result_no",
            id=order_id,
        )

    def papers(self) -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("*/*.json"))]

    def _platform(self) -> dict[str, dict[str, Any]]:
        """What the platform itself knows, by its own memory: it costs no request."""
        rows = self.world.platform_rows("SELECT order_id, document FROM customer_order")
        return {row[0]: json.loads(row[1]) for row in rows}

    def _put(self) -> set[str]:
        entries = self.world.platform.journal()["entries"]
        return {one["route"].split("/")[5] for one in entries if one["operation"] == "put_order"}
