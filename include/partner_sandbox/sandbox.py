"""The platform as one object: storage, clock, faults, journal, and due work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
from sqlalchemy import Connection, func, select

from partner_sandbox.access.tables import chain, client, vendor
from partner_sandbox.behaviour import Behaviour, behaviour_of
from partner_sandbox.clock import Clock
from partner_sandbox.faults.rules import Faults
from partner_sandbox.ids import Ids
from partner_sandbox.journal import Journal
from partner_sandbox.limiter import Limiter
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import Storage
from partner_sandbox.work import Work

if TYPE_CHECKING:
    from partner_sandbox.jobs.runner import Runner

STORAGE_URL = "http://storage.partner-sandbox.invalid"
"""Where presigned links lead while no server has opened the storage host."""
Seed = Callable[[Connection], None]


class Sandbox:
    """Everything that a request, a job or a person at the control plane can reach."""

    def __init__(
        self, settings: SandboxSettings, *, seed: Seed, webhook_transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.settings = settings
        self.behaviour: Behaviour = behaviour_of(settings.dialect, **settings.behaviour)
        self.clock = Clock(virtual=settings.clock == "virtual", start=settings.clock_start)
        self.ids = Ids(settings.seed)
        self.storage = Storage(settings.data)
        self.journal = Journal(self.storage)
        self.limiter = Limiter()
        self.faults = Faults()
        self.work = Work(self.clock)
        self.webhook_transport = webhook_transport
        self.storage_url = settings.storage_url or STORAGE_URL
        self.runners: dict[str, Runner] = {}
        self.close_port: Callable[[float], None] | None = None
        """Closes the server's port for some seconds; None in a process without one."""
        self._seed = seed

    def open(self) -> None:
        """Opens the storage; seeds it when it is new."""
        self.storage.open()
        with self.storage.begin() as connection:
            self._seed(connection)
        self.journal.open()

    def reset(self) -> None:
        """Restores the initial state: the seed, no assortment, no jobs, no faults, the dialect of the start."""
        self.storage.clear()
        self.clock.restart()
        self.ids.restart()
        self.limiter.clear()
        self.journal.clear()
        self.faults.clear()
        self.behaviour = behaviour_of(self.settings.dialect, **self.settings.behaviour)
        with self.storage.begin() as connection:
            self._seed(connection)
        self.work.wake()

    def close(self) -> None:
        self.storage.close()


CHAIN = "demo-chain"
VENDORS = tuple(f"store-{number:03d}" for number in range(1, 7))
SALES_BUFFER = 1
"""The default of a vendor: a product without stock goes off sale."""
CLIENT_ID = "demo-client"
CLIENT_SECRET = "demo-secret"  # noqa: S105  the sandbox's published example


def plant(connection: Connection) -> None:
    """Adds the seed to an empty database; a database that has chains is left as it is."""
    if connection.execute(select(func.count()).select_from(chain)).scalar_one():
        return
    connection.execute(chain.insert().values(chain=CHAIN, enabled=True, creation_enabled=False))
    connection.execute(client.insert().values(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, chain=CHAIN))
    for name in VENDORS:
        add_vendor(connection, CHAIN, name)


def add_vendor(connection: Connection, chain_id: str, vendor_id: str, **values: object) -> None:
    """A new vendor with the platform's defaults and, on top of them, `values`."""
    row = {
        "chain": chain_id,
        "vendor": vendor_id,
        "name": vendor_id,
        "sales_buffer": SALES_BUFFER,
        "status": "OPEN",
    }
    connection.execute(vendor.insert().values({**row, **values}))
