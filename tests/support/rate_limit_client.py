"""One process that asks the platform for listings, as fast as the rate limit allows: `rate_limit_client.py DSN BASE_URL NUMBER`."""

from __future__ import annotations

import sys

from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from partner_api.session import SystemClock
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.settings import RateLimitSettings
from shelfsync.store.engine import create_engine


def main() -> None:
    dsn, base_url, number = sys.argv[1:]
    limiter = RateLimiter(create_engine(dsn), RateLimitSettings(), SystemClock())
    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    vendor = f"store-{int(number) % 6 + 1:03d}"
    with PartnerClient(base_url, "demo-chain", credentials, gate=limiter) as client:
        while True:
            client.list_catalog(vendor)


if __name__ == "__main__":
    main()
