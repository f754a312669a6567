"""One process that sends as fast as the rate limit allows: `rate_limit_worker.py DSN PORT LIMIT WINDOW_S JITTER_S PRIORITY`.

A request is one line on a connection of its own; who listens notes when it arrived.
"""

from __future__ import annotations

import socket
import sys

from partner_api.session import SystemClock
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.rate_limit.sliding_window import Rate
from shelfsync.settings import RateLimitSettings
from shelfsync.store.engine import create_engine


def main() -> None:
    dsn, port, limit, window_s, jitter_s, priority = sys.argv[1:]
    rate = Rate(int(limit), window_s=float(window_s), jitter_s=float(jitter_s))
    limiter = RateLimiter(create_engine(dsn), RateLimitSettings(), SystemClock(), rate=rate)
    while True:
        limiter.admit("job_status", priority, ())
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as connection:
            connection.sendall(b"request\n")


if __name__ == "__main__":
    main()
