"""Whether the platform accepts the settings: credentials, chain and vendors. Accepted credentials hold for six hours, stored by a slow hash."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
from partner_api.links import is_loopback_name
from shelfsync.errors import ConfigurationError, TryAgainError, UnreachableError
from shelfsync.platform.shared_token import slow_key
from shelfsync.store.metadata import instant, metadata, text, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.context import Context

platform_check = sa.Table(
    "platform_check",
    metadata,
    text("fingerprint", "Derived slowly (scrypt) from address, chain and credentials", primary_key=True),
    written("checked_at", "When the platform last accepted them"),
    schema="ledger",
    comment="Which platform configurations are known to work, so that not every delta has to ask",
)

KNOWN_GOOD_S = 6 * 3600.0
"""How long accepted settings are not checked again, so that a delta every quarter of an hour sends no request each time."""

ASKED_MAX = 15
"""How many vendors one check asks for. An unknown one costs two requests, so this is half the allowance of a minute."""

VENDORS_ASKED = 3
"""How many vendors may be unknown or forbidden before the chain or the credentials count as wrong."""

_ADDRESS = "SHELFSYNC_PLATFORM__BASE_URL (or the connection shelfsync_platform)"


def is_known_good(context: Context, vendors: tuple[str, ...]) -> bool:
    """True if the platform accepted these settings with these vendors within KNOWN_GOOD_S."""
    return _known_good(context, _fingerprint(_derived(context), vendors))


def check_platform(
    context: Context, vendors: tuple[str, ...], names: Sequence[str | None], *, known: Sequence[str] = ()
) -> None:
    """Requests a token and one of `names` (None: the token alone), and stores a successful check for `vendors`.

    An error about a vendor asks whether one of the `known` vendors is meant.
    ConfigurationError names the setting that the platform rejects; TryAgainError if it throttles.
    """
    _ask_one_of(context, names, known)
    _remember(context, _fingerprint(_derived(context), vendors))


def check_chain(context: Context, vendors: Sequence[str]) -> None:
    """Checks with the vendors of the first extract whether the platform knows the chain: one known vendor is enough.

    A vendor that it does not know fails by itself later; a chain that it does not know fails here, before anything is sent.
    """
    known = _fingerprint(_derived(context), ("*",))
    if _known_good(context, known, within_s=math.inf):
        return
    if vendors:
        _ask_one_of(context, vendors[:VENDORS_ASKED])
        _remember(context, known)


def unknown_vendors(context: Context, names: Sequence[str]) -> tuple[list[str], int]:
    """The vendors that the platform does not know or does not open to shelfsync, and how many were not asked for.

    It asks for ASKED_MAX at most; what it confirms is not asked again within KNOWN_GOOD_S. ConfigurationError if it knows none of them.
    """
    derived = _derived(context)
    fingerprints = {name: _fingerprint(derived, ("vendor", name)) for name in names}
    confirmed = {name for name, of in fingerprints.items() if _known_good(context, of)}
    left = [name for name in names if name not in confirmed]
    unknown: dict[str, ConfigurationError] = {}
    for name in left[:ASKED_MAX]:
        try:
            _ask(context, name)
        except ConfigurationError as error:
            if error.setting == _ADDRESS:
                raise
            unknown[name] = error
        else:
            _remember(context, fingerprints[name])
            _remember(context, _fingerprint(derived, ("*",)))
            confirmed.add(name)
    if unknown and not confirmed:
        raise next(iter(unknown.values()))
    return list(unknown), len(left[ASKED_MAX:])


def _ask_one_of(context: Context, names: Sequence[str | None], known: Sequence[str] = ()) -> None:
    """Tries one after the other until the platform accepts a call; raises the error of the last. A wrong address is wrong for all."""
    for name in names:
        try:
            _ask(context, name, known)
        except ConfigurationError as error:
            if name == names[-1] or error.setting == _ADDRESS:
                raise
        else:
            return


def _ask(context: Context, vendor: str | None, known: Sequence[str] = ()) -> None:
    """Token and, with a vendor, chain and vendor; the platform's error, as a setting to correct."""
    platform = context.settings.platform
    try:
        context.open_platform().check(vendor)
    except CredentialsError as error:
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__CLIENT_ID / SHELFSYNC_PLATFORM__CLIENT_SECRET (or the connection shelfsync_platform)",
            f"the platform rejects the credentials: {error.fact}",
            f"{error.remedy.rstrip('.')}.",
        ) from None
    except (NotFoundError, NotEnabledError) as error:
        from shelfsync.erp.vendor_ids import VendorIds, meant  # brings pyarrow

        stores = [] if vendor is None else VendorIds.of(context.settings.erp).erp_ids([vendor])
        called = "".join(f" (the ERP's store {store!r})" for store in stores if store != vendor)
        hint = "" if vendor is None else meant(vendor, known) + _of_sandbox(platform.base_url)
        if vendor is not None and _known_good(context, _fingerprint(_derived(context), ("*",)), within_s=math.inf):
            raise ConfigurationError(
                "SHELFSYNC_SYNC__VENDORS, SHELFSYNC_ERP__VENDOR_IDS or --vendor",
                f"the platform does not know vendor {vendor!r}{called} of chain {platform.chain!r}: {error.fact}",
                f"{hint}Correct the vendor, or ask the account manager to enable it.",
            ) from None
        which = "" if vendor is None else f" or has no vendor {vendor!r}{called}"
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__CHAIN (or the connection shelfsync_platform)",
            f"the platform does not know chain {platform.chain!r}{which}: {error.fact}",
            f"{hint}Correct the chain, name the stores as the platform does (SHELFSYNC_ERP__VENDOR_IDS), or ask the account manager to enable them.",
        ) from None
    except ThrottledError as error:
        raise TryAgainError(f"check: {error}", after_s=error.retry_after_s or 60.0) from None
    except UnavailableError as error:
        raise UnreachableError(
            _ADDRESS,
            f"{platform.base_url} cannot be reached: {error.fact}",
            "Correct the address, or try again when the platform is up.",
        ) from None
    except PartnerError as error:
        raise ConfigurationError(
            _ADDRESS,
            f"{platform.base_url} does not answer like the platform: {error.fact}",
            "Correct the address.",
        ) from None


