"""What tests use: a real PostgreSQL, fresh migrated databases in it, and the platform to talk to."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql

import canaries
from garbage import collect_less
from memory_folder import throwaway_root
from shelfsync.chosen_chain import choose
from shelfsync.local import postgres_binaries
from shelfsync.local.file_lock import FileLock
from shelfsync.local.postgres import EmbeddedPostgres
from shelfsync.secret_mask import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

    from sandbox_fixture import LiveSandbox

EXAMPLES = int(os.environ.get("EXAMPLES", "10"))
"""Of a property: `make test` tries few, `make test-slow` 45, and `make proof` new ones each week, many more."""
# A busy machine must not fail a property; CI repeats the same examples, a local run searches for new ones.
settings.register_profile("local", deadline=None, max_examples=EXAMPLES, print_blob=True)
settings.register_profile("ci", deadline=None, max_examples=EXAMPLES, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


_ORDINARY = "not slow and not scale"
"""What `make test` runs; in a file of long tests alone, `pytestmark` marks them."""
_LONG = "(slow or scale) and not installation and not proof"
"""What scripts/test_slow.sh runs beside an installation."""
_ALL_SLOW = re.compile(r"^pytestmark = .*mark\.slow", re.MULTILINE)
_LONG_ONES = re.compile(r"mark\.(slow|scale)\b")

collect_less()
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
"""jsonschema would build its grammar of `iri` in each process, for seconds of CPU; no schema here has this format."""


def pytest_collection_finish() -> None:
    collect_less()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # a module that is not collected at the end is reported as a leak by its binding


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--postgres", type=Path, metavar="FOLDER", help="test on the PostgreSQL of this folder (bin, lib)")


def pytest_configure(config: pytest.Config) -> None:
    if root := config.getoption("--postgres"):
        found = postgres_binaries.at(root)
        if found is None:
            raise pytest.UsageError(f"--postgres: no PostgreSQL runs in {root}")
        postgres_binaries.find = lambda _major=None: found
    config.pluginmanager.register(canaries.Watch(config), "canaries")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Names a failed test at once: a run that is stopped before its end shows what failed, too."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid}", flush=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file that has no test of this run is not read: each worker reads all files, and some cost seconds."""
    run = config.option.markexpr
    if run not in {_ORDINARY, _LONG} or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text("utf-8")
    without = _ALL_SLOW.search(text) if run == _ORDINARY else not _LONG_ONES.search(text)
    return True if without else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """`--dist loadfile`, but the tests with an Airflow run in one process: its database and DAGs cost ten CPU seconds in each."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/dags" if nodeid.startswith("tests/dags/") else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # pytest_collection_modifyitems orders them
    return Scheduling(config, log) if config.option.dist == "loadfile" else None


@pytest.fixture(autouse=True)
def _no_chosen_chain() -> Iterator[None]:
    """A command that a test runs in its own process chooses a chain for the process: the next test begins without one."""
    yield
    choose(None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of the installation and the soak have a command of their own: two installations never run side by side."""
    here = Path(__file__).parent
    folders = here / "installation", here / "soak", here / "watch"
    ours = [item for item in items if any(map(item.path.is_relative_to, folders))]
    for item in ours:
        item.add_marker(pytest.mark.installation)
    # First what lasts longest, then the files with the most tests: no worker begins a file of some minutes at the end.
    longest = here / "dags", here / "simulation"
    tests = Counter(item.path for item in items)
    # One installation at a time, and test_what_ran.py looks at what all before it did: these stay as they are named.
    tests -= Counter(item.path for item in ours)
    items.sort(key=lambda item: (not any(map(item.path.is_relative_to, longest)), -tests[item.path]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """An entry point that is called or imported in the process of the tests sets the umask of all of them."""
    os.umask(_UMASK)


_UMASK = 0o022
_PREFIX = "shelfsync-test-"
_TEMPLATE = "migrated"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def reachable_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder that the OS user of PostgreSQL can step into (pytest's own are closed to others), removed at the end."""
    large = any(item.get_closest_marker(word) for item in request.session.items for word in ("slow", "scale"))
    for root in {throwaway_root(), throwaway_root(large=True)}:
        _sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=throwaway_root(large=large)))
    folder.chmod(0o711)
    in_use = FileLock(folder / "in_use")
    in_use.take()
    yield folder
    canaries.look_into(folder)
    shutil.rmtree(folder, ignore_errors=True)
    in_use.release()


@pytest.fixture(scope="session")
def postgres(reachable_folder: Path) -> Iterator[EmbeddedPostgres]:
    """One server for the whole session, stopped at its end in every case."""
    server = EmbeddedPostgres(reachable_folder / "session", fsync=False)
    server.ensure_started()
    _log_in_cheaply(server)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def migrated_template(postgres: EmbeddedPostgres) -> str:
    """The name of a database that the migrations have been run on, to be copied."""
    import shared_statements
    from shelfsync.migrations.upgrade import upgrade
    from shelfsync.store.engine import create_engine

    engine = create_engine(postgres.create_database(_TEMPLATE))
    try:
        upgrade(engine)
        shared_statements.share(engine)
    finally:
        engine.dispose()  # a template with a connection cannot be copied
    return _TEMPLATE


@pytest.fixture(scope="session")
def administration(postgres: EmbeddedPostgres) -> Iterator[psycopg.Connection]:
    """One connection that creates and drops the databases of all tests."""
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        yield connection


@pytest.fixture
def empty_database_url(postgres: EmbeddedPostgres, administration: psycopg.Connection) -> Iterator[str]:
    """The DSN of a database of this test alone, with nothing in it."""
    with _database(administration, f"empty_{os.getpid()}_{next(_numbers)}", "template0") as name:
        yield postgres.dsn(name)


@pytest.fixture(autouse=True)
def _secrets_of_this_test_alone() -> Iterator[None]:
    """The secrets that a test's settings name are masked in this test, and in no other."""
    yield
    mask.forget()


@pytest.fixture(scope="session")
def throwaway_database(
    postgres: EmbeddedPostgres, administration: psycopg.Connection, migrated_template: str
) -> Callable[..., contextlib.AbstractContextManager[str]]:
    """`throwaway_database(template)`: the DSN of a copy of this database, by default a migrated one."""

    @contextlib.contextmanager
    def made(template: str = migrated_template) -> Iterator[str]:
        with _database(administration, f"test_{os.getpid()}_{next(_numbers)}", template) as name:
            yield postgres.dsn(name)
            canaries.look_into_database(postgres.dsn(name))

    return made


@pytest.fixture
def database_url(throwaway_database: Callable[..., contextlib.AbstractContextManager[str]]) -> Iterator[str]:
    """The DSN of a migrated database of this test alone."""
    with throwaway_database() as url:
        yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on this test's database."""
    from shelfsync.store.engine import create_engine

    engine = create_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def sandbox() -> Iterator[LiveSandbox]:
    """The platform, live on a loopback port that the OS chose."""
    from sandbox_fixture import LiveSandbox

    with LiveSandbox() as live:
        yield live


@contextlib.contextmanager
def _database(administration: psycopg.Connection, name: str, template: str) -> Iterator[str]:
    """Copied file by file, which costs a third of PostgreSQL's usual way through its log."""
    administration.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    try:
        yield name
    finally:
        administration.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _log_in_cheaply(server: EmbeddedPostgres) -> None:
    """Both ends of a connection hash the password 4096 times, a dozen milliseconds of CPU for each of some thousands."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        if connection.info.server_version >= 160_000:
            connection.execute("SET scram_iterations = 1")
            role, password = sql.Identifier(connection.info.user), sql.Literal(connection.info.password)
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, password))


def _sweep(root: Path) -> None:
    """Stops and removes what an earlier session left because it was killed."""
    for folder in root.glob(f"{_PREFIX}*"):
        left = FileLock(folder / "in_use")
        try:
            if folder.stat().st_uid == os.geteuid() and left.take():
                EmbeddedPostgres(folder / "session").stop()
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            continue  # another session has just removed its own
        finally:
            left.release()
