"""The whole stack on this machine: database, Airflow, webhook receiver and, as an option, the sandbox. One at a time in a state folder."""

from __future__ import annotations

import functools
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shelfsync.errors import ShelfsyncError
from shelfsync.local import airflow_home
from shelfsync.local.file_lock import FileLock
from shelfsync.local.init import ensure_database
from shelfsync.local.ports import PortClaims, remember_port, remembered_port
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.local.processes import Processes, held, unwinding
from shelfsync.local.services import (
    API_PORT,
    INIT,
    RECEIVER_PORT,
    SANDBOX,
    SANDBOX_PORT,
    STAYING,
    Addresses,
    answers,
    merged,
    overruled,
    report,
    services,
    stand_in,
    unhealthy_parts,
)
from shelfsync.local.state_folder import kept_secret, write_whole
from shelfsync.local.supervisor import SILENT_S, ServiceFailedError, Supervisor
from shelfsync.settings_file import local_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shelfsync.local.services import Service
    from shelfsync.local.state_folder import Place

AIRFLOW_DATABASE = "airflow"
INIT_TIMEOUT_S = READY_TIMEOUT_S = 600.0
"""For a service that does not end and does not answer: a machine with other work needs minutes."""
ENDS_MAX = 2
"""During the start, a service may fail this often before the start fails."""


@dataclass(frozen=True)
class StackOptions:
    """The options of a stack. `settings` returns shelfsync's own variables once the addresses are known."""

    what: str
    settings: Callable[[Addresses, EmbeddedPostgres], dict[str, str]]
    environment: dict[str, str] = field(repr=False)
    """The environment that the processes inherit, before the table's variables."""
    sandbox: bool
    sends_to: str | None = None
    """The platform, as a person knows it; None: the stack has none."""
    stand_ins: tuple[str, ...] = ()
    unused: list[str] = field(default_factory=list)
    """The names of the user's variables that they do not inherit."""
    database_url: str | None = field(default=None, repr=False)
    webhook_secret: str | None = field(default=None, repr=False)
    """Unset: a secret that is created once."""
    first_receiver_port: int = RECEIVER_PORT
    silent_s: float = SILENT_S
    """How long a component of Airflow that runs may send no heartbeat before it is killed and started again."""


@dataclass(frozen=True)
class RunningStack:
    """The running services and their addresses."""

    place: Place
    addresses: Addresses
    postgres: EmbeddedPostgres
    processes: Processes
    supervisor: Supervisor
    table: dict[str, Service]
    webhook_secret: str = field(repr=False)

    @property
    def admin_password(self) -> str:
        return airflow_home.admin_password(self.place.airflow)

    def wait_for(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float, log_of: str, every_s: float = 0.3
    ) -> None:
        """Polls until `condition` holds, keeping the services up; raises ServiceFailedError with the log of `log_of` after the timeout."""
        deadline_s = time.monotonic() + timeout_s
        while not condition():
            self.watch(ends_max=ENDS_MAX)
            if time.monotonic() > deadline_s:
                log = self.processes.log(log_of)
                message = f"{what}: not within {timeout_s:.0f} s. The log of {log_of}: {log}"
                raise ServiceFailedError(message, log_of, self.processes.last_lines(log_of))
            time.sleep(every_s)

    def watch(self, *, ends_max: int | None = None) -> None:
        """Checks once, and restarts the database and every service that has ended."""
        self.postgres.revive()
        self.supervisor.watch(ends_max=ends_max)

    def wait_ready(self) -> None:
        """Whether every service answers, and Airflow reports itself healthy."""
        for name in (SANDBOX, "receiver"):
            if name in self.table and (health := self.table[name].health):
                there = functools.partial(answers, health)
                self.wait_for(there, what=f"{name} to answer", timeout_s=READY_TIMEOUT_S, log_of=name)
        api = self.table["api-server"].health
        assert api
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while unhealthy := unhealthy_parts(api):
            self.watch(ends_max=ENDS_MAX)
            if time.monotonic() > deadline_s:
                log_of = unhealthy[0]
                message = f"Airflow is not ready within {READY_TIMEOUT_S:.0f} s: {', '.join(unhealthy)}. The log: {self.processes.log(log_of)}"
                raise ServiceFailedError(message, log_of, self.processes.last_lines(log_of))
            time.sleep(0.5)


