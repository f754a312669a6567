"""The house, with the settings of this process."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.wiring import House


@contextlib.contextmanager
def house() -> Iterator[House]:
    """Opened for one command."""
    from shelfsync import wiring
    from shelfsync.settings import read_settings

    with wiring.open_house(read_settings()) as opened:
        yield opened
