"""The connection test: it reads and changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partner_api import bearer
from partner_api.errors import NotEnabledError, NotFoundError
from partner_api.operations import catalog, jobs, outlet

if TYPE_CHECKING:
    from partner_api.session import Session
    from partner_api.wire import Steps

NO_SUCH_JOB = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Checked:
    """What the connection test saw: reaching the platform and its word on us; `vendor_seen` only when a vendor was asked about."""

    vendor_seen: bool
    outlet_status: str | None


def check(session: Session, vendor_id: str | None = None, *, lane: str = "catalog") -> Steps[Checked]:
    """Reaches the platform, proves the credentials and, with a vendor, chain and vendor. Costs one to three requests.

    CredentialsError, NotFoundError (chain or vendor), NotEnabledError, UnavailableError (not reachable) say what is wrong.
    The outlet status is not in interface.md: where it is missing, one product is listed instead.
    """
    yield from bearer.token(session, lane)
    if vendor_id is None:
        yield from _prove_token(session, lane)
        return Checked(vendor_seen=False, outlet_status=None)
    if session.dialect.outlet_status_path:
        try:
            status = yield from outlet.outlet_status(session, vendor_id, lane=lane)
        except (NotFoundError, NotEnabledError):
            pass  # perhaps only this call is unknown; the listing, which the interface promises, decides
        else:
            return Checked(vendor_seen=True, outlet_status=status.status)
    try:
        yield from catalog.list_catalog(session, vendor_id, 1, 1, lane=lane)
    except NotFoundError as error:
        raise NotFoundError(
            f"the platform knows no vendor {vendor_id!r} of chain {session.chain_id!r}",
            operation="check",
            status=error.status,
            request_id=error.request_id,
            remedy="Check chain and vendor; they are the platform's identifiers, not the ERP's",
        ) from None
    return Checked(vendor_seen=True, outlet_status=None)


def _prove_token(session: Session, lane: str) -> Steps[None]:
    """Shows the token at a chain's door: a job that cannot exist is not found by those who are let in, and refused to others."""
    if not session.dialect.job_status_path:
        return
    try:
        yield from jobs.job_status(session, NO_SUCH_JOB, lane=lane)
    except NotFoundError:
        return
