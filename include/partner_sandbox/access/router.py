"""POST /v2/oauth/token: client id and secret for a bearer token (interface.md 5.2)."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from partner_sandbox.access import tokens
from partner_sandbox.access.callers import TheSandbox
from partner_sandbox.clock import SECOND_US
from partner_sandbox.errors import ApiError

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
        return _error(400, "unsupported_grant_type", "grant_type must be client_credentials")
    now_us = sandbox.clock.now_us()
    wait_us = sandbox.limiter.admit(f"client {client_id}", sandbox.behaviour.token_requests_per_minute, now_us)
    if wait_us is not None:
        after = {"Retry-After": str(math.ceil(wait_us / SECOND_US))}
        raise ApiError(429, "TOO_MANY_REQUESTS", "Too many token requests for this client", after)
    life_s = sandbox.behaviour.token_life_s
    with sandbox.storage.begin() as connection:
        chain = tokens.chain_of_client(connection, client_id, client_secret)
        if chain is None:
            status = sandbox.behaviour.wrong_credentials_status
            return _error(status, "invalid_client", "client_id or client_secret is wrong")
        text = tokens.issue(connection, sandbox.ids, chain, client_id, now_us, life_s)
    return JSONResponse({"access_token": text, "token_type": "Bearer", "expires_in": int(life_s)})


async def _form(request: Request) -> dict[str, list[str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_BYTES_MAX:
            raise ApiError(413, "PAYLOAD_TOO_LARGE", f"A token request has at most {FORM_BYTES_MAX} bytes")
    if kind != FORM:
        return {}
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}


def _field(form: dict[str, list[str]], name: str) -> str:
    value = form.get(name, [""])[0]
    if not value:
        raise _MissingError(name)
    return value


class _MissingError(ApiError):
    """400 as live: "client_id is required", also for a JSON body."""

    def __init__(self, name: str) -> None:
        super().__init__(400, "invalid_request", f"{name} is required")


def _error(status: int, error: str, description: str) -> Response:
    body: dict[str, Any] = {"code": error, "message": description, "error": error, "error_description": description}
    return JSONResponse(body, status_code=status)
