"""All of it running on this machine: database, Airflow, webhook receiver and, where asked for, the sandbox. One at a time in a state folder."""

from __future__ import annotations

import functools
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shelfsync.errors import ShelfsyncError
from shelfsync.stack import airflow_home, environment, interrupts, ports
from shelfsync.stack.health import answers, sick_parts
from shelfsync.stack.heartbeats import SILENT_S, Heartbeats
from shelfsync.stack.init import ensure_database
from shelfsync.stack.lock import FileLock
from shelfsync.stack.place import kept_secret
from shelfsync.stack.postgres import EmbeddedPostgres
from shelfsync.stack.processes import Processes
from shelfsync.stack.services import (
    API_PORT,
    INIT,
    RECEIVER_PORT,
    SANDBOX,
    SANDBOX_PORT,
    STAYING,
    Addresses,
    services,
    stand_in,
)
from shelfsync.stack.supervisor import ServiceFailedError, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shelfsync.stack.place import Place
    from shelfsync.stack.services import Service

AIRFLOW_DATABASE = "airflow"
INIT_TIMEOUT_S = 300.0
READY_TIMEOUT_S = 180.0
ENDS_MAX = 2
"""While it comes up, a service may fail this often before that is the end of it."""


@dataclass(frozen=True)
class Wishes:
    """What a caller wants of a stack. `settings` gives shelfsync's own variables once the addresses are known."""

    what: str
    settings: Callable[[Addresses, EmbeddedPostgres], dict[str, str]]
    environment: dict[str, str] = field(repr=False)
    """What the processes inherit, before the table's variables."""
    sandbox: bool
    stand_ins: tuple[str, ...] = ()
    unused: list[str] = field(default_factory=list)
    """The names of the user's variables that they do not."""
    database_url: str | None = field(default=None, repr=False)
    webhook_secret: str | None = field(default=None, repr=False)
    """Unset: one that is made once."""
    first_receiver_port: int = RECEIVER_PORT
    silent_s: float = SILENT_S
    """How long a service that runs may give no sign of life before it is killed and started again."""


@dataclass(frozen=True)
class RunningStack:
    """What is up, and how it is reached."""

    place: Place
    addresses: Addresses
    postgres: EmbeddedPostgres
    processes: Processes
    supervisor: Supervisor
    heartbeats: Heartbeats
    table: dict[str, Service]
    webhook_secret: str = field(repr=False)

    @property
    def admin_password(self) -> str:
        return airflow_home.admin_password(self.place.airflow)

    def wait_for(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float, guilty: str, every_s: float = 0.3
    ) -> None:
        """Polls until `condition` holds, keeping the services up; ServiceFailedError with the log of `guilty` when it does not in time."""
        deadline_s = time.monotonic() + timeout_s
        while not condition():
            self.watch(ends_max=ENDS_MAX)
            if time.monotonic() > deadline_s:
                log = self.processes.log(guilty)
                message = f"{what}: not within {timeout_s:.0f} s. The log of {guilty}: {log}"
                raise ServiceFailedError(message, guilty, self.processes.last_lines(guilty))
            time.sleep(every_s)

    def watch(self, *, ends_max: int | None = None) -> None:
        """One look: the database and every service run again when this returns, or will soon."""
        self.postgres.revive()
        self.heartbeats.watch()
        self.supervisor.watch(ends_max=ends_max)

    def wait_ready(self) -> None:
        """Every service answers, and Airflow calls itself healthy."""
        for name in (SANDBOX, "receiver"):
            if name in self.table and (health := self.table[name].health):
                there = functools.partial(answers, health)
                self.wait_for(there, what=f"{name} to answer", timeout_s=READY_TIMEOUT_S, guilty=name)
        api = self.table["api-server"].health
        assert api
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while sick := sick_parts(api):
            self.watch(ends_max=ENDS_MAX)
            if time.monotonic() > deadline_s:
                guilty = sick[0]
                message = f"Airflow is not ready within {READY_TIMEOUT_S:.0f} s: {', '.join(sick)}. The log: {self.processes.log(guilty)}"
                raise ServiceFailedError(message, guilty, self.processes.last_lines(guilty))
            time.sleep(0.5)


