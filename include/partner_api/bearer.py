"""The token of a request: from the store, renewed by one caller at a time (interface.md 5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pydantic import SecretStr

from partner_api import exchange, reading
from partner_api.errors import CredentialsError, UnavailableError, UnexpectedAnswerError
from partner_api.tokens import LEASE_S, HeldToken, StaticToken, is_token
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
    give_up_at_s = session.clock.monotonic_s() + 2 * LEASE_S
    while True:
        held: HeldToken | None = yield Do(session.tokens.load)
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            return held.secret
        if (yield Do(session.tokens.lease, LEASE_S)):
            return (yield from _renew(session, lane))
        if held is not None and held.remaining_s > 0:
            return held.secret
        if session.clock.monotonic_s() > give_up_at_s:
            raise UnavailableError(
                f"no token came within {2 * LEASE_S:g} s while others asked for one", operation="token"
            )
        yield Do(session.clock.sleep, POLL_S)


def is_usable(session: Session, secret: SecretStr) -> Steps[bool]:
    """Whether this token has not ended, or been replaced by a newer one, meanwhile."""
    if isinstance(session.credentials, StaticToken):
        return True
    held: HeldToken | None = yield Do(session.tokens.load)
    return held is not None and held.secret == secret and held.remaining_s > 0


def _renew(session: Session, lane: str) -> Steps[SecretStr]:
    try:
        held: HeldToken | None = yield Do(session.tokens.load)  # another caller may have just been here
        if held is not None and held.is_fresh(session.dialect.token_margin_s):
            yield Do(session.tokens.release)
            return held.secret
        secret, lifetime_s = yield from _request(session, lane)
    except BaseException:
        yield Do(session.tokens.release)
        raise
    yield Do(session.tokens.save, secret, lifetime_s)
    return secret


def _request(session: Session, lane: str) -> Steps[tuple[SecretStr, float]]:
    """A new token and the seconds it still has, counted from before it was asked for."""
    asked_at_s = session.clock.monotonic_s()
    answer = yield from exchange.judged(session, _call(session, lane))
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
        deadline_s=LEASE_S / 2,
    )
