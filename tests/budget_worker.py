"""One process that sends as fast as the budget lets it: `budget_worker.py DSN PORT LIMIT WINDOW_S JITTER_S LANE`.

A request is one line on a connection of its own; who listens notes when it arrived.
"""

from __future__ import annotations

import socket
import sys

from shelfsync.budget import RequestBudget
from shelfsync.budget.schedule import Rate
from shelfsync.clock import SystemClock
from shelfsync.ledger.engine import create_engine
from shelfsync.settings import BudgetSettings


def main() -> None:
    dsn, port, limit, window_s, jitter_s, lane = sys.argv[1:]
    rate = Rate(int(limit), window_s=float(window_s), jitter_s=float(jitter_s))
    budget = RequestBudget(create_engine(dsn), BudgetSettings(), SystemClock(), rate=rate)
    while True:
        budget.admit("job_status", lane)
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as connection:
            connection.sendall(b"request\n")


if __name__ == "__main__":
    main()
