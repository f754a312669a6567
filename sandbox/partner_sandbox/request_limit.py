"""The request limit: so many requests in any minute, for each address, token or chain; the answer of a request beyond it (interface.md 8)."""

from __future__ import annotations

import hashlib
import math
import threading
from collections import defaultdict, deque

from starlette.datastructures import Headers
from starlette.types import Scope

from partner_sandbox.clock import SECOND_US
from partner_sandbox.errors import ApiError
from partner_sandbox.journal import WINDOW_US
from partner_sandbox.settings import Behaviour

KEYS_MAX = 10_000


class Limiter:
    """Counts the admitted requests of each key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: defaultdict[str, deque[int]] = defaultdict(deque)

    def admit(self, key: str, limit: int, now_us: int) -> int | None:
        """None if admitted; otherwise the microseconds until the next permit. Rejected requests do not count."""
        with self._lock:
            seen = self._seen[key]
            while seen and seen[0] <= now_us - WINDOW_US:
                seen.popleft()
            if len(self._seen) > KEYS_MAX:
                self._forget(now_us)
                seen = self._seen[key]
            if len(seen) < limit:
                seen.append(now_us)
                return None
            return seen[-limit] + WINDOW_US - now_us

    def _forget(self, now_us: int) -> None:
        """Forgets callers without a request in the window."""
        for key in [key for key, seen in self._seen.items() if not seen or seen[-1] <= now_us - WINDOW_US]:
            del self._seen[key]

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def used(self, now_us: int) -> dict[str, int]:
        """How many each key had in the window that ends now."""
        with self._lock:
            return {
                key: sum(at > now_us - WINDOW_US for at in seen)
                for key, seen in self._seen.items()
                if seen and seen[-1] > now_us - WINDOW_US
            }


def rate_key(kind: str, scope: Scope, headers: Headers) -> str:
    """What the limit counts this request by."""
    address = scope["client"][0] if scope.get("client") else "local"
    if kind == "token" and "authorization" in headers:
        return "token " + hashlib.sha256(headers["authorization"].encode()).hexdigest()[:16]
    parts = scope["path"].split("/")
    if kind == "chain" and len(parts) > 3 and parts[2] == "chains":
        return f"chain {parts[3]}"
    return f"address {address}"


def too_many(behaviour: Behaviour, wait_us: int) -> ApiError:
    """429, with the time of the next permit where the dialect says it."""
    with_header = behaviour.rate_limit_answer == "429_retry_after"
    after = {"Retry-After": str(math.ceil(wait_us / SECOND_US))} if with_header else {}
    message = f"No more than {behaviour.requests_per_minute} requests a minute for each {behaviour.rate_key}"
    return ApiError(429, "TOO_MANY_REQUESTS", message, after, rule="8", choice="requests_per_minute")
