"""The control plane under /_sandbox: without authentication, from this machine only unless --expose-control is given."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection, Integer, cast, func, select

from partner_sandbox.access.callers import TheSandbox
from partner_sandbox.access.tables import chain, vendor
from partner_sandbox.behaviour import Behaviour, behaviour_of
from partner_sandbox.catalog.tables import product
from partner_sandbox.errors import ApiError, invalid
from partner_sandbox.faults.rules import RuleSet
from partner_sandbox.jobs.jobs import job
from partner_sandbox.orders.store import orders
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.webhooks.notices import delivery, webhook


def overview(sandbox: Sandbox) -> dict[str, Any]:
    """The answer of GET /_sandbox/state."""
    with sandbox.storage.begin() as connection:
        chains = [_chain(connection, row.chain) for row in connection.execute(select(chain).order_by(chain.c.chain))]
        return {
            "now": sandbox.clock.now_iso(),
            "clock": "virtual" if sandbox.clock.virtual else "real",
            "dialect": sandbox.behaviour.dialect,
            "storage_url": sandbox.storage_url,
            "chains": chains,
            "jobs": _counts(connection, job.c.state),
            "orders": _counts(connection, orders.c.state),
            "deliveries": _counts(connection, delivery.c.state),
            "max_requests_in_60s": sandbox.journal.max_requests_in_60s,
        }


def _chain(connection: Connection, name: str) -> dict[str, Any]:
    hook = connection.execute(select(webhook).where(webhook.c.chain == name)).one_or_none()
    counted = (
        select(
            vendor.c.vendor,
            vendor.c.external_partner_config_id,
            vendor.c.sales_buffer,
            func.count(product.c.id).label("products"),
            func.coalesce(func.sum(cast(product.c.active, Integer)), 0).label("active"),
        )
        .outerjoin(product, product.c.vendor_key == vendor.c.id)
        .where(vendor.c.chain == name)
        .group_by(vendor.c.id)
        .order_by(vendor.c.vendor)
    )
    return {
        "chain": name,
        "webhook": {
            "catalog_url": hook.catalog_url if hook else None,
            "order_url": hook.order_url if hook else None,
            "secret_set": bool(hook and hook.secret),
        },
        "vendors": [dict(row) for row in connection.execute(counted).mappings()],
    }


def _counts(connection: Connection, column: Any) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).group_by(column).order_by(column))
    return {name: count for name, count in rows if name != "RECEIVING"}


def on_this_machine(request: Request, sandbox: TheSandbox) -> None:
    """403 for callers from elsewhere, and for other people's pages in a browser on this machine."""
    host = request.client.host if request.client else "127.0.0.1"
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name that only a test's transport gives
        local = host == "testclient"
    if not local and not sandbox.settings.expose_control:
        raise ApiError(403, "FORBIDDEN", "The control plane answers this machine only; start with --expose-control")
    check_host(request, sandbox.settings)
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ApiError(403, "FORBIDDEN", "The control plane does not answer the pages of other sites")


def check_host(request: Request, settings: SandboxSettings) -> None:
    """403 for a host name that is not the platform's own: it may belong to another site whose name resolves to this machine."""
    try:
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        name = ""
    listening = (request.scope.get("server") or ("",))[
        0
    ]  # an address of this machine; in one process, the client's own value
    own = {"localhost", listening, *settings.control_hosts, urlsplit(settings.public_url or "").hostname} - {""}
    try:
        known = name in own or ipaddress.ip_address(name).is_loopback
    except ValueError:
        known = name.endswith(".localhost")
    if not known:
        raise ApiError(403, "FORBIDDEN", f"The control plane is not called {name!r}; start with --control-host {name}")


router = APIRouter(prefix="/_sandbox", dependencies=[Depends(on_this_machine)], include_in_schema=False)


class Advance(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seconds: float = Field(ge=0, le=10 * 366 * 86_400)


@router.post("/reset")
def reset(sandbox: TheSandbox) -> dict[str, Any]:
    """As it was when new."""
    sandbox.reset()
    return overview(sandbox)


@router.get("/state")
def read_state(sandbox: TheSandbox) -> dict[str, Any]:
    """The clock, the choices in force, and counts of everything."""
    return overview(sandbox)


@router.post("/clock/advance")
async def advance(sandbox: TheSandbox, by: Advance) -> dict[str, Any]:
    """Moves the clock; everything that falls due on the way is done before the answer."""
    await sandbox.work.advance(by.seconds)
    return {"now": sandbox.clock.now_iso()}


@router.get("/faults")
def read_faults(sandbox: TheSandbox) -> dict[str, Any]:
    """The rules in force, and every kind with a sentence."""
    return sandbox.faults.state()


@router.put("/faults")
def put_faults(sandbox: TheSandbox, rules: RuleSet) -> dict[str, Any]:
    """Replaces the rules; an empty body removes all."""
    try:
        sandbox.faults.put(rules)
    except ValueError as error:
        raise invalid("", str(error)) from None
    return sandbox.faults.state()


@router.get("/settings")
def read_settings(sandbox: TheSandbox) -> dict[str, Any]:
    """Every choice of the dialect."""
    return sandbox.behaviour.model_dump()


@router.put("/settings")
def put_settings(sandbox: TheSandbox, choices: dict[str, Any]) -> dict[str, Any]:
    """Changes some choices until the next reset; a dialect among them brings its whole set first."""
    try:
        behaviour = sandbox.behaviour
        if "dialect" in choices:
            behaviour = behaviour_of(choices["dialect"], **sandbox.settings.behaviour)
        sandbox.behaviour = Behaviour.model_validate({**behaviour.model_dump(), **choices})
    except ValidationError as error:
        first = error.errors()[0]
        raise invalid(".".join(str(part) for part in first["loc"]), first["msg"]) from None
    return sandbox.behaviour.model_dump()


@router.get("/journal")
def read_journal(sandbox: TheSandbox, after: Annotated[int, Query(ge=0)] = 0) -> dict[str, Any]:
    """Requests and webhooks in the order in which they ended."""
    return sandbox.journal.read(after)
