"""A command, a process and a page name their chain where the installation has several."""

from __future__ import annotations

from shelfsync.chains import meant_by
from shelfsync.errors import ConfigurationError


def require_chain(name: str | None, names: tuple[str, ...]) -> None:
    """A ConfigurationError if that is none of the chains, or if there are chains and none is named."""
    listed = ", ".join(names)
    if name is None and names:
        problem = f"this installation has the chains {listed}, and none is named"
        raise ConfigurationError("SHELFSYNC_CHAIN", problem, f"Add --chain {names[0]}.")
    if name is not None and name not in names:
        has = f"has the chains {listed}" if names else "has one chain, without a name"
        near = meant_by(name, names)
        remedy = (
            f"Add --chain {near or names[0]}."
            if names
            else "The platform's id of the chain is SHELFSYNC_PLATFORM__CHAIN."
        )
        if near is not None:
            remedy = f"Did you mean {near}? {remedy}"
        raise ConfigurationError("SHELFSYNC_CHAIN", f"there is no chain {name!r}: this installation {has}", remedy)
