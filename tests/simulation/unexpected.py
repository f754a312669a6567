"""An error with a traceback in the log is a bug, although the vendor's failure is recorded and the others go on."""

from __future__ import annotations

import logging

from partner_api.errors import PartnerError
from shelfsync.errors import ShelfsyncError
from simulation.broken import Broken


class UnexpectedErrors(logging.Handler):
    """Catches the first error that shelfsync logs with its traceback and has no name of its own for."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and self.first is None and not isinstance(error, ShelfsyncError | PartnerError):
            self.first = record

    def check(self) -> None:
        """Raises Broken if there was one."""
        if self.first is not None and self.first.exc_info:
            error = self.first.exc_info[1]
            raise Broken("unexpected error", f"{self.first.getMessage()}: {type(error).__name__}: {error}") from error
