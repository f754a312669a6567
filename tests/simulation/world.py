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
from simulation.erp import FIRST_PRICE, VENDORS, Erp
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

OF_A_CHAIN = ("job", "vendor", "delivery")
"""Tables of the sandbox whose rows belong to a chain."""

NOTIFIED_SHARE = 0.75
"""In the other seeds no notification reaches a wait."""


@dataclasses.dataclass(frozen=True)
class Chain:
    """What a chain has for itself, by its name in the settings."""

    name: str
    at_platform: str
    client_id: str
    client_secret: str
    token: str
    webhook_secret: str
    first_price: int
    """Below the next chain's, whatever happens to a price: so a price tells whose it is."""


FIRST = Chain(
    "demo",
    LiveSandbox.chain_id,
    LiveSandbox.client_id,
    LiveSandbox.client_secret,
    "portal-token",
    "a genuine secret",
    1,
)
SECOND = Chain("north", "north-chain", "north-client", "north-secret", "north-token", "another genuine secret", 1000)


def _platform() -> LiveSandbox:
    behaviour = {"requests_per_minute": REQUESTS_PER_MINUTE}
    return LiveSandbox(SandboxSettings(clock="virtual", clock_start=START, seed=1, behaviour=behaviour))


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
        stored = await super()._insert(columns)
        self._clock.stored += 1
        return stored


