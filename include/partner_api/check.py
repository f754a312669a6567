"""The connection test, and whether a vendor is open (not in interface.md, seen in the published specification). Both change nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partner_api import answers, catalog, jobs, json_values, tokens
from partner_api.errors import NotEnabledError, NotFoundError
from partner_api.exchange import Call, judged

if TYPE_CHECKING:
    from partner_api.json_values import Raw
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
        json_values.text(body, "status"),
        json_values.text(body, "closed_reason"),
        json_values.text(body, "closed_until"),
        body,
    )


NO_SUCH_JOB = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the connection test. `vendor_seen`: the platform knows the vendor; False if the test names none."""

    vendor_seen: bool
    outlet_status: str | None


def check(session: Session, vendor_id: str | None = None, *, priority: str = "catalog") -> Checked:
    """Reaches the platform, proves the credentials and, with a vendor, chain and vendor. Costs one to three requests.

    Raises CredentialsError, NotFoundError (chain or vendor), NotEnabledError or UnavailableError (not reachable).
    The outlet status is not in interface.md: if the platform lacks it, the client lists one product instead.
    """
    tokens.token(session, priority)
    if vendor_id is None:
        _prove_token(session, priority)
        return Checked(vendor_seen=False, outlet_status=None)
    if session.dialect.outlet_status_path:
        try:
            status = outlet_status(session, vendor_id, priority=priority)
        except (NotFoundError, NotEnabledError):
            pass  # perhaps only this call is unknown; the listing, which the interface defines, decides
        else:
            return Checked(vendor_seen=True, outlet_status=status.status)
    try:
        catalog.list_catalog(session, vendor_id, 1, 1, priority=priority)
    except NotFoundError as error:
        raise NotFoundError(
            f"the platform knows no vendor {vendor_id!r} of chain {session.chain_id!r}",
            operation="check",
            status=error.status,
            request_id=error.request_id,
            remedy="Check chain and vendor; they are the platform's identifiers, not the ERP's",
        ) from None
    return Checked(vendor_seen=True, outlet_status=None)


def _prove_token(session: Session, priority: str) -> None:
    """Asks the chain for a job that cannot exist: the platform answers 404 to a valid token and rejects any other."""
    if not session.dialect.job_status_path:
        return
    try:
        jobs.job_status(session, NO_SUCH_JOB, priority=priority)
    except NotFoundError:
        return
