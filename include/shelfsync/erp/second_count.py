"""The second count: the SELECT is counted again in the same snapshot, or the ERP's own count is asked, so that a row that got lost is found.

What follows if the two numbers differ is in `completeness_proof`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp import database_message
from shelfsync.erp.completeness_proof import Claim
from shelfsync.erp.single_select import bare
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from shelfsync.erp.session import Session

COUNT_SQL = "SHELFSYNC_ERP__COUNT_SQL"


def counted_again(session: Session, sql: str, own: str | None) -> Claim:
    """The number of rows of the SELECT by a second count of it, or by the `own` count. Raises what the database raises."""
    where = "in the same snapshot" if session.snapshot else "right after it, without a snapshot"
    how = f"the number that {COUNT_SQL} returns {where}" if own else f"a second count of the same SELECT {where}"
    return Claim(_rows(session.number(bare(own)) if own else session.count(sql)), how)


def check_count(session: Session, own: str | None) -> None:
    """Raises ConfigurationError if the count of one's own is no statement for one number."""
    if own is None:
        return
    try:
        names = session.columns(bare(own))
    except sa.exc.SQLAlchemyError as error:
        raise database_message.statement_error(error, session.url, COUNT_SQL, "the count") from None
    if len(names) != 1:
        raise ConfigurationError(
            COUNT_SQL, f"it returns {len(names)} columns", "Let it return one number: the true count of rows."
        )


def _rows(value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0 or number != value:
        raise ConfigurationError(
            COUNT_SQL, f"it returned {value!r}", "Let it return one whole number: the true count of rows."
        )
    return number
