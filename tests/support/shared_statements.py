"""Compiled statements that engines share: each test, and each process of a simulation, has an engine of its own, and the statements are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

import shelfsync.store.engine

if TYPE_CHECKING:
    from sqlalchemy import Engine

STATEMENTS_MAX = 3000


class SharedStatements:
    """The dialect of one engine, which has been connected, and one cache for all that join it."""

    def __init__(self, first: Engine) -> None:
        self._dialect = first.dialect
        self._compiled: sa.util.LRUCache[Any, Any] = sa.util.LRUCache(STATEMENTS_MAX)

    def join(self, engine: Engine) -> None:
        """From now on this engine compiles no statement that another one has compiled."""
        engine.dialect = self._dialect  # a compiled statement belongs to its dialect
        engine.update_execution_options(compiled_cache=self._compiled)


def share(first: Engine) -> None:
    """From now on all engines of `create_engine` share their statements."""
    make, statements = shelfsync.store.engine.make_engine, SharedStatements(first)

    def make_engine(url: sa.URL, **options: Any) -> Engine:
        engine = make(url, **options)
        if "json_serializer" in options:
            statements.join(engine)
        return engine

    shelfsync.store.engine.make_engine = make_engine
