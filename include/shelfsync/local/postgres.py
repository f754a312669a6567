"""A real PostgreSQL for one machine: started by itself out of a wheel, kept under the state folder, shared over TCP.

    with running_postgres(home) as dsn: ...      # stopped by its last user
    EmbeddedPostgres(home).ensure_started()      # stays up until .stop()

Several processes may do either at the same moment. Nothing but the loopback address can reach the server, and only with the
password in `<home>/postgres/password`.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.local import postgres_binaries, processes
from shelfsync.local.file_lock import FileLock, alone
from shelfsync.local.ports import LOOPBACK, remember_port, remembered_port
from shelfsync.local.postgres_cluster import START_TIMEOUT_S, Cluster, last_line
from shelfsync.local.state_folder import kept_secret, make_home, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.local.postgres_binaries import Binaries, OsUser

ROLE = "shelfsync"
DATABASE = "shelfsync"
FIRST_PORT = 15432
PLACES = (Path("/var/lib/shelfsync"), Path("/var/tmp/shelfsync"))  # noqa: S108  made by us, 755, and named by a hash
"""The place of data and programs if the server's OS user cannot reach the state folder."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Status:
    """What is there: `pid` and `port` are None unless the server runs."""

    running: bool
    pid: int | None
    port: int | None
    data: Path


