"""Whether a vendor is open (not in interface.md, seen in the published specification)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partner_api import answers, reading
from partner_api.errors import NotEnabledError
from partner_api.exchange import Call, judged

if TYPE_CHECKING:
    from partner_api.reading import Raw
    from partner_api.session import Session


@dataclass(frozen=True, slots=True)
class OutletStatus:
    """OPEN, CLOSED_TODAY, CLOSED_UNTIL or CHECKIN, as far as is known."""

    status: str | None
    closed_reason: str | None
    closed_until: str | None
    raw: Raw = field(repr=False)


def outlet_status(session: Session, vendor_id: str, *, priority: str = "catalog") -> OutletStatus:
    """Whether a vendor is open; the usual connection test. NotEnabledError: the dialect has no such call."""
    if not session.dialect.outlet_status_path:
        raise NotEnabledError(
            "the dialect has no path for it", operation="outlet_status", remedy="List the catalog instead"
        )
    url = session.url(session.dialect.outlet_status_path, vendor_id=vendor_id)
    call = Call("outlet_status", priority, (vendor_id,), "GET", url, safe_to_repeat=True)
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    return OutletStatus(
        reading.text(body, "status"), reading.text(body, "closed_reason"), reading.text(body, "closed_until"), body
    )
