"""The control plane under /_sandbox: without authentication, from this machine only unless --expose-control is given."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, ValidationError
from sqlalchemy import Connection, Integer, cast, func, select, update

from partner_sandbox import answers, webhooks
from partner_sandbox.bodies import InstantUs, Known
from partner_sandbox.catalog.products import product
from partner_sandbox.contract import described
from partner_sandbox.errors import ApiError, invalid, not_found, validation_error
from partner_sandbox.faults import RuleSet
from partner_sandbox.jobs import job
from partner_sandbox.orders.store import orders
from partner_sandbox.promotions import shown
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.settings import Behaviour, SandboxSettings, behaviour_of
from partner_sandbox.tokens import client_table, token_table
from partner_sandbox.vendors import OutletStatus, add_vendor, chain_table, find_vendor, named_vendor, vendor_table

Offset = Annotated[int, Query(ge=0, le=2**31)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


def overview(sandbox: Sandbox) -> dict[str, Any]:
    """The answer of GET /_sandbox/state."""
    with sandbox.storage.begin() as connection:
        chains = [
            _chain(connection, row.chain)
            for row in connection.execute(select(chain_table).order_by(chain_table.c.chain))
        ]
        return {
            "now": sandbox.clock.now_iso(),
            "clock": "virtual" if sandbox.clock.virtual else "real",
            "dialect": sandbox.behaviour.dialect,
            "storage_url": sandbox.storage_url,
            "chains": chains,
            "jobs": _counts(connection, job.c.state),
            "orders": _counts(connection, orders.c.state),
            "deliveries": _counts(connection, webhooks.delivery.c.state),
            "max_requests_in_60s": sandbox.journal.max_requests_in_60s,
        }


def _chain(connection: Connection, name: str) -> dict[str, Any]:
    counted = (
        select(
            vendor_table.c.vendor,
            vendor_table.c.external_partner_config_id,
            vendor_table.c.sales_buffer,
            func.count(product.c.id).label("products"),
            func.coalesce(func.sum(cast(product.c.active, Integer)), 0).label("active"),
        )
        .outerjoin(product, product.c.vendor_key == vendor_table.c.id)
        .where(vendor_table.c.chain == name)
        .group_by(vendor_table.c.id)
        .order_by(vendor_table.c.vendor)
    )
    return {
        "chain": name,
        "webhook": webhooks.addresses(connection, name),
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
    # an address of this machine; in one process, the client's own value
    listening = (request.scope.get("server") or ("",))[0]
    own = {"localhost", listening, *settings.control_hosts, urlsplit(settings.public_url or "").hostname} - {""}
    try:
        known = name in own or ipaddress.ip_address(name).is_loopback
    except ValueError:
        known = name.endswith(".localhost")
    if not known:
        raise ApiError(403, "FORBIDDEN", f"The control plane is not called {name!r}; start with --control-host {name}")


router = APIRouter(
    prefix="/_sandbox", dependencies=[Depends(on_this_machine)], generate_unique_id_function=lambda route: route.name
)


class Advance(Known):
    seconds: float = Field(ge=0, le=10 * 366 * 86_400)


@router.post("/reset", **described(answers.State))
def reset(sandbox: TheSandbox) -> dict[str, Any]:
    """As it was when new."""
    sandbox.reset()
    return overview(sandbox)


@router.get("/state", **described(answers.State))
def read_state(sandbox: TheSandbox) -> dict[str, Any]:
    """The clock, the choices in force, and counts of everything."""
    return overview(sandbox)


@router.post("/clock/advance", **described(answers.Now))
async def advance(sandbox: TheSandbox, by: Advance) -> dict[str, Any]:
    """Moves the clock; everything that falls due on the way is done before the answer."""
    await sandbox.work.advance(by.seconds)
    return {"now": sandbox.clock.now_iso()}


@router.get("/faults", **described(answers.FaultState))
def read_faults(sandbox: TheSandbox) -> dict[str, Any]:
    """The rules in force, and every kind with a sentence."""
    return sandbox.faults.state()


@router.put("/faults", **described(answers.FaultState))
def put_faults(sandbox: TheSandbox, rules: RuleSet) -> dict[str, Any]:
    """Replaces the rules; an empty body removes all."""
    try:
        sandbox.faults.put(rules)
    except ValueError as error:
        raise invalid("", str(error)) from None
    return sandbox.faults.state()


@router.get("/settings", **described(Behaviour))
def read_settings(sandbox: TheSandbox) -> dict[str, Any]:
    """Every choice of the dialect."""
    return sandbox.behaviour.model_dump()


@router.put("/settings", **described(Behaviour, Behaviour))
def put_settings(sandbox: TheSandbox, choices: dict[str, Any]) -> dict[str, Any]:
    """Changes some choices until the next reset; a dialect among them brings its whole set first."""
    try:
        behaviour = sandbox.behaviour
        if isinstance(choices.get("dialect"), str):
            behaviour = behaviour_of(choices["dialect"], **sandbox.settings.behaviour)
        sandbox.behaviour = Behaviour.model_validate({**behaviour.model_dump(), **choices})
    except ValidationError as error:
        raise validation_error(error.errors()) from None
    return sandbox.behaviour.model_dump()


@router.get("/journal", **described(answers.JournalPage))
def read_journal(sandbox: TheSandbox, after: Annotated[int, Query(ge=0, lt=2**63)] = 0) -> dict[str, Any]:
    """Requests and webhooks in the order in which they ended."""
    return sandbox.journal.read(after)


Buffer = Annotated[int, Field(ge=0, lt=2**31)]


class Client(Known):
    client_id: str = Field(min_length=1)
    client_secret: str = Field(min_length=1)


class ChainBody(Known):
    """A chain; what is left out stays, or is the default for a new one."""

    enabled: bool | None = None
    creation_enabled: bool | None = None
    clients: list[Client] = Field(default_factory=list)
    tokens: list[str] = Field(default_factory=list, description="static portal tokens, valid for ever")


class VendorBody(Known):
    """A vendor; what is left out stays, or is the default for a new one."""

    name: str | None = None
    external_partner_config_id: str | None = None
    sales_buffer: Buffer | None = None
    buffer: Buffer | None = Field(None, description="the same as sales_buffer")
    status: Literal["OPEN", "CLOSED_TODAY", "CLOSED_UNTIL", "CHECKIN"] | None = None
    closed_until: InstantUs | None = Field(None, description="with the status CLOSED_UNTIL")


class WebhookBody(Known):
    catalog_url: str | None = None
    order_url: str | None = None
    secret: str | None = None


@router.put("/chains/{chain_id}", **described(answers.ChainChanged))
def put_chain(chain_id: str, sandbox: TheSandbox, body: ChainBody) -> dict[str, Any]:
    """Makes a chain or changes it; clients and static tokens are added to it."""
    given = body.model_dump(include={"enabled", "creation_enabled"}, exclude_none=True)
    with sandbox.storage.begin() as connection:
        known = connection.execute(select(chain_table).where(chain_table.c.chain == chain_id)).one_or_none()
        if known is None:
            row = {"chain": chain_id, "enabled": True, "creation_enabled": False, **given}
            connection.execute(chain_table.insert().values(row))
        elif given:
            connection.execute(update(chain_table).where(chain_table.c.chain == chain_id).values(given))
        for credentials in body.clients:
            row = {**credentials.model_dump(), "chain": chain_id}
            connection.execute(client_table.insert().prefix_with("OR REPLACE").values(row))
        for text in body.tokens:
            row = {"token": text, "chain": chain_id, "issued_us": sandbox.clock.now_us()}
            connection.execute(token_table.insert().prefix_with("OR REPLACE").values(row))
    return {"chain": chain_id, **given}


@router.put("/chains/{chain_id}/vendors/{vendor_id}", **described(answers.VendorChanged))
def put_vendor(chain_id: str, vendor_id: str, sandbox: TheSandbox, body: VendorBody | None = None) -> dict[str, Any]:
    """Makes a vendor or changes it."""
    given = body.model_dump(exclude_none=True) if body else {}
    until = given.pop("closed_until", None)
    if "status" in given:
        closed = OutletStatus.model_construct(status=given["status"], closed_reason=None, closed_until=until)
        given |= closed.closing(sandbox.clock.now_us())
    if "buffer" in given:
        given["sales_buffer"] = given.pop("buffer")
    with sandbox.storage.begin() as connection:
        _known_chain(connection, chain_id)
        if find_vendor(connection, chain_id, vendor_id) is None:
            add_vendor(connection, chain_id, vendor_id, **given)
        elif given:
            mine = (vendor_table.c.chain == chain_id, vendor_table.c.vendor == vendor_id)
            connection.execute(update(vendor_table).where(*mine).values(given))
        made = named_vendor(connection, chain_id, vendor_id)
    return {name: value for name, value in vars(made).items() if name != "key"}


@router.put("/chains/{chain_id}/webhook", **described(answers.Webhook))
def put_webhook(chain_id: str, sandbox: TheSandbox, body: WebhookBody) -> dict[str, Any]:
    """Where events go and the secret they carry; without a secret nothing is sent (interface.md 5.6)."""
    with sandbox.storage.begin() as connection:
        _known_chain(connection, chain_id)
        urls = {name: webhooks.checked(name, getattr(body, name)) for name in ("catalog_url", "order_url")}
        webhooks.configure(connection, chain_id, **urls, secret=body.secret)
        return webhooks.addresses(connection, chain_id)


def _known_chain(connection: Connection, chain_id: str) -> None:
    if connection.execute(select(chain_table).where(chain_table.c.chain == chain_id)).first() is None:
        raise not_found("Chain")


@router.get("/chains/{chain_id}/promotions", **described(answers.Promotions))
def read_promotions(chain_id: str, sandbox: TheSandbox, offset: Offset = 0, limit: Limit = 200) -> dict[str, Any]:
    """The promotions of a chain with the states that the partner portal shows (interface.md 3.4), the newest first, and their number."""
    with sandbox.storage.begin() as connection:
        rows = shown.overview(connection, chain_id, sandbox.clock.now_us(), limit, offset)
        return {"promotions": rows, "total": shown.count(connection, chain_id)}


@router.get("/chains/{chain_id}/promotions/{promotion_id}/skus", **described(answers.PromotionSkus))
def read_promotion_skus(
    chain_id: str, promotion_id: int, sandbox: TheSandbox, offset: Offset = 0, limit: Limit = 200
) -> dict[str, Any]:
    """The pairs of vendor and SKU in force of one promotion, by vendor and SKU, and their number."""
    with sandbox.storage.begin() as connection:
        found = shown.one(connection, chain_id, promotion_id, sandbox.clock.now_us())
        if found is None:
            raise not_found("Promotion")
        return {"skus": list(shown.skus(connection, promotion_id, offset, limit)), "total": found["pairs"]}
