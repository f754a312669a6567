"""How each chain of an installation is, in one sentence; a chain that cannot be read stops no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync import display
from shelfsync.catalog.steps.overview import overview
from shelfsync.secret_mask import mask
from shelfsync.store.engine import reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.context import Context


@dataclass(frozen=True)
class ChainState:
    """`sentence`: how the chain is, or why it cannot be read."""

    chain: str
    sentence: str
    readable: bool


def state_of(chain: str, opened: Callable[[], Context]) -> ChainState:
    """The first sentence of the chain's overview."""
    try:
        context = opened()
        settings = context.settings
        with display.during(display.Display.of(settings.time_zone, settings.currency)):
            return ChainState(chain, str(overview(context)["sentence"]), readable=True)
    except Exception as error:  # noqa: BLE001  whatever it is, the other chains are shown
        return ChainState(chain, f"It cannot be read: {mask(reason(error))}", readable=False)