class EmbeddedPostgres:
    """The server of the state folder `home`. `fsync=False` is for tests alone: a power cut then loses data."""

    def __init__(self, home: Path, *, fsync: bool = True, echo: Callable[[str], None] = _log.info) -> None:
        self._folder = home.absolute() / "postgres"
        self._fsync = fsync
        self._echo = echo

    def ensure_started(self) -> str:
        """The DSN of the running server, started if need be; it stays up until `stop`."""
        with self._alone(), processes.held():
            self._start()
            self._kept.touch()
        return self.dsn()

    @contextmanager
    def in_use(self) -> Iterator[str]:
        """The DSN for as long as the block runs. The last user stops the server, unless `ensure_started` started it to stay."""
        users = FileLock(self._folder / "users.lock")
        with self._alone():
            users.take(shared=True, timeout_s=START_TIMEOUT_S)
        try:
            with self._alone(), processes.held():
                self._start()
            yield self.dsn()
        finally:
            with self._alone(), processes.held():
                if users.take() and not self._kept.exists():
                    self._stop()
                users.release()

    def revive(self) -> None:
        """For a caller of `in_use`: starts the server again if it died. Cheap while it lives."""
        if not self._cluster.postmaster():
            self._echo("PostgreSQL ended: started again")
            with self._alone(), processes.held():
                self._start()

    def stop(self) -> None:
        """Ends the server cleanly, even if it is in use; nothing happens when it does not run."""
        if self._folder.is_dir():
            with self._alone(), processes.held():
                self._stop()

    def stop_if_unused(self) -> bool:
        """Stops the server, even one that was to stay, unless it is `in_use`; whether it is down now."""
        users = FileLock(self._folder / "users.lock")
        try:
            with self._alone(), processes.held():
                unused = users.take()
                if unused:
                    self._stop()
        finally:
            users.release()
        return unused

    @property
    def exists(self) -> bool:
        """Whether its data is there. Nothing is created, not even the state folder."""
        return self._cluster.data.is_dir()

    def status(self) -> Status:
        """Looks at the data folder and the process that works in it."""
        cluster = self._cluster
        at = cluster.postmaster()
        return Status(at is not None, at.pid if at else None, at.port if at else None, cluster.data)

    def dsn(self, database: str = DATABASE) -> str:
        """`postgresql://...` for a database of this server, which has to have been started once."""
        port = remembered_port(self._folder / "port")
        return f"postgresql://{ROLE}:{self._password()}@{LOOPBACK}:{port}/{database}"

    def create_database(self, name: str, *, template: str = "template0") -> str:
        """The DSN of the database `name`, made from `template` if it is not there yet. The server has to run."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if not known:
                names = sql.Identifier(name), sql.Identifier(template)
                connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self.dsn(name)

    def drop_database(self, name: str) -> None:
        """Removes a database and ends its connections."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_home(self._folder.parent)
        self._folder.mkdir(exist_ok=True)
        what = "Starting or stopping the embedded PostgreSQL"
        with alone(self._folder / "start.lock", timeout_s=START_TIMEOUT_S, what=what):
            yield

    @property
    def _kept(self) -> Path:
        """The mark of a server that stays up without users."""
        return self._folder / "kept"

    @property
    def _cluster(self) -> Cluster:
        """Data and log are in the state folder, or in the folder of its pointer file."""
        pointer = self._folder / "place"
        place = Path(pointer.read_text("utf-8").strip()) if pointer.is_file() else self._folder
        return Cluster(place, fsync=self._fsync)

    def _password(self) -> str:
        file = self._folder / "password"
        try:
            return file.read_text("ascii")
        except FileNotFoundError:
            raise ShelfsyncError(
                f"The embedded PostgreSQL's password is not in {file}: put the file back, or remove {self._folder} "
                f"and {self._cluster.data} to begin with an empty database."
            ) from None

    def _start(self) -> None:
        """The server runs when this returns. Called under the lock."""
        if self._answers():
            return
        self._kept.unlink(missing_ok=True)
        if not self._cluster.data.is_dir():
            user = postgres_binaries.choose()
            self._choose_place(user)
            binaries = postgres_binaries.within_reach(postgres_binaries.find(), user, PLACES)
            password = kept_secret(self._folder / "password", lambda: secrets.token_urlsafe(24))
            self._cluster.initialise(binaries, user, role=ROLE, password=password)
        remembered = remembered_port(self._folder / "port")
        first_port = remembered or FIRST_PORT + zlib.crc32(str(self._folder).encode()) % 1000
        port = self._cluster.start(*self._programs(), first_port=first_port)
        remember_port(self._folder / "port", port)
        if remembered not in {None, port}:
            self._echo(f"Port {remembered} is in use by something else: the embedded PostgreSQL listens on {port}.")
        self.create_database(DATABASE)

    def _stop(self) -> None:
        """Called under the lock."""
        cluster = self._cluster
        if cluster.postmaster():
            cluster.stop(*self._programs())
        self._kept.unlink(missing_ok=True)

    def _programs(self) -> tuple[Binaries, OsUser]:
        """What made the data, and whom it belongs to."""
        cluster = self._cluster
        user = postgres_binaries.of_uid(cluster.data.stat().st_uid)
        return postgres_binaries.within_reach(postgres_binaries.find(cluster.major), user, PLACES), user

    def _answers(self) -> bool:
        """Whether the server runs and accepts the login. If the server still starts (its starter was killed), the call waits."""
        import psycopg

        deadline_s = time.monotonic() + START_TIMEOUT_S
        while at := self._cluster.postmaster():
            remember_port(self._folder / "port", at.port)
            try:
                psycopg.connect(self.dsn("postgres"), connect_timeout=10).close()
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline_s or "password" in str(error):
                    why = last_line(str(error))
                    raise ShelfsyncError(
                        f"The embedded PostgreSQL (process {at.pid}, port {at.port}) rejects shelfsync: {why}"
                    ) from None
                time.sleep(0.1)
            else:
                return True
        return False

    def _choose_place(self, user: OsUser) -> None:
        """The state folder if the server's user can reach it; else a reachable folder, and a pointer to it."""
        if user.switch:
            self._folder.chmod(0o711)
        if user.reaches(self._folder):
            return
        name = hashlib.sha256(str(self._folder.resolve()).encode()).hexdigest()[:16]
        for parent in PLACES:
            place = parent / name
            try:
                postgres_binaries.own_folder(parent)
                place.mkdir(exist_ok=True)
                place.chmod(0o711)
            except OSError:
                continue
            if user.reaches(place):
                write_whole(self._folder / "place", f"{place}\n")
                self._echo(f"PostgreSQL's data is in {place}: its OS user {user.name} cannot reach {self._folder}.")
                self._rename_data()
                return
        raise ConfigurationError(
            "SHELFSYNC_HOME",
            f"the OS user {user.name}, which PostgreSQL runs as, reaches neither {self._folder} nor {', '.join(map(str, PLACES))}",
            "Name a folder that every user may step into, or a server of your own in SHELFSYNC_DATABASE_URL.",
        )

    def _rename_data(self) -> None:
        """Data of a removed state folder. The password is lost with it, so shelfsync cannot open the data."""
        cluster = self._cluster
        if cluster.data.is_dir():
            cluster.stop(*self._programs())
            kept = cluster.place / "data.kept"
            shutil.rmtree(kept, ignore_errors=True)
            cluster.data.rename(kept)
            self._echo(f"It was in use by a state folder that is gone; the data of that time is in {kept}.")


@contextmanager
def running_postgres(home: Path, *, fsync: bool = True, echo: Callable[[str], None] = _log.info) -> Iterator[str]:
    """The DSN of the state folder's server for as long as the block runs; its last user stops it."""
    with EmbeddedPostgres(home, fsync=fsync, echo=echo).in_use() as dsn:
        yield dsn
