"""The 403 triage: whether the platform forbids one vendor or the credentials. A forbidden vendor stops no other (I10)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from partner_api.errors import CredentialsError, PartnerError
from shelfsync.errors import TryAgainError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

log = logging.getLogger(__name__)

FORBIDDEN_IN_A_ROW = 5
"""After so many forbidden vendors in a row, with none accepted before, the credentials may read and not send."""
OTHERS_ASKED = 3
"""How many other vendors are checked. If all are forbidden, the credentials are; one that answers is enough."""


class Others(Protocol):
    """Some vendors, those first of which the platform accepted something lately."""

    def __call__(self, connection: Connection, *, most: int, but: str = "") -> list[str]: ...


class ForbiddenTriage:
    """Counts the 403s of a step over many vendors. `others`: vendors that the platform is likely to allow."""

    def __init__(self, others: Others) -> None:
        self._others = others
        self._in_a_row = 0
        self._allowed = False
        self._served = False

    def served(self) -> None:
        """Records that the platform accepted a vendor's request."""
        self._in_a_row = 0
        self._allowed = self._served = True

    def alone(self, context: Context, vendor: str, error: CredentialsError) -> bool:
        """Whether only this vendor is forbidden; otherwise the credentials are, for all. Checks a few other vendors.

        A missing token, or a new token that is rejected (401), never concerns one vendor only.
        """
        if error.operation == "token" or error.status != 403:
            return False
        self._in_a_row += 1
        if self._in_a_row >= FORBIDDEN_IN_A_ROW:
            if not self._served:
                return False
            self._in_a_row, self._allowed = 0, False  # check again: the state at the beginning may have changed
        self._allowed = self._allowed or self._others_allowed(context, vendor)
        return self._allowed

    def _others_allowed(self, context: Context, vendor: str) -> bool:
        """Whether the platform answers about another vendor; False if there is none. A check that fails otherwise counts as an answer."""
        with context.engine.connect() as connection:
            others = self._others(connection, but=vendor, most=OTHERS_ASKED)
        for name in others:
            try:
                context.open_platform().check(name)
            except CredentialsError as error:
                log.warning("vendor %s is forbidden, and so is %s: %s", vendor, name, error)
            except (PartnerError, TryAgainError) as error:
                log.warning("vendor %s is forbidden; whether others are cannot be checked now: %s", vendor, error)
                return True
            else:
                return True
        return False
