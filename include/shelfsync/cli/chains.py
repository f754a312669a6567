"""`chains …`: the chains of this installation."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from shelfsync.cli.command import Answer, command, subgroup
from shelfsync.errors import PartlyFailedError

if TYPE_CHECKING:
    from shelfsync.context import Context

app = subgroup("The chains of this installation, where it has several.")


@command(app, "shelfsync chains list", "shelfsync chains list --json", name="list")
def list_chains() -> Answer:
    """How each chain is, in one sentence. A chain that cannot be read stops no other, nor does a name that is no chain."""
    from shelfsync.chain_states import ChainState, state_of
    from shelfsync.chains import chain_names, chain_slips

    found = [ChainState(name, str(error), readable=False) for name, error in chain_slips().items()]
    for name in chain_names():
        with contextlib.ExitStack() as stack:
            found.append(state_of(name, lambda name=name, stack=stack: _open(name, stack)))  # type: ignore[misc]
    lines = [f"{one.chain}: {one.sentence}" for one in found]
    unread = [one for one in found if not one.readable]
    error = PartlyFailedError(f"{unread[0].chain}: {unread[0].sentence}") if unread else None
    return Answer({"chains": [dataclasses.asdict(one) for one in found]}, lines or ["one chain, without a name"], error)


def _open(name: str, stack: contextlib.ExitStack) -> Context:
    from shelfsync.app import open_app
    from shelfsync.chosen_chain import chosen
    from shelfsync.settings import read_settings

    with chosen(name):
        return stack.enter_context(open_app(read_settings(), read_only=True))
