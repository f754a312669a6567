"""One process that asks the platform for listings, as fast as the budget lets it: `budget_client.py DSN BASE_URL NUMBER`."""

from __future__ import annotations

import sys

from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from shelfsync.budget import RequestBudget
from shelfsync.clock import SystemClock
from shelfsync.ledger.engine import create_engine
from shelfsync.settings import BudgetSettings


def main() -> None:
    dsn, base_url, number = sys.argv[1:]
    budget = RequestBudget(create_engine(dsn), BudgetSettings(), SystemClock())
    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    vendor = f"store-{int(number) % 6 + 1:03d}"
    with PartnerClient(base_url, "demo-chain", credentials, gate=budget) as client:
        while True:
            client.list_catalog(vendor)


if __name__ == "__main__":
    main()