@contextmanager
def running_stack(place: Place, options: StackOptions, *, echo: Callable[[str], None]) -> Iterator[RunningStack]:
    """Runs the stack during the block. Remains of a killed run are stopped first; a running stack is not disturbed."""
    place.make()
    processes = Processes(place)
    with unwinding(), _alone_here(place, options.what), PortClaims() as claims:
        stop_leftovers(processes, echo)
        postgres = EmbeddedPostgres(place.home, echo=echo)
        if options.sends_to:
            echo(f"sends to {options.sends_to}")
        echo("starting PostgreSQL")
        with postgres.in_use() as dsn:
            addresses = _addresses(place, options, dsn, postgres, claims, echo)
            webhook_secret = options.webhook_secret or kept_secret(place.secrets / "webhook", _new_secret)
            table = services(
                addresses,
                keys=airflow_home.keys(place),
                webhook_secret=webhook_secret,
                more=options.settings(addresses, postgres),
            )
            inherited = {**options.environment, **_past_proxies(options.environment)}
            tables = [service.environment for service in table.values()]
            if unused := report({*options.unused, *overruled(inherited, tables)}):
                echo(unused)
            wanted = [table[name] for name in (*STAYING, *((SANDBOX,) if options.sandbox else ()))]
            wanted += [stand_in(name, table) for name in options.stand_ins]
            supervisor = Supervisor(
                processes,
                [(service, merged(inherited, service.environment)) for service in wanted],
                echo=echo,
                silent_s=options.silent_s,
            )
            try:
                echo("preparing the databases")
                _initialise(processes, table[INIT], inherited, postgres)
                echo("starting " + ", ".join(service.name for service in wanted))
                supervisor.start()
                running = {service.name: service for service in wanted}
                yield RunningStack(place, addresses, postgres, processes, supervisor, running, webhook_secret)
            finally:
                with held(echo):
                    echo("stopping")
                    processes.stop([INIT, *(service.name for service in wanted)])


def stop_leftovers(processes: Processes, echo: Callable[[str], None]) -> None:
    """Ends the remains of an earlier, killed run. Only if no stack runs."""
    if left := processes.known():
        echo("stopping what an earlier run left: " + ", ".join(left))
        processes.stop(left, grace_s=3.0)


def living(place: Place) -> dict[str, object] | None:
    """The file of the stack that runs in this folder; None: no stack runs."""
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
    processes.start(init, merged(inherited, init.environment))
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
        error.exit_code = max(code, 1)  # 3: the configuration is wrong
        raise error


def _addresses(
    place: Place,
    options: StackOptions,
    dsn: str,
    postgres: EmbeddedPostgres,
    claims: PortClaims,
    echo: Callable[[str], None],
) -> Addresses:
    """Free ports: those of the last run if possible, else the next ones, with a message."""
    chosen: list[int] = []
    for name, first in (
        ("api-server", API_PORT),
        ("receiver", options.first_receiver_port),
        *(((SANDBOX, SANDBOX_PORT),) if options.sandbox else ()),
    ):
        file = place.run / f"{name}.port"
        wanted = remembered_port(file) or first or RECEIVER_PORT  # 0: any
        port = claims.next_free(wanted)
        if port != wanted:
            echo(f"port {wanted} is in use: {name} listens on {port}")
        remember_port(file, port)
        chosen.append(port)
    airflow_url = postgres.dsn(AIRFLOW_DATABASE).replace("postgresql://", "postgresql+psycopg2://", 1)
    ensure_database(airflow_url)
    return Addresses(
        home=str(place.home),
        project=str(place.project),
        database_url=options.database_url or dsn,
        airflow_database_url=airflow_url,
        api_port=chosen[0],
        public_url=f"http://127.0.0.1:{chosen[0]}",
        receiver_port=chosen[1],
        sandbox_port=chosen[2] if options.sandbox else SANDBOX_PORT,
    )


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """A request to this machine must not go through the machine's web proxy."""
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
                f"`{other.get('what')}` (process {other.get('pid')}) is running in {place.home}. Stop it first: {local_command('down')}"
            )
        write_whole(place.run / "stack.json", json.dumps({"what": what, "pid": os.getpid()}))
        yield
    finally:
        lock.release()
