"""The token of a request: from the store, renewed by one caller at a time (interface.md 5).

Who needs a token passes the gate first and takes the lease after it: a wait at the gate may be long, and nothing that is held meanwhile
could tell a caller that waits from one that died. Who comes through the gate too late gives its leave back.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pydantic import SecretStr

from partner_api import exchange, reading
from partner_api.errors import (
    BlockedError,
    CredentialsError,
    PartnerError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.tokens import LEASE_S, HeldToken, Lease, StaticToken, is_token
from partner_api.wire import Do, Steps

if TYPE_CHECKING:
    from partner_api.session import Session

POLL_S = 0.1
"""How often a caller looks whether another one's renewal is done."""


def can_renew(session: Session) -> bool:
    """A static token is what it is."""
    return not isinstance(session.credentials, StaticToken)


def token(session: Session, lane: str, refused: SecretStr | None = None) -> Steps[SecretStr]:
    """A token that is not the refused one. While another caller renews, one that has not yet ended is used."""
    if isinstance(session.credentials, StaticToken):
        return session.credentials.token
    if refused is not None:
        yield Do(session.tokens.discard, refused)
    attempt = 0
    while True:
        found, turn = yield from _found(session)
        if found is not None:
            return found
        try:
            renewed = yield from _renew(session, lane, turn)
        except PartnerError as error:
            attempt += 1
            pause_s = _again_s(session, error, attempt)
            if pause_s is None:
                raise
            yield Do(session.clock.sleep, pause_s)
        else:
            if renewed is not None:
                return renewed


def _found(session: Session) -> Steps[tuple[SecretStr | None, Lease | None]]:
    """A token to use now; without one this caller is to ask, with a lease while the token still lives."""
    waited_s = 0.0
    while True:
        held: HeldToken | None = yield Do(session.tokens.load)
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            return held.secret, None
        if held is not None and held.remaining_s > 0:
            turn: Lease | None = yield Do(session.tokens.lease, LEASE_S)
            return (held.secret, None) if turn is None else (None, turn)
        if not (yield Do(session.tokens.is_leased)):
            return None, None
        if waited_s > 2 * LEASE_S:
            raise UnavailableError(
                f"no token came within {2 * LEASE_S:g} s while others asked for one", operation="token"
            )
        yield Do(session.clock.sleep, POLL_S)
        waited_s += POLL_S


def is_usable(session: Session, secret: SecretStr) -> Steps[bool]:
    """Whether this token has not ended, or been replaced by a newer one, meanwhile."""
    if isinstance(session.credentials, StaticToken):
        return True
    held: HeldToken | None = yield Do(session.tokens.load)
    return held is not None and held.secret == secret and held.remaining_s > 0


def _renew(session: Session, lane: str, turn: Lease | None) -> Steps[SecretStr | None]:
    """One request for a token; None when another caller is asking by the time the gate lets this one through.

    `turn`: a lease taken before the gate, while the token still lives, so that not everybody queues there for the same.
    """
    lease = turn
    try:
        yield Do(session.gate.admit, "token", lane)
        lease = yield Do(session.tokens.lease, LEASE_S, turn)
        if lease is None:
            yield Do(session.gate.done, "token", lane, False)
            return None
        held: HeldToken | None = yield Do(session.tokens.load)  # another caller may have just been here
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            yield Do(session.tokens.release, lease)
            yield Do(session.gate.done, "token", lane, False)
            return held.secret
        secret, lifetime_s = yield from _request(session, lane)
    except BaseException:
        if lease is not None:
            yield Do(session.tokens.release, lease)
        raise
    yield Do(session.tokens.save, lease, secret, lifetime_s)
    return secret


def _again_s(session: Session, error: PartnerError, attempt: int) -> float | None:
    """How long to wait before the platform is asked again, at the gate and under a lease of its own; None: no more."""
    passing = isinstance(error, ThrottledError) or (isinstance(error, UnavailableError) and error.status != 408)
    if attempt >= session.attempts_max or not passing or isinstance(error, BlockedError):
        return None
    pause_s = exchange.backoff_s(session, attempt) if error.retry_after_s is None else error.retry_after_s
    return pause_s if pause_s <= session.wait_max_s else None


def _request(session: Session, lane: str) -> Steps[tuple[SecretStr, float]]:
    """A new token and the seconds it still has, counted from before it was asked for."""
    asked_at_s = session.clock.monotonic_s()
    answer = yield from exchange.judged(replace(session, attempts_max=1), _call(session, lane))
    body = reading.mapping(reading.json_or_none(answer.body))
    text = reading.text(body, "access_token", "token")
    if text is None or not is_token(text):
        raise UnexpectedAnswerError(
            "the answer holds no access_token",
            operation="token",
            status=answer.status,
            request_id=answer.request_id,
        )
    said = reading.decimal(body, "expires_in")
    longest_s = session.dialect.token_lifetime_s
    lifetime_s = min(float(said), longest_s) if said is not None and said > 0 else longest_s
    return SecretStr(text), lifetime_s - (session.clock.monotonic_s() - asked_at_s)


def _call(session: Session, lane: str) -> exchange.Call:
    credentials = session.credentials
    if isinstance(credentials, StaticToken):
        raise CredentialsError("a static token cannot be renewed", operation="token")
    fields = {
        "grant_type": "client_credentials",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret.get_secret_value(),
    }
    as_json = session.dialect.token_body == "json"  # noqa: S105  a word of the dialect
    return exchange.Call(
        operation="token",
        lane=lane,
        method="POST",
        url=session.url(session.dialect.token_path),
        body=(json.dumps(fields) if as_json else urlencode(fields)).encode(),
        headers={"Content-Type": "application/json" if as_json else "application/x-www-form-urlencoded"},
        harmless=True,
        bearer=False,
        admitted=True,
        deadline_s=LEASE_S / 2,
    )
