"""The client of the platform, created from the settings: its token, its dialect, and the gate that admits every request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partner_api import ClientCredentials, Dialect, DownloadLimits, PartnerClient, StaticToken
from partner_api.errors import MisconfiguredError
from shelfsync.errors import ConfigurationError
from shelfsync.platform.gate import OutageGate, ReadOnlyGate
from shelfsync.platform.kill_switch import SwitchedGate
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.platform.shared_token import SharedTokens
from shelfsync.settings.twin_chains import refuse_twin

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from partner_api.session import Clock, Gate
    from partner_api.tokens import Credentials, TokenStore
    from shelfsync.settings import Settings


def open_platform(
    settings: Settings, engine: Engine, limits: Engine, clock: Clock, *, read_only: bool
) -> PartnerClient:
    """A client of the platform, through the shared rate limit and the kill switch; `read_only`: it sends no request that changes anything.

    A ConfigurationError names the setting that is missing or wrong.
    """
    platform = settings.platform
    base_url = _required(platform.base_url, "SHELFSYNC_PLATFORM__BASE_URL", "the platform's address is not set")
    chain = _required(platform.chain, "SHELFSYNC_PLATFORM__CHAIN", "the chain is not set")
    refuse_twin(settings)
    try:
        limiter = OutageGate(
            RateLimiter(limits, counted(settings), clock, chain=settings.chain or chain), engine, clock
        )
        gate = ReadOnlyGate(limiter) if read_only else SwitchedGate(limiter, engine, chain)
        return _client(settings, engine, clock, base_url, chain, gate)
    except MisconfiguredError as error:
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__BASE_URL",
            error.fact,
            "Write https://, or name a private host in SHELFSYNC_PLATFORM__PRIVATE_HOSTS.",
        ) from None


def _client(settings: Settings, engine: Engine, clock: Clock, base_url: str, chain: str, gate: Gate) -> PartnerClient:
    platform = settings.platform
    credentials, store = _credentials(settings, engine, clock, base_url, chain)
    return PartnerClient(
        base_url,
        chain,
        credentials,
        dialect=_dialect(settings),
        timeout_s=platform.timeout_s,
        gate=gate,
        token_store=store,
        download_hosts=platform.download_hosts,
        private_hosts=platform.private_hosts,
        limits=DownloadLimits(least_bytes_per_s=platform.download_least_bytes_per_s),
        proxy=None if platform.proxy is None else platform.proxy.get_secret_value(),
    )


def _dialect(settings: Settings) -> Dialect:
    platform = settings.platform
    ours = {"job_status_path": platform.job_status_path, "body_max_bytes": settings.sync.body_max_bytes}
    choices: dict[str, Any] = {**platform.dialect, **ours}
    try:
        return Dialect(**choices)
    except TypeError as error:
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__DIALECT", str(error), "The names are those of docs/reference/interface-dialects.md."
        ) from None


def _credentials(
    settings: Settings, engine: Engine, clock: Clock, base_url: str, chain: str
) -> tuple[Credentials, TokenStore | None]:
    platform = settings.platform
    if platform.token is not None:
        return StaticToken(platform.token), None
    client_id = _required(
        platform.client_id, "SHELFSYNC_PLATFORM__CLIENT_ID", "neither client id nor static token is set"
    )
    if platform.client_secret is None:
        _required(None, "SHELFSYNC_PLATFORM__CLIENT_SECRET", "the client secret is not set")
    secret = platform.client_secret
    assert secret is not None
    store = SharedTokens(engine, clock, base_url=base_url, chain=chain, client_id=client_id, client_secret=secret)
    return ClientCredentials(client_id, secret), store


def _required(value: str | None, setting: str, problem: str) -> str:
    if not value:
        raise ConfigurationError(setting, problem, "Set it, or give Airflow the connection shelfsync_platform.")
    return value
