"""Tokens: issued to a client, valid two hours by the platform's clock, any number of them (interface.md 5.1 to 5.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import Column, Connection, ForeignKey, Integer, Table, Text, delete, select

from partner_sandbox import bodies
from partner_sandbox.clock import SECOND_US, to_us
from partner_sandbox.errors import ApiError
from partner_sandbox.sandbox import Ids, TheSandbox
from partner_sandbox.storage import metadata

client_table = Table(
    "client",
    metadata,
    Column("client_id", Text, primary_key=True),
    Column("client_secret", Text, nullable=False),
    Column("chain", Text, ForeignKey("chain.chain"), nullable=False),
)

token_table = Table(
    "token",
    metadata,
    Column("token", Text, primary_key=True),
    Column("chain", Text, ForeignKey("chain.chain"), nullable=False),
    Column("client_id", Text, comment="null for a static token of the portal"),
    Column("issued_us", Integer, nullable=False),
    Column("expires_us", Integer, comment="null: never"),
)


def chain_of_client(connection: Connection, client_id: str, client_secret: str) -> str | None:
    """The chain of a client whose secret is right; None for a wrong pair."""
    row = connection.execute(select(client_table).where(client_table.c.client_id == client_id)).one_or_none()
    known = row.client_secret if row is not None else ""
    right = hmac.compare_digest(known.encode(), client_secret.encode()) and row is not None
    return str(row.chain) if row is not None and right else None


def issue(connection: Connection, ids: Ids, chain: str, client_id: str, now_us: int, life_s: float) -> str:
    """A new token. It has the form of a JWT, and the platform looks it up like any opaque text."""
    expires_us = now_us + to_us(life_s)
    claims = {
        "iss": "partner-sandbox",
        "sub": client_id,
        "chain": chain,
        "jti": ids.uuid(),
        "iat": now_us // SECOND_US,
        "exp": expires_us // SECOND_US,
    }
    head = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
    signature = hmac.new(ids.secret().encode(), head.encode(), hashlib.sha256).digest()
    text = f"{head}.{_base64(signature)}"
    row = {"token": text, "chain": chain, "client_id": client_id, "issued_us": now_us, "expires_us": expires_us}
    connection.execute(delete(token_table).where(token_table.c.expires_us <= now_us))
    connection.execute(token_table.insert().values(row))
    return text


def _part(value: dict[str, object]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _unauthorised() -> ApiError:
    return ApiError(401, "UNAUTHORIZED", "The token is not valid", {"WWW-Authenticate": "Bearer"}, rule="5.1")


def chain_of_token(request: Request, sandbox: TheSandbox) -> str:
    """The chain whose token came with the request; 401 for a missing, unknown or expired one."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    text = text.strip()
    if (
        scheme.lower() != "bearer"
        or not text
        or sandbox.faults.draw(request.state.operation, "token_expired", vendor=request.path_params.get("vendor_id"))
    ):
        raise _unauthorised()
    with sandbox.storage.begin() as connection:
        row = connection.execute(select(token_table).where(token_table.c.token == text)).one_or_none()
    if row is None or (row.expires_us is not None and row.expires_us <= sandbox.clock.now_us()):
        raise _unauthorised()
    return str(row.chain)


ChainOfToken = Annotated[str, Depends(chain_of_token)]

router = APIRouter()
FORM = "application/x-www-form-urlencoded"
FORM_BYTES_MAX = 64 * 1024


@router.post("/v2/oauth/token", name="token")
async def token(request: Request, sandbox: TheSandbox) -> Response:
    """Issues a token; reads a form only."""
    form = await _form(request)
    client_id = _field(form, "client_id")
    client_secret = _field(form, "client_secret")
    if _field(form, "grant_type") != "client_credentials":
        raise _error(400, "unsupported_grant_type", "grant_type must be client_credentials")
    now_us = sandbox.clock.now_us()
    wait_us = sandbox.limiter.admit(f"client {client_id}", sandbox.behaviour.token_requests_per_minute, now_us)
    if wait_us is not None:
        after = {"Retry-After": str(math.ceil(wait_us / SECOND_US))}
        problem = f"No more than {sandbox.behaviour.token_requests_per_minute} token requests a minute for a client"
        raise ApiError(429, "TOO_MANY_REQUESTS", problem, after, rule="8", choice="token_requests_per_minute")
    life_s = sandbox.behaviour.token_life_s
    with sandbox.storage.begin() as connection:
        chain = chain_of_client(connection, client_id, client_secret)
        if chain is None:
            status = sandbox.behaviour.wrong_credentials_status
            raise _error(status, "invalid_client", "client_id or client_secret is wrong", "wrong_credentials_status")
        text = issue(connection, sandbox.ids, chain, client_id, now_us, life_s)
    return JSONResponse({"access_token": text, "token_type": "Bearer", "expires_in": int(life_s)})


async def _form(request: Request) -> dict[str, list[str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await bodies.limited(request, FORM_BYTES_MAX, "token request")
    if kind != FORM:
        return {}
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}


def _field(form: dict[str, list[str]], name: str) -> str:
    value = form.get(name, [""])[0]
    if not value:  # as live, also for a JSON body
        raise ApiError(400, "invalid_request", f"{name} is required")
    return value


def _error(status: int, error: str, description: str, choice: str | None = None) -> ApiError:
    more = {"error": error, "error_description": description}
    return ApiError(status, error, description, rule="5.2", choice=choice, more=more)
