"""The world of one seed: ERP file, live sandbox, receiver, database, lake; and shelfsync, which may die and restart."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import random
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import fsspec
import httpx
import sqlalchemy as sa
from pydantic import SecretStr

from app_calls import Calls
from partner_api import ClientCredentials, Dialect, PartnerClient, StaticToken
from partner_sandbox.settings import SandboxSettings
from sandbox_fixture import LiveSandbox
from serving import serving
from shared_statements import SharedStatements
from shelfsync.app import assemble
from shelfsync.inbox.store import InboxStore
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.shared_token import SharedTokens
from shelfsync.receiver.endpoints import create_app
from shelfsync.receiver.server import config
from shelfsync.settings import Settings, WebhookSettings
from shelfsync.store.engine import database_url, libpq_url
from shelfsync.store.metadata import instant
from simulation.answers import Answers
from simulation.campaigns import Campaigns
from simulation.clock import START, VirtualClock, subscribed
from simulation.erp import VENDORS, Erp
from simulation.fault_point import (
    FaultPoint,
    FaultPointClock,
    FaultPointConnection,
    FaultPointLake,
    FaultPointTransport,
)
from simulation.listed import Listed
from simulation.shape import BARCODES, KNOWN_SKUS, REQUESTS_PER_MINUTE, Shape
from simulation.unexpected import UnexpectedErrors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection

SECRET = "a genuine secret"
TOKEN = "portal-token"


class Shown(NamedTuple):
    """A product as the platform has it."""

    price: Decimal
    active: bool
    max_sales_quantity: int


class VirtualInbox(InboxStore):
    """The real inbox, whose session has the virtual time, as the sessions of all other processes."""

    def __init__(self, dsn: str, clock: VirtualClock) -> None:
        super().__init__(dsn)
        self._clock = clock

    async def _insert(self, columns: list[list[object]]) -> set[str]:
        connection = await self._connected()
        await connection.execute("SELECT set_config('shelfsync.instant', %s, false)", [self._clock.now().isoformat()])
        return await super()._insert(columns)


class World:
    """Real parts, opened once a process; `reset` makes them as new for a seed."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = database_url(url)
        self.folder = folder
        self.platform = LiveSandbox(
            SandboxSettings(
                clock="virtual",
                clock_start=START,
                seed=1,
                behaviour={"requests_per_minute": REQUESTS_PER_MINUTE},
            )
        )
        self.clock = VirtualClock(self.platform.advance)
        self.chance = random.Random(0)
        self.shape = Shape()
        self.choices = self.shape.behaviour
        self.erp = Erp(folder)
        self.campaigns = Campaigns(folder)
        self.answers = Answers(self)
        self.listed = Listed(self.clock.now)
        self.unexpected = UnexpectedErrors()
        self.observer = sa.create_engine(self.url, poolclass=sa.StaticPool)
        self._reading = self.observer.execution_options(isolation_level="AUTOCOMMIT")  # one round trip instead of three
        self._idle: list[FaultPointConnection] = []
        self._statements = SharedStatements(self.observer)  # compiling is a tenth of a seed
        self._network = httpx.HTTPTransport(limits=httpx.Limits(max_keepalive_connections=0), verify=False)
        self._closing = contextlib.ExitStack()
        self._lake = "memory://simulation"

    def __enter__(self) -> Self:
        self._closing.enter_context(self.platform)
        app = create_app(VirtualInbox(libpq_url(self.observer), self.clock), WebhookSettings(secret=SecretStr(SECRET)))
        self.receiver_url = self._closing.enter_context(serving(config(app))) + "/webhook"
        self._closing.callback(self._network.close)
        self._closing.callback(self.observer.dispose)
        self._closing.callback(self._end_sessions)
        logger = logging.getLogger("shelfsync")
        logger.addHandler(self.unexpected)
        self._closing.callback(logger.removeHandler, self.unexpected)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def reset(self, seed: int, shape: Shape) -> None:
        """As if nothing had ever happened."""
        self.unexpected.first = None
        self._truncate()
        memory = fsspec.filesystem("memory")
        if memory.exists("/simulation"):
            memory.rm("/simulation", recursive=True)
        self.chance = random.Random(f"network {seed}")
        self.shape = shape
        self.clock.restart()
        self.platform.control("POST", "reset")
        self.choices = choices = shape.behaviour
        self.platform.control("PUT", "settings", choices.model_dump())
        self.platform.control("PUT", f"chains/{LiveSandbox.chain_id}", {"tokens": [TOKEN]})
        for vendor in VENDORS:
            self.platform.put_products(vendor, [_product(sku) for sku in KNOWN_SKUS[: shape.skus]])
        self.receive(shape.webhook)
        older = choices.quantity_at_buffer == "deactivates"
        by_barcode = shape.key == "barcode"
        self.erp = Erp(self.folder, coherent=older, buffer_known=shape.buffer_known, by_barcode=by_barcode)
        for file in (self.erp.file, self.erp.control):
            file.unlink(missing_ok=True)
        self.campaigns = Campaigns(self.folder, guarded=shape.campaigns_guarded)
        self.campaigns.begin()
        self.answers = Answers(self)
        self.listed = Listed(self.clock.now)

    def receive(self, up: bool) -> None:
        """Opens or closes the way of the webhook."""
        self.platform.put_webhook(catalog_url=self.receiver_url if up else None, secret=SECRET)

    def appear(self, vendor: str, sku: str) -> None:
        """The platform's people create a product."""
        shown = self.platform.products(vendor)
        if sku not in shown:
            kept = [{name: value for name, value in row.items() if name != "app"} for row in shown.values()]
            self.platform.put_products(vendor, [*kept, _product(sku)])

    @contextlib.contextmanager
    def app(self, fault_point: FaultPoint) -> Iterator[Calls]:
        """A process: what it holds in memory and its connections end with the block, however that ends."""
        with contextlib.ExitStack() as closing:
            engine = sa.create_engine(
                self.url,
                creator=lambda: self._connect(fault_point),
                pool_size=5,
                max_overflow=5,
                pool_reset_on_return="rollback",
            )
            self._statements.join(engine)
            closing.callback(engine.dispose)
            sa.event.listen(engine, "begin", self._set_instant)
            sa.event.listen(engine, "commit", _keep_instant)
            sa.event.listen(engine, "before_cursor_execute", lambda *_: fault_point.alive())
            settings = self.settings()
            clock = FaultPointClock(self.clock, fault_point)
            context = assemble(settings, engine, clock=clock, closing=closing)
            client = self._client(settings, engine, clock, fault_point)
            lake = FaultPointLake(self._lake, fault_point)
            pauses = functools.partial(subscribed, clock)
            yield Calls(dataclasses.replace(context, lake=lake, open_platform=lambda: client, subscribed=pauses))

    def settings(self) -> Settings:
        choices = self.choices
        platform: dict[str, Any] = {
            "base_url": self.platform.base_url,
            "chain": "demo-chain",
            "timeout_s": 5.0,
            "item_key": self.shape.key,
        }
        if self.shape.static_token:
            platform["token"] = TOKEN
        else:
            platform |= {"client_id": LiveSandbox.client_id, "client_secret": LiveSandbox.client_secret}
        if choices.sales_limit_name != "both":
            platform["sales_limit_name"] = choices.sales_limit_name
        if choices.link == "presigned":
            platform["download_hosts"] = (str(self.platform.storage_url).removeprefix("http://"),)
        return Settings(
            home=self.folder,
            database_url=self.url.render_as_string(hide_password=False),
            lake_url=self._lake,
            platform=platform,
            erp=self.erp.settings,
            sync={
                "downloads_at_once": 1,  # threads would make a seed another world each time
                "body_max_bytes": self.shape.body_max_bytes,
                "vendors_per_shard": 1,
                "priority_split_skus": self.shape.priority_split_skus,
            },
            promotions=self.campaigns.settings,
            suppression={"at_buffer": choices.quantity_at_buffer},
            rate_limit={"requests_per_minute": REQUESTS_PER_MINUTE, "wait_max_s": 20.0, "pause_max_s": 900.0},
        )

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """The rows of a query from outside shelfsync."""
        with self._reading.connect() as connection:
            return list(connection.execute(sa.text(statement), values).all())

    def execute(self, *statements: str) -> None:
        """Executes statements in the database from outside shelfsync."""
        with self.observer.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def shown(self, vendor: str) -> dict[str, Any]:
        """What the platform holds of a vendor, by SKU: price, active, max_sales_quantity. Without a call."""
        rows = self.platform_rows(
            "SELECT p.sku, p.price_milli, p.active, p.sales_limit FROM product AS p JOIN vendor AS v ON v.id = p.vendor_key"
            f" WHERE v.vendor = '{vendor}'"
        )
        return {row.sku: Shown(Decimal(row.price_milli) / 1000, bool(row.active), row.sales_limit) for row in rows}

    def platform_rows(self, statement: str) -> list[Any]:
        """The rows of a query on the sandbox's store."""
        with self.platform._server.sandbox.storage.begin() as connection:
            return list(connection.execute(sa.text(statement)).all())

    def fault_rules(self) -> list[dict[str, Any]]:
        """The rules in force, with how often each has struck, without a call."""
        rules: list[dict[str, Any]] = self.platform._server.sandbox.faults.state()["rules"]
        return rules

    def _client(
        self, settings: Settings, engine: sa.Engine, clock: FaultPointClock, fault_point: FaultPoint
    ) -> PartnerClient:
        """As `app` makes it, with network, time and chance of the simulation."""
        base_url, secret = self.platform.base_url, SecretStr(LiveSandbox.client_secret)
        static = StaticToken(SecretStr(TOKEN)) if self.shape.static_token else None
        chance = random.Random(self.chance.random())
        return PartnerClient(
            base_url,
            LiveSandbox.chain_id,
            static or ClientCredentials(LiveSandbox.client_id, secret),
            dialect=Dialect(body_max_bytes=settings.sync.body_max_bytes),
            timeout_s=settings.platform.timeout_s,
            gate=RateLimiter(engine, settings.rate_limit, clock, chance=chance, database_time=instant(), outage_s=0.0),
            token_store=None
            if static
            else SharedTokens(
                engine,
                clock,
                base_url=base_url,
                chain=LiveSandbox.chain_id,
                client_id=LiveSandbox.client_id,
                client_secret=secret,
            ),
            download_hosts=settings.platform.download_hosts,
            transport=FaultPointTransport(self._network, fault_point, self.clock, chance, self.listed),
            clock=clock,
            chance=chance,
            new_id=lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        )

    def _connect(self, fault_point: FaultPoint) -> FaultPointConnection:
        fault_point.alive()
        where = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        if self._idle:
            return self._idle.pop().lend(fault_point)
        connection = FaultPointConnection.connect(where, options="-c lock_timeout=10s -c statement_timeout=30s")
        connection.idle = self._idle
        return connection.lend(fault_point)

    def _end_sessions(self) -> None:
        while self._idle:
            session = self._idle.pop()
            session.idle = None
            session.close()

    def _set_instant(self, connection: Connection) -> None:
        """Sets the instant of a session whose instant is another one."""
        now = connection.info["set_instant"] = self.clock.now().isoformat()
        if now != connection.info.get("instant"):
            connection.exec_driver_sql("SELECT set_config('shelfsync.instant', %s, false)", (now,))

    def _truncate(self) -> None:
        with self.observer.begin() as connection:
            named = "SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables"
            schemas = (
                " WHERE schemaname IN ('ledger', 'inbox', 'rate_limit', 'warehouse') AND tablename <> 'alembic_version'"
            )
            tables = connection.execute(sa.text(named + schemas)).scalar_one()
            connection.execute(sa.text(f"TRUNCATE {tables} RESTART IDENTITY CASCADE"))
            connection.execute(sa.text("ALTER SEQUENCE ledger.generation RESTART"))


def _keep_instant(connection: Connection) -> None:
    """A setting of a transaction that fails is no longer in force."""
    connection.info["instant"] = connection.info["set_instant"]


def _product(sku: str) -> dict[str, Any]:
    return {
        "sku": sku,
        "barcodes": [BARCODES[sku]],
        "title": sku,
        "price": 0.5,
        "active": True,
        "max_sales_quantity": 999,
    }
