"""Compiled statements that the engines of a session share: each test has an engine of its own, and the statements are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

import shelfsync.store.engine

if TYPE_CHECKING:
    from sqlalchemy import Engine

STATEMENTS_MAX = 3000


def share(first: Engine) -> None:
    """From now on `create_engine` gives each engine the dialect of `first`, which has been connected, and one cache."""
    make = shelfsync.store.engine.make_engine
    compiled: sa.util.LRUCache[Any, Any] = sa.util.LRUCache(STATEMENTS_MAX)

    def make_engine(url: sa.URL, **options: Any) -> Engine:
        engine = make(url, **options)
        if "json_serializer" in options:
            engine.dialect = first.dialect  # a compiled statement belongs to its dialect
            engine.update_execution_options(compiled_cache=compiled)
        return engine

    shelfsync.store.engine.make_engine = make_engine
