"""The chain that a process or a block works for.

This is below everything else, so that an error knows its chain where it is made.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PREFIX = "SHELFSYNC_CHAINS__"
MARK = "__"
"""It stands between a name and the chain."""
_chosen: ContextVar[str | None] = ContextVar("chain", default=None)


def choose(name: str | None) -> None:
    """Makes this the chain of all settings that are read from now on; None: the one that SHELFSYNC_CHAIN names, if any."""
    _chosen.set(name)


@contextmanager
def chosen(name: str | None) -> Iterator[None]:
    """The same for as long as the block lasts."""
    before = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(before)


def chain_in_use() -> str | None:
    """The chosen chain, or the one that SHELFSYNC_CHAIN names."""
    return _chosen.get() or os.environ.get("SHELFSYNC_CHAIN") or None


def variables_of(name: str) -> str:
    """How the variables of one chain begin."""
    return f"{PREFIX}{name.upper()}__"


_alone: list[Callable[[], str | None]] = []


def find_alone_by(found: Callable[[], str | None]) -> None:
    """What tells the chain that was alone. The settings file does, and this is below what reads it."""
    _alone[:] = [found]


def keeps_names(chain: str | None) -> bool:
    """Whether its DAGs, connections and assets have no chain in their names: the only chain's, and the one's that was alone."""
    return chain is None or any(chain == found() for found in _alone)


def of_chain(name: str, chain: str | None) -> str:
    """What a chain's own DAG, connection or asset is called; the name alone in an installation without chains, and for the chain that was alone."""
    return name if keeps_names(chain) else f"{name}{MARK}{chain}"
