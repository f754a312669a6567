"""The one place where steps meet real databases, stores and clients.

`open_house(settings)` gives a `House`: every step as a method. Nothing is opened before it is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any

from shelfsync import metrics
from shelfsync.clock import Clock, SystemClock
from shelfsync.errors import PartlyFailedError, PassedOverError, ShelfsyncError
from shelfsync.flow.house import Parts

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from partner_api import PartnerClient
    from shelfsync.erp.source import ErpSource
    from shelfsync.explain.event import Explanation
    from shelfsync.flow.desk import HoldDesk
    from shelfsync.flow.orders.desk import OrderDesk
    from shelfsync.flow.promotions.steps import Promotions
    from shelfsync.inbox.desk import InboxDesk
    from shelfsync.settings import Settings

STEPS = ("normalise", "diff", "guard", "batch", "deliver", "confirm", "acknowledge")
"""The steps that work on some vendors of a run, in order."""

EXPORT_STEPS = ("export", "observe", "reconcile")
"""The steps that work on some vendors of an export run, in order; between the first two somebody waits."""


class House:
    """The steps of the path over real parts. Thread-safe: what it holds is made once."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @property
    def orders(self) -> OrderDesk:
        """The steps of the orders' way."""
        from shelfsync.flow.orders.desk import OrderDesk

        return OrderDesk(self.parts)

    def check(self, vendors: tuple[str, ...] = (), *, fresh: bool = True) -> None:
        """Finds what is wrong with the configuration before anything is sent."""
        from shelfsync.flow.check import check

        check(self.parts, vendors, fresh=fresh)

    def warnings(self) -> list[str]:
        """What is configured so that something will not work later."""
        from shelfsync.flow.check import warnings
        from shelfsync.warehouse import set_aside

        with self.parts.engine.connect() as connection:
            return [*warnings(self.parts.settings), *set_aside.lines(set_aside.of_last(connection))]

    def open_run(
        self, kind: str, key: str, vendors: tuple[str, ...] = (), *, skus: tuple[str, ...] = (), dry_run: bool = False
    ) -> int:
        """The number of the run of this key. `skus`: of the named vendors these alone, at once."""
        from shelfsync.flow.run import open_run

        return open_run(self.parts, kind=kind, key=key, vendors=vendors, skus=skus, dry_run=dry_run)

    def extract(self, run_id: int) -> list[dict[str, Any]]:
        """Reads the ERP; returns the shards."""
        from shelfsync.flow.extract import extract
        from shelfsync.ledger import life

        with life.at_work(self.parts.engine, run_id):
            return extract(self.parts, run_id)

    def step(self, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
        """One of STEPS over some vendors; returns `{"step", "done", "skipped", "failed"}`."""
        if word not in STEPS:
            raise ShelfsyncError(f"there is no step {word!r}; the steps are {', '.join(STEPS)}")
        import importlib

        from shelfsync.ledger import life

        module = importlib.import_module(f"shelfsync.flow.{word}")
        with life.at_work(self.parts.engine, run_id):
            report: dict[str, Any] = getattr(module, word)(self.parts, run_id, list(vendors)).as_dict()
        return report

    def clear_the_way(self, vendors: tuple[str, ...]) -> list[str]:
        """Before an urgent run: waits until no job of these vendors is open, so that it is not passed over; those still open."""
        from shelfsync.flow.urgent import clear_the_way

        return asyncio.run(clear_the_way(self.parts, vendors))

    def wait(self, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
        """Waits until the platform has ended the open jobs of these vendors, or one after which more is to be sent."""
        from shelfsync.flow.wait import until_settled

        return asyncio.run(until_settled(self.parts, run_id, vendors, for_all=False))

    def in_flight(self, run_id: int) -> list[str]:
        """Vendors of this run whose job is with the platform."""
        from shelfsync.ledger import jobs

        with self.parts.engine.connect() as connection:
            return [job.vendor for job in jobs.open_jobs(connection, run_id=run_id)]

    def report(self, run_id: int) -> dict[str, Any]:
        """Closes the run and tells of it."""
        from shelfsync.flow.run import report

        return report(self.parts, run_id)

    def plan(self, run_id: int) -> dict[str, Any]:
        """The plan of a dry run that has come as far as the batches, as a document for `apply`."""
        from shelfsync.flow.plan import plan_of

        return plan_of(self.parts, run_id)

    def apply(self, plan: dict[str, Any], run_id: int, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
        """Sends exactly what a plan says, in an open run; PlanMovedError says what has moved since."""
        from shelfsync.flow.apply import apply
        from shelfsync.ledger import life

        with life.at_work(self.parts.engine, run_id, whole=True):
            return apply(self.parts, self, plan, run_id, tell)

    def sync(self, run_id: int, *, dry_run: bool, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
        """The whole path of an open run, in this process."""
        from shelfsync.flow.sync import sync
        from shelfsync.ledger import life

        with life.at_work(self.parts.engine, run_id, whole=True):
            return sync(self, run_id, dry_run=dry_run, tell=tell)

    def plan_exports(self, key: str, vendors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """Opens an export run; returns its shards."""
        from shelfsync.flow.export import plan_exports

        return plan_exports(self.parts, key, vendors)

    def export_step(self, word: str, key: str, vendors: Iterable[str]) -> dict[str, Any]:
        """One of EXPORT_STEPS over some vendors; returns `{"step", "done", "skipped", "failed"}`."""
        if word not in EXPORT_STEPS:
            raise ShelfsyncError(f"there is no step {word!r}; the steps are {', '.join(EXPORT_STEPS)}")
        import importlib

        module = importlib.import_module(f"shelfsync.flow.{word}")
        report: dict[str, Any] = getattr(module, word)(self.parts, key, list(vendors)).as_dict()
        return report

    def wait_exports(self, key: str, vendors: Iterable[str]) -> dict[str, Any]:
        """Waits until the platform has ended the exports of these vendors."""
        from shelfsync.flow.hear_export import until_exported

        return asyncio.run(until_exported(self.parts, key, vendors))

    def report_exports(self, key: str) -> dict[str, Any]:
        """What came of an export run."""
        from shelfsync.flow.export_report import report_exports

        return report_exports(self.parts, key)

    def export(self, key: str, vendors: tuple[str, ...], *, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
        """A whole export run in this process."""
        from shelfsync.flow.export_report import export_all

        return export_all(self, key, vendors, tell=tell)

    def write_duckdb(self, file: Path) -> dict[str, int]:
        """The warehouse as one DuckDB file; rows by table."""
        from shelfsync.flow.counts import counts
        from shelfsync.warehouse.duck import write

        counts(self.parts)
        return write(self.parts.engine, self.parts.lake, file)

    def status(self) -> dict[str, Any]:
        """Where every vendor stands."""
        from shelfsync.flow.status import status

        return status(self.parts)

    def pause(self, scope: str, vendor: str | None, *, why: str, who: str, anyway: bool = False) -> dict[str, Any]:
        """Stops sending to everything, this chain or one vendor, within one request."""
        from shelfsync.flow.pause import pause

        return pause(self.parts, scope, vendor, why=why, who=who, anyway=anyway)

    def resume(self, scope: str, vendor: str | None, *, why: str, who: str) -> dict[str, Any]:
        """Lets it go on."""
        from shelfsync.flow.pause import resume

        return resume(self.parts, scope, vendor, why=why, who=who)

    def restore(self, vendor: str, **order: Any) -> dict[str, Any]:
        """Makes a past acknowledged state the wanted one for a time; the arguments are those of `flow.restore.restore`."""
        from shelfsync.flow.restore import restore

        return restore(self.parts, vendor, **order)

    def end_restoration(self, vendor: str, *, who: str) -> dict[str, Any]:
        """The ERP counts again for this vendor."""
        from shelfsync.flow.restore import end

        return end(self.parts, vendor, who=who)

    def keep_house(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Removes what is older than its retention and needed by nothing."""
        from shelfsync.housekeeping.keep_house import keep_house

        return keep_house(self.parts, dry_run=dry_run)

    def explain(self, vendor: str, sku: str, *, at: dt.datetime | None = None) -> Explanation:
        """Why the platform shows what it shows for one SKU."""
        from shelfsync.explain.explain import explain

        return explain(self.parts, vendor, sku, at=at)

    def switches(self) -> dict[str, Any]:
        """`{"paused": [...], "turns": [...]}`: what is stopped, and the last turns of every switch."""
        from shelfsync.ledger import switches

        with self.parts.engine.connect() as connection:
            stops = [str(stop) for stop in switches.stops(connection)]
            return {"paused": stops, "turns": switches.history(connection)}

    def paused(self) -> list[str]:
        """Who stopped what and why, one line a switch; for whoever wonders why nothing goes."""
        from shelfsync.ledger import switches

        with self.parts.engine.connect() as connection:
            return [str(stop) for stop in switches.stops(connection)]

    @property
    def inbox(self) -> InboxDesk:
        """Where a person looks at webhook events and has some read again."""
        from shelfsync.inbox.desk import InboxDesk

        return InboxDesk(self.parts.engine)

    @property
    def holds(self) -> HoldDesk:
        """Where what the guards hold is decided."""
        from shelfsync.flow.desk import HoldDesk

        return HoldDesk(self.parts, self)

    def rejections(self, vendor: str | None, release: Iterable[str]) -> dict[str, Any]:
        """What the platform refuses; lets some SKUs of the vendor go first."""
        from shelfsync.flow.rejected import listed

        return listed(self.parts, vendor, list(release))

    def settle(self) -> dict[str, Any]:
        """Finishes what events, tasks and processes lost."""
        from shelfsync.flow.settle import settle

        return settle(self.parts)

    @property
    def promotions(self) -> Promotions:
        """The steps of the promotions' path."""
        from shelfsync.flow.promotions.steps import Promotions

        return Promotions(self.parts)


def failed_line(summary: dict[str, Any]) -> ShelfsyncError | None:
    """The error that a run's report stands for, or None."""
    if summary["state"] == "succeeded":
        return None
    return (PassedOverError if summary["state"] == "partly" else PartlyFailedError)(str(summary["error"]))


@contextlib.contextmanager
def open_house(settings: Settings, *, clock: Clock | None = None, read_only: bool = False) -> Iterator[House]:
    """A house for as long as the block lasts. Without a database address, an embedded server runs for as long.

    `read_only`: its client lets no request out that would change the platform, whoever asks.
    """
    if settings.metrics.statsd is not None and not metrics.listened_to():
        metrics.use(metrics.Statsd(settings.metrics.statsd, settings.metrics.prefix))
    with contextlib.ExitStack() as stack:
        if settings.database_url is None:
            from shelfsync.stack.postgres import running_postgres

            address = stack.enter_context(running_postgres(settings.home.absolute()))
        else:
            address = settings.database_url.get_secret_value()
        from shelfsync.ledger.engine import check, create_engine
        from shelfsync.migrations import upgrade

        engine = create_engine(address)
        stack.callback(engine.dispose)
        check(engine)
        upgrade(engine)
        parts = assemble(settings, engine, clock=clock or SystemClock(), closing=stack, read_only=read_only)
        yield House(parts)


def assemble(
    settings: Settings, engine: Engine, *, clock: Clock, closing: contextlib.ExitStack, read_only: bool = False
) -> Parts:
    """Parts over an engine; the client is made at its first use and closed with `closing`."""
    from shelfsync.lake.store import Lake

    lock = threading.Lock()

    @functools.cache
    def made() -> PartnerClient:
        from shelfsync import platform

        client = platform.open_platform(settings, engine, clock, read_only=read_only)
        closing.callback(client.close)
        return client

    def open_platform() -> PartnerClient:
        with lock:
            return made()

    return Parts(
        settings=settings,
        engine=engine,
        lake=Lake(settings.lake),
        clock=clock,
        open_erp=functools.partial(_open_erp, settings),
        open_platform=open_platform,
    )


_shared: list[tuple[Settings, House]] = []
_shared_lock = threading.Lock()


def shared_house(settings: Settings) -> House:
    """One house for all triggers of a process, made at first use and kept: a wait must not cost a connection pool."""
    with _shared_lock:
        for known, house in _shared:
            if known == settings:
                return house
        house = contextlib.ExitStack().enter_context(open_house(settings))
        _shared.append((settings, house))
        return house


async def until_settled(
    settings: Settings, run_id: int, vendors: Iterable[str], *, for_all: bool = True
) -> dict[str, Any]:
    """The wait of `flow.wait`, for an event loop that runs many of them."""
    from shelfsync.flow.wait import until_settled as wait

    house = await asyncio.to_thread(shared_house, settings)
    return await wait(house.parts, run_id, vendors, for_all=for_all)


async def until_exported(settings: Settings, run_key: str, vendors: Iterable[str]) -> dict[str, Any]:
    """The wait of `flow.hear_export`, for an event loop that runs many of them."""
    from shelfsync.flow.hear_export import until_exported as wait

    house = await asyncio.to_thread(shared_house, settings)
    return await wait(house.parts, run_key, vendors)


async def until_promotions_settled(settings: Settings, run_id: int) -> dict[str, Any]:
    """The wait of `flow.promotions.wait`, for an event loop that runs many of them."""
    from shelfsync.flow.promotions.wait import until_settled as wait

    house = await asyncio.to_thread(shared_house, settings)
    return await wait(house.parts, run_id)


async def order_news(settings: Settings) -> AsyncIterator[int]:
    """The news of `flow.orders.news`, for an event loop that runs many waits."""
    from shelfsync.flow.orders.news import news

    house = await asyncio.to_thread(shared_house, settings)
    async for waiting in news(house.parts):
        yield waiting


def _open_erp(settings: Settings) -> ErpSource:
    from shelfsync.erp.source import open_source

    return open_source(settings.erp)
