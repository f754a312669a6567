"""The house, with the settings of this process."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.wiring import House


@contextlib.contextmanager
def house(*, read_only: bool = False) -> Iterator[House]:
    """Opened for one command; `read_only`: it can change nothing on the platform."""
    from shelfsync import logs, wiring
    from shelfsync.settings import read_settings

    settings = read_settings()
    logs.configure(settings.log_format, logging.WARNING)
    with wiring.open_house(settings, read_only=read_only) as opened:
        yield opened
