"""Tokens: issued to a client, valid two hours by the platform's clock, any number of them (interface.md 5.1 to 5.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from partner_sandbox.access.tables import client, token
from partner_sandbox.clock import SECOND_US, to_us
from partner_sandbox.ids import Ids


@dataclass(frozen=True)
class Caller:
    """The caller of a request."""

    chain: str
    client_id: str | None


def chain_of_client(connection: Connection, client_id: str, client_secret: str) -> str | None:
    """The chain of a client whose secret is right; None for a wrong pair."""
    row = connection.execute(select(client).where(client.c.client_id == client_id)).one_or_none()
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
    connection.execute(delete(token).where(token.c.expires_us <= now_us))
    connection.execute(token.insert().values(row))
    return text


def caller_of(connection: Connection, text: str, now_us: int) -> Caller | None:
    """The holder of this token; None for an unknown or expired one."""
    row = connection.execute(select(token).where(token.c.token == text)).one_or_none()
    if row is None or (row.expires_us is not None and row.expires_us <= now_us):
        return None
    return Caller(row.chain, row.client_id)


def _part(value: dict[str, object]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