def _of_sandbox(base_url: str | None) -> str:
    """What else may be wrong if the platform is on this machine."""
    if not is_loopback_name(urlsplit(base_url or "").hostname or ""):
        return ""
    return "If this is the sandbox, `shelfsync sandbox fill` makes the ERP's stores in it. "


def _remember(context: Context, fingerprint: str) -> None:
    now = {"checked_at": instant()}
    statement = insert(platform_check).values(fingerprint=fingerprint, **now)
    with context.engine.begin() as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=[platform_check.c.fingerprint], set_=now))


def _derived(context: Context) -> str:
    """A slow hash of address, chain and credentials: no settings can be guessed from what is stored."""
    platform = context.settings.platform
    secrets = [value.get_secret_value() for value in (platform.client_secret, platform.token) if value is not None]
    identity = "\n".join((platform.base_url or "", platform.chain or "", platform.client_id or ""))
    return slow_key("\n".join(secrets), f"platform_check\n{identity}").hex()


def _fingerprint(derived: str, vendors: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join((derived, *vendors)).encode()).hexdigest()


def _known_good(context: Context, fingerprint: str, *, within_s: float = KNOWN_GOOD_S) -> bool:
    age = sa.extract("epoch", instant() - platform_check.c.checked_at)
    statement = sa.select(age < within_s).where(platform_check.c.fingerprint == fingerprint)
    with context.engine.connect() as connection:
        return bool(connection.execute(statement).scalar_one_or_none())
