"""The token that a call uses, renewed by one caller at a time before it expires (interface.md 5).

A caller that needs a token passes the gate first and takes the lease after it. A wait at the gate may be long, and a lease held
meanwhile cannot distinguish a waiting caller from a dead one. A caller that passes the gate too late returns its permit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pydantic import SecretStr

from partner_api import json_values
from partner_api.back_off import backoff_s
from partner_api.call import Call
from partner_api.errors import (
    BlockedError,
    CredentialsError,
    MisconfiguredError,
    PartnerError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.tokens import StaticToken, is_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from partner_api.sender import Answer
    from partner_api.session import Session
    from partner_api.tokens import HeldToken, Lease

    Judged = Callable[[Session, Call], Answer]

LEASE_S = 60.0
"""Longest time for which one caller alone may request a token; then another may."""
POLL_S = 0.1
"""Seconds between two looks at whether another caller has finished its renewal."""


def is_fresh(held: HeldToken, margin_s: float) -> bool:
    """Whether a token need not be renewed yet: more than a tenth of its lifetime is left, or more than the margin."""
    return held.remaining_s > min(margin_s, held.lifetime_s / 10)


def can_renew(session: Session) -> bool:
    """Whether the client can request another token: not with a static one."""
    return not isinstance(session.credentials, StaticToken)


def token(session: Session, priority: str, judged: Judged, rejected: SecretStr | None = None) -> SecretStr:
    """A token other than the rejected one. While another caller renews, a token that has not yet expired is used.

    The same token is used if the platform gives no new one now; the next call tries again. Without one, the PartnerError of the last
    attempt is raised. Credentials that the platform rejects are an error at once. `judged` sends one call and returns its answer.
    """
    if isinstance(session.credentials, StaticToken):
        return session.credentials.token
    if rejected is not None:
        session.tokens.discard(rejected)
    attempt = 0
    while True:
        found, turn = _found(session)
        if found is not None:
            return found
        try:
            renewed = _renew(session, priority, judged, turn)
        except PartnerError as error:
            held = session.tokens.load()
            if held is not None and held.remaining_s > 0 and not isinstance(error, MisconfiguredError):
                return held.secret
            attempt += 1
            pause_s = _again_s(session, error, attempt)
            if pause_s is None:
                raise
            session.clock.sleep(pause_s)
        else:
            if renewed is not None:
                return renewed


def _found(session: Session) -> tuple[SecretStr | None, Lease | None]:
    """A token to use now, or None: then this caller requests one, under the lease returned with it if the old token is still valid."""
    waited_s = 0.0
    while True:
        held = session.tokens.load()
        if held is not None and is_fresh(held, session.dialect.token_margin_s):
            return held.secret, None
        if held is not None and held.remaining_s > 0:
            turn = session.tokens.lease(LEASE_S)
            return (held.secret, None) if turn is None else (None, turn)
        if not session.tokens.is_leased():
            return None, None
        if waited_s > 2 * LEASE_S:
            raise UnavailableError(
                f"no token came within {2 * LEASE_S:g} s while other callers requested one", operation="token"
            )
        session.clock.sleep(POLL_S)
        waited_s += POLL_S


def is_usable(session: Session, secret: SecretStr) -> bool:
    """Whether this token is still valid, and the store returns no other one. A shared store may learn of a newer one later."""
    if isinstance(session.credentials, StaticToken):
        return True
    held = session.tokens.load()
    return held is not None and held.secret == secret and held.remaining_s > 0


def _renew(session: Session, priority: str, judged: Judged, turn: Lease | None) -> SecretStr | None:
    """Requests one token; None if another caller requests one by the time the gate admits this caller.

    `turn`: a lease taken before the gate while the old token is valid, so that only one caller queues for a renewal.
    """
    lease = turn
    try:
        session.gate.admit("token", priority, ())
        lease = session.tokens.lease(LEASE_S, turn)
        if lease is None:
            session.gate.done("token", priority, False)
            return None
        held = session.tokens.load()  # another caller may have just renewed it
        if held is not None and is_fresh(held, session.dialect.token_margin_s):
            session.tokens.release(lease)
            session.gate.done("token", priority, False)
            return held.secret
        secret, lifetime_s = _request(session, priority, judged)
    except BaseException:
        if lease is not None:
            session.tokens.release(lease)
        raise
    session.tokens.save(lease, secret, lifetime_s)
    return secret


def _again_s(session: Session, error: PartnerError, attempt: int) -> float | None:
    """Seconds to wait before the next request, which passes the gate and takes a lease of its own; None: no further attempt."""
    passing = isinstance(error, ThrottledError) or (isinstance(error, UnavailableError) and error.status != 408)
    if attempt >= session.attempts_max or not passing or isinstance(error, BlockedError):
        return None
    pause_s = backoff_s(session, attempt) if error.retry_after_s is None else error.retry_after_s
    return pause_s if pause_s <= session.wait_max_s else None


def _request(session: Session, priority: str, judged: Judged) -> tuple[SecretStr, float]:
    """A new token and its remaining lifetime in seconds, counted from before the request."""
    requested_at_s = session.clock.monotonic_s()
    answer = judged(session, _call(session, priority))
    body = json_values.mapping(json_values.json_or_none(answer.body))
    text = json_values.text(body, "access_token", "token")
    if text is None or not is_token(text):
        raise UnexpectedAnswerError(
            "the answer holds no access_token",
            operation="token",
            status=answer.status,
            request_id=answer.request_id,
        )
    expires_in_s = json_values.decimal(body, "expires_in")
    longest_s = session.dialect.token_lifetime_s
    lifetime_s = min(float(expires_in_s), longest_s) if expires_in_s is not None and expires_in_s > 0 else longest_s
    return SecretStr(text), lifetime_s - (session.clock.monotonic_s() - requested_at_s)


def _call(session: Session, priority: str) -> Call:
    credentials = session.credentials
    if isinstance(credentials, StaticToken):
        raise CredentialsError("a static token cannot be renewed", operation="token")
    fields = {
        "grant_type": "client_credentials",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret.get_secret_value(),
    }
    as_json = session.dialect.token_body == "json"  # noqa: S105  a value of the dialect
    return Call(
        operation="token",
        priority=priority,
        vendors=(),
        method="POST",
        url=session.url(session.dialect.token_path),
        body=(json.dumps(fields) if as_json else urlencode(fields)).encode(),
        headers={"Content-Type": "application/json" if as_json else "application/x-www-form-urlencoded"},
        safe_to_repeat=True,
        bearer=False,
        admitted=True,
        deadline_s=LEASE_S / 2,
        attempts_max=1,
    )
