"""The control plane under /_sandbox: without authentication, from this machine only unless --expose-control is given."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from partner_sandbox.access.callers import TheSandbox
from partner_sandbox.behaviour import Behaviour, behaviour_of
from partner_sandbox.control import state
from partner_sandbox.errors import ApiError, invalid
from partner_sandbox.faults.rules import RuleSet
from partner_sandbox.settings import SandboxSettings


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
    """403 for a name that is not ours: a page of another site whose name was made to lead here would pass as this one."""
    try:
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        name = ""
    listening = (request.scope.get("server") or ("",))[
        0
    ]  # an address of this machine; in one process, the client's own word
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
    return state.overview(sandbox)


@router.get("/state")
def read_state(sandbox: TheSandbox) -> dict[str, Any]:
    """The clock, the choices in force, and counts of everything."""
    return state.overview(sandbox)


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
    """Replaces the rules; an empty body takes all away."""
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
