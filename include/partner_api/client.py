"""The client of the interface."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from partner_api import answers, catalog, jobs, json_values, links, orders, promotions, token_renewal
from partner_api import download as downloads
from partner_api.call import Call
from partner_api.dialect import Dialect
from partner_api.download_limits import DownloadLimits
from partner_api.errors import NotEnabledError, NotFoundError
from partner_api.exchange import judged
from partner_api.sender import Sender
from partner_api.session import (
    Clock,
    Gate,
    OpenGate,
    Resolver,
    Session,
    SystemClock,
    new_request_id,
    operations,
    result_paths,
    system_resolver,
)
from partner_api.tokens import Credentials, MemoryTokenStore, TokenStore

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable

    from partner_api.http_library import httpx
    from partner_api.json_values import Raw

NO_SUCH_JOB = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class OutletStatus:
    """OPEN, CLOSED_TODAY, CLOSED_UNTIL or CHECKIN, as far as is known."""

    status: str | None
    closed_reason: str | None
    closed_until: str | None
    raw: Raw = field(repr=False)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the connection test. `vendor_seen`: the platform knows the vendor; False if the test names none."""

    vendor_seen: bool
    outlet_status: str | None


class PartnerClient(Session):
    """One chain on one platform, for any number of threads. Opens nothing until the first call; close it, or use `with`.

    `credentials`: ClientCredentials or StaticToken. `gate` admits every request before it leaves. `token_store`: with a shared
    one all workers use one token. `download_hosts`: `name` or `name:port` beside the platform's own; they never receive the token.
    `private_hosts`: names that may be in a private network and be reached without TLS. `transport`: an httpx transport; the client
    then resolves names only if `resolve` is given too. `proxy`, `tls`: for the client's own transport.
    `attempts_max`: attempts of one call that is safe to repeat. `wait_max_s`: the longest pause, in seconds, that the client sleeps between
    them; for a longer one it raises the error.
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
        private = frozenset(host.strip().lower() for host in private_hosts)
        platform = links.base_address(base_url, private)
        allowed = frozenset(host.strip().lower() for host in download_hosts)
        used_dialect = dialect or Dialect()
        time = clock or SystemClock()
        super().__init__(
            platform=platform,
            chain_id=chain_id,
            credentials=credentials,
            dialect=used_dialect,
            limits=limits or DownloadLimits(),
            policy=links.LinkPolicy(
                platform,
                allowed,
                private,
                result_paths(platform, chain_id, used_dialect),
                operations(platform, used_dialect),
            ),
            gate=gate or OpenGate(),
            tokens=token_store or MemoryTokenStore(time.monotonic_s),
            clock=time,
            sender=Sender(transport, timeout_s, {"proxy": proxy, "verify": tls}),
            resolve=resolve or (None if transport else system_resolver),
            timeout_s=timeout_s,
            attempts_max=attempts_max,
            wait_max_s=wait_max_s,
            chance=chance or random.Random(),  # noqa: S311  jitter, no secret
            new_id=new_id,
        )

    update_catalog = catalog.update_catalog
    list_catalog = catalog.list_catalog
    ping = catalog.ping
    whole_catalog = catalog.whole_catalog
    categories = catalog.categories
    export = catalog.export
    create_products = catalog.create_products
    job_status = jobs.job_status
    download = downloads.download
    put_promotion = promotions.put_promotion
    promotion_status = promotions.promotion_status
    put_order = orders.put_order
    get_order = orders.get_order
    list_orders = orders.list_orders
    whole_history = orders.whole_history

    def check(self, vendor_id: str | None = None, *, priority: str = "catalog") -> Checked:
        """The connection test. It changes nothing.

        Reaches the platform, proves the credentials and, with a vendor, chain and vendor. Costs one to three requests.
        Raises CredentialsError, NotFoundError (chain or vendor), NotEnabledError or UnavailableError (not reachable).
        The outlet status is not in interface.md: if the platform lacks it, the client lists one product instead.
        """
        token_renewal.token(self, priority, judged)
        if vendor_id is None:
            self._prove_token(priority)
            return Checked(vendor_seen=False, outlet_status=None)
        if self.dialect.outlet_status_path:
            try:
                return Checked(vendor_seen=True, outlet_status=self.outlet_status(vendor_id, priority=priority).status)
            except (NotFoundError, NotEnabledError):
                pass  # perhaps only this call is unknown; the listing, which the interface defines, decides
        try:
            self.list_catalog(vendor_id, 1, 1, priority=priority)
        except NotFoundError as error:
            raise NotFoundError(
                f"the platform knows no vendor {vendor_id!r} of chain {self.chain_id!r}",
                operation="check",
                status=error.status,
                request_id=error.request_id,
                remedy="Check chain and vendor; they are the platform's identifiers, not the ERP's",
            ) from None
        return Checked(vendor_seen=True, outlet_status=None)

    def outlet_status(self, vendor_id: str, *, priority: str = "catalog") -> OutletStatus:
        """Whether a vendor is open (not in interface.md, seen in the published specification). It changes nothing.

        NotEnabledError: the dialect has no such call.
        """
        if not self.dialect.outlet_status_path:
            raise NotEnabledError(
                "the dialect has no path for it", operation="outlet_status", remedy="List the catalog instead"
            )
        url = self.url(self.dialect.outlet_status_path, vendor_id=vendor_id)
        call = Call("outlet_status", priority, (vendor_id,), "GET", url, safe_to_repeat=True)
        body = answers.body_of(judged(self, call), call, self)
        status, reason, until = (json_values.text(body, name) for name in ("status", "closed_reason", "closed_until"))
        return OutletStatus(status, reason, until, body)

    def _prove_token(self, priority: str) -> None:
        """Asks the chain for a job that cannot exist: the platform answers 404 to a valid token and rejects any other."""
        if self.dialect.job_status_path:
            with contextlib.suppress(NotFoundError):
                self.job_status(NO_SUCH_JOB, priority=priority)

    def check_link(self, url: str) -> None:
        """Raises LinkNotAllowedError if `download` does not follow this link. Sends nothing."""
        downloads.checked(self, url)

    def close(self) -> None:
        """Closes the connections that this client opened."""
        self.sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.platform.authority}, chain {self.chain_id!r})"
