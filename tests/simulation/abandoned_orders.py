"""Processes of orders that die, and the two DAGs of orders as the only thing that follows; the claims are those of `orders.py`.

Stores and customers go on meanwhile: a store repeats a result that got no answer, and an operator repeats an erasure.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import day
from simulation.broken import Broken
from simulation.fault_point import FaultPoint
from simulation.orders import OrdersRun

if TYPE_CHECKING:
    from app_calls import Calls
    from simulation.abandoned import Process
    from simulation.world import World

SEED = 4
PHONE = "+447700900123"
"""Of the sandbox's customer."""
ORDERS = 4
MINUTE = ("take", "hand_over", "collect", "fulfil", "hand_over")
"""As the DAG `orders_fulfilment`: its task `reply` is the second hand-over."""


class OrdersCase:
    """Customers' orders in a world without a catalog; the first process finds what it works on."""

    def __init__(self, world: World, first: Process, seed: int = SEED) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="store-")
        self._lived: list[Process] = []
        self.erased: set[str] = set()
        self.run = OrdersRun(world, Path(self._folder.name), seed)
        self.run.begin()
        for _ in range(ORDERS):
            self.run.customer()
        world.clock.sleep(1)
        with self.run.app(FaultPoint()) as app:
            first.before(self, app)
        self.run.look()

    def live(self, process: Process, fault_point: FaultPoint) -> None:
        """A process, to its end or to its death."""
        self._lived.append(process)
        with self.run.app(fault_point) as app:
            process.work(self, app)

    def follow(self) -> None:
        """What the schedule does, and what must be true after it; raises Broken."""
        with self._folder:
            try:
                with self.run.app(FaultPoint()) as app:
                    for process in self._lived:
                        process.again(self, app)
                self.run.end()
            except AssertionError as rule:
                raise Broken("I18", str(rule)) from rule
            self._forgotten()

    def _forgotten(self) -> None:
        """Nothing is left of a customer whom an operator has erased, whatever came later."""
        bodies = [bytes(row.body).decode() for row in self.run.world.rows("SELECT body FROM inbox.event")]
        papers = [json.dumps(paper) for paper in self.run.papers()]
        left = [text for text in (*bodies, *papers) if PHONE in text and any(name in text for name in self.erased)]
        if left:
            raise Broken("I12", f"{len(left)} documents and events still name a customer who was erased")
        with self.run.app(FaultPoint()) as app:
            if found := self.erased & set(app.orders.orders_of(PHONE)):
                raise Broken("I12", f"{len(found)} orders still have a customer who was erased")


def minute(_: OrdersCase, app: Calls) -> None:
    """One run of `orders_fulfilment`."""
    for step in MINUTE:
        day.tolerated(getattr(app.orders, step))


def history(_: OrdersCase, app: Calls) -> None:
    """One run of `orders_history`."""
    app.orders.history()


def forget(case: OrdersCase, app: Calls) -> None:
    """`shelfsync orders forget --customer`: every order of the customer that has reached shelfsync."""
    app.orders.take()
    case.erased |= set(app.orders.orders_of(PHONE))
    app.orders.forget(sorted(case.erased))


def report(case: OrdersCase, app: Calls) -> None:
    """A store's picking results, each until it has got its answer."""
    case.run.report(app)


def handed_over(case: OrdersCase, app: Calls) -> None:
    """The stores have their orders and have picked them."""
    minute(case, app)
    case.run.look()
    case.run.pick()


def picked(case: OrdersCase, app: Calls) -> None:
    """One of these orders is cancelled, and the results of the others wait to be sent."""
    handed_over(case, app)
    case.run.cancel(min(case.run.placed))
    case.run.world.clock.sleep(1)
    report(case, app)


def unreported(case: OrdersCase, _: Calls) -> None:
    """Orders that no event reports."""
    world = case.run.world
    world.platform.put_webhook(order_url=None)
    for _order in range(ORDERS):
        case.run.customer()
    world.clock.sleep(1)
