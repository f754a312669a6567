"""check: everything that can be wrong with the configuration, found before anything is read in bulk or sent."""

from __future__ import annotations

import hashlib
import logging
import math
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from partner_api.errors import (
    CredentialsError,
    NotEnabledError,
    NotFoundError,
    PartnerError,
    ThrottledError,
    UnavailableError,
)
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.handover.outlet import open_outlet
from shelfsync.inbox.exposed import without_tls
from shelfsync.ledger import engine, tables
from shelfsync.ledger import vendors as vendors_of_ledger
from shelfsync.ledger.instant import instant
from shelfsync.ledger.slow_key import slow_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.flow.house import Parts
    from shelfsync.settings import Settings

log = logging.getLogger(__name__)

KNOWN_GOOD_S = 6 * 3600.0
"""How long a platform configuration that let us in is believed; a delta every quarter of an hour need not ask each time."""


VENDORS_ASKED = 3
"""How many vendors may be unknown or closed to us before the chain or the credentials are taken to be wrong."""

_ADDRESS = "SHELFSYNC_PLATFORM__BASE_URL (or the connection shelfsync_platform)"


def check(parts: Parts, vendors: tuple[str, ...] = (), *, fresh: bool = True) -> None:
    """Database, ERP, platform, in this order; ConfigurationError in one line at the first that does not work.

    `vendors` are asked about first, so that a wrong one is found too; `fresh` asks the platform even when it answered lately.
    """
    engine.check(parts.engine)
    parts.open_erp().check()
    if not fresh and _known_good(parts, _fingerprint(parts, vendors)):
        return
    names = (vendors or parts.settings.sync.vendors)[:1] or _known_vendors(parts)
    if not names:
        log.info("check: no vendor is known yet; the platform is asked for a token only")
    _ask_one_of(parts, names or (None,))
    _remember(parts, _fingerprint(parts, vendors))
    log.info("check: database, ERP and platform answer")


def warnings(settings: Settings) -> list[str]:
    """What stops no catalog and is wrong all the same: orders that would reach no store, and a receiver that can be listened to."""
    exposed = without_tls(settings.webhook)
    return [*_orders(settings), *([] if exposed is None else [exposed])]


def _orders(settings: Settings) -> list[str]:
    """The first order would be an alarm."""
    orders = settings.orders
    if orders.owes_orders and not orders.hands_over:
        error = ConfigurationError(
            "SHELFSYNC_ORDERS__HAND_OVER",
            "is not set, so an order reaches no store",
            "Set it to the way to your stores, or to none where they learn of orders elsewhere (docs/orders.md).",
        )
        return [str(error)]
    try:
        if outlet := open_outlet(settings):
            outlet.close()
    except ConfigurationError as error:
        return [str(error)]
    return []


def check_chain(parts: Parts, vendors: Sequence[str]) -> None:
    """Whether the platform knows the chain at all, asked with the vendors of the first extract: one that it knows is enough.

    A vendor that it does not know fails by itself later; a chain that it does not know fails here, before anything is sent.
    """
    known = _fingerprint(parts, ("*",))
    if _known_good(parts, known, within_s=math.inf):
        return
    if vendors:
        _ask_one_of(parts, vendors[:VENDORS_ASKED])
        _remember(parts, known)


def _ask_one_of(parts: Parts, names: Sequence[str | None]) -> None:
    """Asks until one of them lets us in; raises what is said of the last. An address that is wrong is so for all."""
    for name in names:
        try:
            _ask(parts, name)
        except ConfigurationError as error:
            if name == names[-1] or error.setting == _ADDRESS:
                raise
        else:
            return


def _ask(parts: Parts, vendor: str | None) -> None:
    """Token and, with a vendor, chain and vendor; what the platform says against them, as a setting to correct."""
    platform = parts.settings.platform
    try:
        parts.open_platform().check(vendor)
    except CredentialsError as error:
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__CLIENT_ID / SHELFSYNC_PLATFORM__CLIENT_SECRET (or the connection shelfsync_platform)",
            f"the platform does not let us in: {error}",
            "Correct the credentials; they must belong to this chain.",
        ) from None
    except (NotFoundError, NotEnabledError) as error:
        which = "" if vendor is None else f" or has no vendor {vendor!r}"
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__CHAIN (or the connection shelfsync_platform)",
            f"the platform does not know chain {platform.chain!r}{which}: {error}",
            "Correct chain and vendors, or ask the account manager to enable them.",
        ) from None
    except ThrottledError as error:
        raise TryAgainError(f"check: {error}", after_s=error.retry_after_s or 60.0) from None
    except UnavailableError as error:
        raise ConfigurationError(
            _ADDRESS,
            f"{platform.base_url} cannot be reached: {error}",
            "Correct the address, or try again when the platform is up.",
        ) from None
    except PartnerError as error:
        raise ConfigurationError(
            _ADDRESS,
            f"{platform.base_url} does not answer like the platform: {error}",
            "Correct the address.",
        ) from None


def _remember(parts: Parts, fingerprint: str) -> None:
    now = {"checked_at": instant()}
    statement = insert(tables.platform_check).values(fingerprint=fingerprint, **now)
    with parts.engine.begin() as connection:
        connection.execute(
            statement.on_conflict_do_update(index_elements=[tables.platform_check.c.fingerprint], set_=now)
        )


def _known_vendors(parts: Parts) -> tuple[str, ...]:
    """A few, those first that the platform took something of not long ago: any one may be closed to us by now, and no other."""
    with parts.engine.connect() as connection:
        return tuple(vendors_of_ledger.lately_acknowledged(connection, most=VENDORS_ASKED))


def _fingerprint(parts: Parts, vendors: tuple[str, ...]) -> str:
    platform = parts.settings.platform
    secrets = [value.get_secret_value() for value in (platform.client_secret, platform.token) if value is not None]
    identity = "\n".join((platform.base_url or "", platform.chain or "", platform.client_id or ""))
    derived = slow_key("\n".join(secrets), f"platform_check\n{identity}").hex()
    return hashlib.sha256("\n".join((derived, *vendors)).encode()).hexdigest()


def _known_good(parts: Parts, fingerprint: str, *, within_s: float = KNOWN_GOOD_S) -> bool:
    age = sa.extract("epoch", instant() - tables.platform_check.c.checked_at)
    statement = sa.select(age < within_s).where(tables.platform_check.c.fingerprint == fingerprint)
    with parts.engine.connect() as connection:
        return bool(connection.execute(statement).scalar_one_or_none())