class World:
    """Real parts, opened once a process; `reset` makes them as new for a seed."""

    def __init__(self, url: str, folder: Path, *, second: str | None = None, beside: World | None = None) -> None:
        """`second`: the database of another chain of the installation; `beside`: the first chain, for that other one."""
        self.url = database_url(url)
        self.folder = folder
        self.beside = beside
        self.chain = FIRST if beside is None else SECOND
        self.platform: LiveSandbox = beside.platform if beside else _platform()
        self.clock: VirtualClock = beside.clock if beside else VirtualClock(self.platform.advance)
        self.is_locked_out = False
        """Whether shelfsync has wrong credentials of this chain."""
        self.chance = random.Random(0)
        self.shape = Shape()
        self.choices = self.shape.behaviour
        self.erp = Erp(folder)
        self.campaigns = Campaigns(folder)
        self.answers = Answers(self)
        self.listed = Listed(self.clock.now)
        self.unexpected: UnexpectedErrors = beside.unexpected if beside else UnexpectedErrors()
        self.observer = sa.create_engine(self.url, poolclass=sa.StaticPool)
        self._reading = self.observer.execution_options(isolation_level="AUTOCOMMIT")  # one round trip instead of three
        self._idle: list[FaultPointConnection] = []
        self._statements = SharedStatements(self.observer)  # compiling is a tenth of a seed
        self._network = httpx.HTTPTransport(limits=httpx.Limits(max_keepalive_connections=0), verify=False)
        self._closing = contextlib.ExitStack()
        self.lake: str = "memory://simulation" if beside is None else f"{beside.lake}/{self.chain.name}"
        self.second = None if second is None else World(second, folder / SECOND.name, beside=self)
        """The other chain: the same vendor ids and SKUs, with rows, prices, credentials, database and lake of its own."""

    def __enter__(self) -> Self:
        if self.beside is None:
            self._closing.enter_context(self.platform)
            self._closing.callback(self.clock.restart)  # the waits of other tests look as often as an installation's
        secret = SecretStr(self.chain.webhook_secret)
        app = create_app(VirtualInbox(libpq_url(self.observer), self.clock), WebhookSettings(secret=secret))
        self.receiver_url = self._closing.enter_context(serving(config(app))) + "/webhook"
        self._closing.callback(self._network.close)
        self._closing.callback(self.observer.dispose)
        self._closing.callback(self._end_sessions)
        if self.second is not None:
            self.second.folder.mkdir(exist_ok=True)
            self._closing.enter_context(self.second)
        if self.beside is None:
            logger = logging.getLogger("shelfsync")
            logger.addHandler(self.unexpected)
            self._closing.callback(logger.removeHandler, self.unexpected)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def reset(self, seed: int, shape: Shape) -> None:
        """As if nothing had ever happened."""
        self._truncate()
        self.chance = random.Random(f"network {seed}")
        self.shape = shape
        self.choices = choices = shape.behaviour
        if self.beside is None:
            self._reset_what_all_share(is_notified=random.Random(f"notified {seed}").random() < NOTIFIED_SHARE)
        chain = self.chain
        self.is_locked_out = False
        client = {"client_id": chain.client_id, "client_secret": chain.client_secret}
        known = {"enabled": True, "clients": [client], "tokens": [chain.token]}
        self.platform.control("PUT", f"chains/{chain.at_platform}", known)
        for vendor in VENDORS:
            if self.beside is not None:
                self.platform.control("PUT", f"chains/{chain.at_platform}/vendors/{vendor}", {})
            self._put_products(vendor, [_product(sku) for sku in KNOWN_SKUS[: shape.skus]])
        self.receive(shape.webhook)
        older = choices.quantity_at_buffer == "deactivates"
        by_barcode = shape.key == "barcode"
        self.erp = Erp(
            self.folder,
            coherent=older,
            buffer_known=shape.buffer_known,
            by_barcode=by_barcode,
            first_price=chain.first_price,
        )
        for file in (self.erp.file, self.erp.control):
            file.unlink(missing_ok=True)
        self.campaigns = Campaigns(self.folder, guarded=shape.campaigns_guarded)
        if self.beside is None:
            self.campaigns.begin()
        self.answers = Answers(self)
        self.listed = Listed(self.clock.now)

    def _reset_what_all_share(self, *, is_notified: bool) -> None:
        self.unexpected.first = None
        memory = fsspec.filesystem("memory")
        if memory.exists("/simulation"):
            memory.rm("/simulation", recursive=True)
        self.clock.restart(is_notified=is_notified)
        self.platform.control("POST", "reset")
        self.platform.control("PUT", "settings", self.choices.model_dump())

    def receive(self, up: bool) -> None:
        """Opens or closes the way of the webhook."""
        to = {"catalog_url": self.receiver_url if up else None, "secret": self.chain.webhook_secret}
        self.platform.control("PUT", f"chains/{self.chain.at_platform}/webhook", to)

    def lose(self, kinds: tuple[str, ...]) -> int:
        """The lake loses every file of these kinds; how many that were."""
        memory, root = fsspec.filesystem("memory"), self.lake.removeprefix("memory:/")
        lost = [path for kind in kinds for path in memory.find(f"{root}/{kind}")]
        for path in lost:
            memory.rm_file(path)
        return len(lost)

    def break_chain(self, what: str) -> None:
        """From now on this chain's ERP, its credentials or its account at the platform are of no use."""
        if what == "erp":
            self.erp.file.unlink()
            self.erp.control.unlink()
        elif what == "credentials":
            self.is_locked_out = True
        else:
            self.platform.control("PUT", f"chains/{self.chain.at_platform}", {"enabled": False})

    def mend_chain(self) -> None:
        """Ends that."""
        self.erp.write()
        self.is_locked_out = False
        self.platform.control("PUT", f"chains/{self.chain.at_platform}", {"enabled": True})

    def _put_products(self, vendor: str, products: list[dict[str, Any]]) -> None:
        self.platform.put_products(vendor, products, self.chain.at_platform)

    def appear(self, vendor: str, sku: str) -> None:
        """The platform's people create a product."""
        shown = self.platform.products(vendor, self.chain.at_platform)
        if sku not in shown:
            kept = [{name: value for name, value in row.items() if name != "app"} for row in shown.values()]
            self._put_products(vendor, [*kept, _product(sku)])

    @contextlib.contextmanager
    def app(self, fault_point: FaultPoint) -> Iterator[Calls]:
        """A process: what it holds in memory and its connections end with the block, however that ends."""
        with contextlib.ExitStack() as closing:
            engine = self._engine(fault_point, closing)
            limits = engine if self.beside is None else self.beside._engine(fault_point, closing)
            settings = self.settings()
            clock = FaultPointClock(self.clock, fault_point)
            context = assemble(settings, engine, limits=limits, clock=clock, closing=closing)
            client = self._client(settings, engine, limits, clock, fault_point)
            lake = FaultPointLake(self.lake, fault_point)
            pauses = functools.partial(subscribed, clock, self.clock)
            yield Calls(dataclasses.replace(context, lake=lake, open_platform=lambda: client, subscribed=pauses))

    def _engine(self, fault_point: FaultPoint, closing: contextlib.ExitStack) -> sa.Engine:
        """Of a process, on this chain's database."""
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
        return engine

    def settings(self) -> Settings:
        choices = self.choices
        platform: dict[str, Any] = {
            "base_url": self.platform.base_url,
            "chain": self.chain.at_platform,
            "timeout_s": 5.0,
            "item_key": self.shape.key,
        }
        if self.shape.static_token:
            platform["token"] = self._token
        else:
            platform |= {"client_id": self.chain.client_id, "client_secret": self._client_secret}
        if choices.sales_limit_name != "both":
            platform["sales_limit_name"] = choices.sales_limit_name
        if choices.link == "presigned":
            platform["download_hosts"] = (str(self.platform.storage_url).removeprefix("http://"),)
        return Settings(
            chain=None if self.second is self.beside is None else self.chain.name,
            was_alone=self.beside is None,
            home=self.folder,
            database_url=self.url.render_as_string(hide_password=False),
            lake_url=self.lake,
            platform=platform,
            erp=self.erp.settings,
            sync={
                "downloads_at_once": 1,  # threads would make a seed another world each time
                "body_max_bytes": self.shape.body_max_bytes,
                "vendors_per_shard": self.shape.vendors_per_shard,
                "priority_split_skus": self.shape.priority_split_skus,
            },
            promotions=self.campaigns.settings if self.beside is None else {},
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
        """The rows of a query on the sandbox's store: of `job`, `vendor` and `delivery` only this chain's."""
        mine = ", ".join(
            f"{name} AS (SELECT * FROM main.{name} WHERE chain = '{self.chain.at_platform}')" for name in OF_A_CHAIN
        )
        with self.platform._server.sandbox.storage.begin() as connection:
            return list(connection.execute(sa.text(f"WITH {mine} {statement}")).all())

    def fault_rules(self) -> list[dict[str, Any]]:
        """The rules in force, with how often each has struck, without a call."""
        rules: list[dict[str, Any]] = self.platform._server.sandbox.faults.state()["rules"]
        return rules

    @property
    def _token(self) -> str:
        return "of-nobody" if self.is_locked_out else self.chain.token

    @property
    def _client_secret(self) -> str:
        return "of nobody" if self.is_locked_out else self.chain.client_secret

    def _client(
        self,
        settings: Settings,
        engine: sa.Engine,
        limits: sa.Engine,
        clock: FaultPointClock,
        fault_point: FaultPoint,
    ) -> PartnerClient:
        """As `app` makes it, with network, time and chance of the simulation."""
        base_url, secret = self.platform.base_url, SecretStr(self._client_secret)
        static = StaticToken(SecretStr(self._token)) if self.shape.static_token else None
        chance = random.Random(self.chance.random())
        return PartnerClient(
            base_url,
            self.chain.at_platform,
            static or ClientCredentials(self.chain.client_id, secret),
            dialect=Dialect(body_max_bytes=settings.sync.body_max_bytes),
            timeout_s=settings.platform.timeout_s,
            gate=RateLimiter(
                limits,
                settings.rate_limit,
                clock,
                chain=self.chain.name,
                chance=chance,
                database_time=instant(),
                outage_s=0.0,
            ),
            token_store=None
            if static
            else SharedTokens(
                engine,
                clock,
                base_url=base_url,
                chain=self.chain.at_platform,
                client_id=self.chain.client_id,
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
        "price": float(FIRST_PRICE),
        "active": True,
        "max_sales_quantity": 999,
    }
