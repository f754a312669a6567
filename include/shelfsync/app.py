"""The one place where steps meet real databases, stores and clients.

`open_app(settings)` gives a `Context`, which every step takes as its first argument. Nothing is opened before it is used.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING

from partner_api.session import Clock, SystemClock
from shelfsync import display, hold_subjects, metrics
from shelfsync.chains import chain_names
from shelfsync.context import Context
from shelfsync.databases import databases, is_there
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.inbox.events import subscribed
from shelfsync.job_kinds import CATALOG, EXPORT, PROMOTION
from shelfsync.migrations.upgrade import has_revision, is_current, upgrade
from shelfsync.missing_database import open_ready
from shelfsync.platform import client as platform
from shelfsync.required_chain import require_chain
from shelfsync.store.database_owner import claim, require_owner
from shelfsync.store.engine import create_engine, is_missing_beside, libpq_url
from shelfsync.store.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from partner_api import PartnerClient
    from shelfsync.erp.extract import ErpSource
    from shelfsync.settings import Settings


@contextlib.contextmanager
def open_app(
    settings: Settings,
    *,
    clock: Clock | None = None,
    read_only: bool = False,
    migrate: bool = True,
    begins: bool = False,
) -> Iterator[Context]:
    """A context for as long as the block lasts. Without a database address, an embedded server runs for as long.

    `read_only`: its client sends no request that changes the platform. `migrate=False`: a database of another version is an error.
    `begins`: a person begins, so a database that is not there is created; for everything else that is a ConfigurationError.
    So it is if the installation has chains and the settings are those of none.
    """
    require_chain(settings.chain, chain_names())
    creates = begins and migrate
    if not metrics.listened_to() and (sinks := settings.metrics.sinks(settings.chain)):
        metrics.use(metrics.Several(*sinks))
    with contextlib.ExitStack() as stack:
        own, shared = stack.enter_context(databases(settings, create=creates))
        ready = upgrade if migrate else _require_current
        engine = open_ready(own, stack, ready, chain=settings.place_of_its_own, create=creates)
        if settings.chain is not None:
            claim(engine, settings.chain)
        limits = engine if shared == own or not migrate else open_ready(shared, stack, upgrade)
        yield assemble(
            settings, engine, limits=limits, clock=clock or SystemClock(), closing=stack, read_only=read_only
        )


@contextlib.contextmanager
def open_database(settings: Settings) -> Iterator[tuple[Engine, Lake]]:
    """Database and lake as they are, also those of another version: nothing is migrated, and no embedded database is created."""
    require_chain(settings.chain, chain_names())
    with databases(settings) as (own, _), contextlib.ExitStack() as stack:
        engine = create_engine(own)
        stack.callback(engine.dispose)
        yield engine, Lake(settings.lake)


@contextlib.contextmanager
def open_for_dry_run(settings: Settings) -> Iterator[tuple[Engine | None, Lake]]:
    """The same with tables of this version. No engine: there is no database, or none of shelfsync's tables is in it. Nothing is created.

    A ConfigurationError if the tables are of another version, or the database is another chain's.
    """
    require_chain(settings.chain, chain_names())
    if not is_there(settings):
        yield None, Lake(settings.lake)
        return
    with open_database(settings) as (engine, lake):
        try:
            has_tables = has_revision(engine)
        except ShelfsyncError:
            chain = settings.place_of_its_own
            if chain is None or not is_missing_beside(engine.url, chain):
                raise
            has_tables = False
        if has_tables:
            _require_current(engine)
            if settings.chain is not None:
                require_owner(engine, settings.chain)
        yield engine if has_tables else None, lake


def _require_current(engine: Engine) -> None:
    """A ConfigurationError if the database is not of this version already."""
    if not is_current(engine):
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            "the tables in this database are not those of this version, and a process that only reads changes none",
            "Run `shelfsync check` with this version first.",
        )


def assemble(
    settings: Settings,
    engine: Engine,
    *,
    clock: Clock,
    closing: contextlib.ExitStack,
    limits: Engine | None = None,
    read_only: bool = False,
) -> Context:
    """A context over an engine; the client is made at its first use and closed with `closing`. `limits`: where requests are counted."""
    limits = limits or engine
    closing.enter_context(display.used(display.Display.of(settings.time_zone, settings.currency)))
    lock = threading.Lock()

    @functools.cache
    def made() -> PartnerClient:
        client = platform.open_platform(settings, engine, limits, clock, read_only=read_only)
        closing.callback(client.close)
        return client

    def open_platform() -> PartnerClient:
        with lock:
            return made()

    return Context(
        settings=settings,
        engine=engine,
        limits=limits,
        lake=Lake(settings.lake),
        clock=clock,
        open_erp=functools.partial(_open_erp, settings),
        open_platform=open_platform,
        subscribed=functools.partial(subscribed, libpq_url(engine)),
        kinds={kind.kind: kind for kind in (CATALOG, EXPORT, PROMOTION)},
        subjects={one.subject: one for one in (hold_subjects.CATALOG, hold_subjects.PROMOTIONS)},
    )


_shared: list[tuple[Settings, Context]] = []
_shared_lock = threading.Lock()


def shared_context(settings: Settings) -> Context:
    """One context for all triggers of a process, made at first use and kept: a wait must not cost a connection pool."""
    with _shared_lock:
        for known, context in _shared:
            if known == settings:
                return context
        context = contextlib.ExitStack().enter_context(open_app(settings))
        _shared.append((settings, context))
        return context


def _open_erp(settings: Settings) -> ErpSource:
    return open_source(settings.erp)
