"""The client: `PartnerClient` for threads, `AsyncPartnerClient` for event loops, the same calls in both."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Self, TypeVar

from partner_api import links
from partner_api.clock import AsyncSystemClock, Clock, SystemClock
from partner_api.dialect import Dialect, DownloadLimits
from partner_api.drivers import AsyncDriver, SyncDriver
from partner_api.gate import Gate, OpenGate
from partner_api.operations import catalog, check, downloads, jobs, operation, orders, outlet, promotions
from partner_api.session import Resolver, Session, new_request_id, operations, result_paths, system_resolver
from partner_api.tokens import Credentials, MemoryTokenStore, TokenStore

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Mapping

    import httpx

    from partner_api.wire import Steps

R = TypeVar("R")


class _Operations:
    """The table of contents of the interface."""

    session: Session

    check = operation(check.check)
    update_catalog = operation(catalog.update_catalog)
    list_catalog = operation(catalog.list_catalog)
    whole_catalog = operation(catalog.whole_catalog)
    categories = operation(catalog.categories)
    export = operation(catalog.export)
    create_products = operation(catalog.create_products)
    job_status = operation(jobs.job_status)
    download = operation(downloads.download)
    put_promotion = operation(promotions.put_promotion)
    promotion_status = operation(promotions.promotion_status)
    put_order = operation(orders.put_order)
    get_order = operation(orders.get_order)
    list_orders = operation(orders.list_orders)
    whole_history = operation(orders.whole_history)
    outlet_status = operation(outlet.outlet_status)

    def check_link(self, url: str) -> None:
        """Raises DownloadRefusedError where `download` would refuse the link before it sends anything."""
        downloads.checked(self.session, url)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session.platform.authority}, chain {self.session.chain_id!r})"


class PartnerClient(_Operations):
    """One chain on one platform, for any number of threads. Opens nothing until the first call; close it, or use `with`.

    `credentials`: ClientCredentials or StaticToken. `gate` is asked before every request. `token_store`: a shared one makes all
    workers use one token. `download_hosts`: `name` or `name:port` besides the platform's own, never given the token.
    `private_hosts`: names that may lie in a private network and be spoken to in the clear. `transport`: an httpx transport; the
    network is then the caller's, and names are resolved here only if `resolve` is given too. `proxy`, `tls`: of the own transport.
    `attempts_max` counts harmless attempts of one call; `wait_max_s` is the longest pause between them that is slept through here.
    """

    def __init__(
        self,
        base_url: str,
        chain_id: str,
        credentials: Credentials,
        *,
        dialect: Dialect | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout_s: float = 30.0,
        gate: Gate | None = None,
        token_store: TokenStore | None = None,
        download_hosts: Iterable[str] = (),
        private_hosts: Iterable[str] = (),
        limits: DownloadLimits | None = None,
        attempts_max: int = 3,
        wait_max_s: float = 60.0,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        new_id: Callable[[], str] = new_request_id,
        resolve: Resolver | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.session = _session(
            base_url, chain_id, credentials, dialect, gate, token_store, download_hosts, private_hosts, limits,
            clock or SystemClock(), resolve or (None if transport else system_resolver), timeout_s, attempts_max, wait_max_s,
            chance, new_id,
        )  # fmt: skip
        self._driver = SyncDriver(transport, timeout_s, _network(proxy, tls))

    def run(self, steps: Steps[R]) -> R:
        """The result of an operation's steps."""
        return self._driver.run(steps)

    def close(self) -> None:
        """Lets go of the network."""
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncPartnerClient(_Operations):
    """The same for one event loop. Coroutine methods of gate, store and clock are awaited, others run in a thread."""

    def __init__(
        self,
        base_url: str,
        chain_id: str,
        credentials: Credentials,
        *,
        dialect: Dialect | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_s: float = 30.0,
        gate: Gate | None = None,
        token_store: TokenStore | None = None,
        download_hosts: Iterable[str] = (),
        private_hosts: Iterable[str] = (),
        limits: DownloadLimits | None = None,
        attempts_max: int = 3,
        wait_max_s: float = 60.0,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        new_id: Callable[[], str] = new_request_id,
        resolve: Resolver | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.session = _session(
            base_url, chain_id, credentials, dialect, gate, token_store, download_hosts, private_hosts, limits,
            clock or AsyncSystemClock(), resolve or (None if transport else system_resolver), timeout_s, attempts_max, wait_max_s,
            chance, new_id,
        )  # fmt: skip
        self._driver = AsyncDriver(transport, timeout_s, _network(proxy, tls))

    async def run(self, steps: Steps[R]) -> R:
        """The result of an operation's steps."""
        return await self._driver.run(steps)

    async def close(self) -> None:
        """Lets go of the network."""
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _session(
    base_url: str,
    chain_id: str,
    credentials: Credentials,
    dialect: Dialect | None,
    gate: Gate | None,
    token_store: TokenStore | None,
    download_hosts: Iterable[str],
    private_hosts: Iterable[str],
    limits: DownloadLimits | None,
    clock: Clock,
    resolve: Resolver | None,
    timeout_s: float,
    attempts_max: int,
    wait_max_s: float,
    chance: random.Random | None,
    new_id: Callable[[], str],
) -> Session:
    private = frozenset(host.strip().lower() for host in private_hosts)
    platform = links.base_address(base_url, private)
    allowed = frozenset(host.strip().lower() for host in download_hosts)
    speech = dialect or Dialect()
    return Session(
        platform=platform,
        chain_id=chain_id,
        credentials=credentials,
        dialect=speech,
        limits=limits or DownloadLimits(),
        policy=links.LinkPolicy(
            platform, allowed, private, result_paths(platform, chain_id, speech), operations(platform, speech)
        ),
        gate=gate or OpenGate(),
        tokens=token_store or MemoryTokenStore(clock.monotonic_s),
        clock=clock,
        resolve=resolve,
        timeout_s=timeout_s,
        attempts_max=attempts_max,
        wait_max_s=wait_max_s,
        chance=chance or random.Random(),  # noqa: S311  jitter, no secret
        new_id=new_id,
    )


def _network(proxy: str | None, tls: ssl.SSLContext | None) -> Mapping[str, Any]:
    return {"proxy": proxy, "verify": tls}