@contextmanager
def running_stack(place: Place, wishes: Wishes, *, say: Callable[[str], None]) -> Iterator[RunningStack]:
    """Brings everything up for as long as the block runs. What a killed run left is stopped first; a living one is not disturbed."""
    place.make()
    processes = Processes(place)
    with interrupts.unwinding(), _alone_here(place, wishes.what), ports.Claims() as claims:
        stop_leftovers(processes, say)
        postgres = EmbeddedPostgres(place.home, say=say)
        say("starting PostgreSQL")
        with postgres.in_use() as dsn:
            addresses = _addresses(place, wishes, dsn, postgres, claims, say)
            webhook_secret = wishes.webhook_secret or kept_secret(place.secrets / "webhook", _new_secret)
            table = services(
                addresses,
                keys=airflow_home.keys(place),
                webhook_secret=webhook_secret,
                more=wishes.settings(addresses, postgres),
            )
            inherited = {**wishes.environment, **_past_proxies(wishes.environment)}
            tables = [service.environment for service in table.values()]
            if unused := environment.report({*wishes.unused, *environment.overruled(inherited, tables)}):
                say(unused)
            wanted = [table[name] for name in (*STAYING, *((SANDBOX,) if wishes.sandbox else ()))]
            wanted += [stand_in(name, table) for name in wishes.stand_ins]
            supervisor = Supervisor(
                processes,
                [(service, environment.merged(inherited, service.environment)) for service in wanted],
                say=say,
            )
            try:
                say("preparing the databases")
                _initialise(processes, table[INIT], inherited, postgres)
                say("starting " + ", ".join(service.name for service in wanted))
                supervisor.start()
                running = {service.name: service for service in wanted}
                heartbeats = Heartbeats(processes, running, silent_s=wishes.silent_s, say=say)
                yield RunningStack(
                    place, addresses, postgres, processes, supervisor, heartbeats, running, webhook_secret
                )
            finally:
                with interrupts.held(say):
                    say("stopping")
                    processes.stop([INIT, *(service.name for service in wanted)])


def stop_leftovers(processes: Processes, say: Callable[[str], None]) -> None:
    """Ends what an earlier run left because it was killed. Only where no stack is alive."""
    if left := processes.known():
        say("stopping what an earlier run left: " + ", ".join(left))
        processes.stop(left, grace_s=3.0)


def living(place: Place) -> dict[str, object] | None:
    """What the stack that is alive in this place says of itself, None when there is none."""
    lock = FileLock(place.run / "stack.lock")
    try:
        if not place.run.is_dir() or lock.take(shared=True):
            return None
    finally:
        lock.release()
    try:
        return dict(json.loads((place.run / "stack.json").read_text("utf-8")))
    except (FileNotFoundError, ValueError):
        return {"what": "another command", "pid": None}


def _initialise(processes: Processes, init: Service, inherited: Mapping[str, str], postgres: EmbeddedPostgres) -> None:
    processes.log(INIT).unlink(missing_ok=True)
    processes.start(init, environment.merged(inherited, init.environment))
    deadline_s = time.monotonic() + INIT_TIMEOUT_S
    while (code := processes.exit_code(INIT)) is None:
        postgres.revive()
        if time.monotonic() > deadline_s:
            code = -1
            break
        time.sleep(0.1)
    if code:
        how = f"ended with exit code {code}" if code > 0 else "did not end"
        message = f"Preparing the databases {how}. Its log: {processes.log(INIT)}"
        error = ServiceFailedError(message, INIT, processes.last_lines(INIT))
        error.exit_code = max(code, 1)  # 3 says that the configuration is wrong
        raise error


def _addresses(
    place: Place,
    wishes: Wishes,
    dsn: str,
    postgres: EmbeddedPostgres,
    claims: ports.Claims,
    say: Callable[[str], None],
) -> Addresses:
    """Ports that are free now: last time's where possible, else the next ones, and that is said."""
    chosen: list[int] = []
    for name, first in (
        ("api-server", API_PORT),
        ("receiver", wishes.first_receiver_port),
        *(((SANDBOX, SANDBOX_PORT),) if wishes.sandbox else ()),
    ):
        file = place.run / f"{name}.port"
        wanted = ports.remembered(file) or first
        port = claims.next_free(wanted)
        if port != wanted:
            say(f"port {wanted} is in use: {name} listens on {port}")
        ports.remember(file, port)
        chosen.append(port)
    airflow_url = postgres.dsn(AIRFLOW_DATABASE).replace("postgresql://", "postgresql+psycopg2://", 1)
    ensure_database(airflow_url)
    return Addresses(
        home=str(place.home),
        project=str(place.project),
        database_url=wishes.database_url or dsn,
        airflow_database_url=airflow_url,
        api_port=chosen[0],
        public_url=f"http://127.0.0.1:{chosen[0]}",
        receiver_port=chosen[1],
        sandbox_port=chosen[2] if wishes.sandbox else SANDBOX_PORT,
    )


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """A machine's web proxy must not be asked for what listens on the machine itself."""
    return {
        name: ",".join(filter(None, (environment.get(name), "127.0.0.1", "localhost")))
        for name in ("NO_PROXY", "no_proxy")
    }


def _new_secret() -> str:
    import secrets

    return secrets.token_urlsafe(32)


@contextmanager
def _alone_here(place: Place, what: str) -> Iterator[None]:
    lock = FileLock(place.run / "stack.lock")
    try:
        if not lock.take():
            other = living(place) or {}
            raise ShelfsyncError(
                f"`{other.get('what')}` (process {other.get('pid')}) is running in {place.home}. Stop it first: make down"
            )
        (place.run / "stack.json").write_text(json.dumps({"what": what, "pid": os.getpid()}), "utf-8")
        yield
    finally:
        lock.release()
