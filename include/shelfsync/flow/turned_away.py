"""A 403 on the request of one vendor: is it the vendor that is refused, or are we? One vendor's refusal stops no other (I10)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from partner_api.errors import CredentialsError, PartnerError
from shelfsync.errors import TryAgainError
from shelfsync.ledger import vendors

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

IN_A_ROW = 5
"""So many vendors refused one after the other, and none served before them, are no matter of one vendor: reading is let in, and sending is not."""
OTHERS_ASKED = 3
"""How many other vendors may be refused as well before it is taken to be us; one that lets us in is enough."""


class TurnedAway:
    """What a step over many vendors has seen of refusals so far."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._let_in = False
        self._served = False

    def served(self) -> None:
        """The platform took a vendor's request."""
        self._in_a_row = 0
        self._let_in = self._served = True

    def alone(self, parts: Parts, vendor: str, error: CredentialsError) -> bool:
        """Whether this vendor alone is refused; otherwise the credentials are, for all. Asks the platform about a few others.

        No token, or a new token that is refused (401), is never one vendor's matter.
        """
        if error.operation == "token" or error.status != 403:
            return False
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            if not self._served:
                return False
            self._in_a_row, self._let_in = 0, False  # what was true at the beginning is asked anew
        self._let_in = self._let_in or _others_let_us_in(parts, vendor)
        return self._let_in


def _others_let_us_in(parts: Parts, vendor: str) -> bool:
    """Whether the platform answers us about another vendor; False where there is none. What cannot be found out now is no refusal."""
    with parts.engine.connect() as connection:
        others = vendors.lately_acknowledged(connection, but=vendor, most=OTHERS_ASKED)
    for name in others:
        try:
            parts.open_platform().check(name)
        except CredentialsError as error:
            log.warning("vendor %s is refused, and so is %s: %s", vendor, name, error)
        except (PartnerError, TryAgainError) as error:
            log.warning("vendor %s is refused; whether others are cannot be found out now: %s", vendor, error)
            return True
        else:
            return True
    return False
