"""At most so many in any sixty seconds, exactly: a log of instants that slides."""

from __future__ import annotations

import threading
from collections import defaultdict, deque

WINDOW_US = 60_000_000


class Limiter:
    """Counts what was let in, key by key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: defaultdict[str, deque[int]] = defaultdict(deque)

    def admit(self, key: str, limit: int, now_us: int) -> int | None:
        """None when let in; otherwise after how many microseconds the next one would be. The refused do not count."""
        with self._lock:
            seen = self._seen[key]
            while seen and seen[0] <= now_us - WINDOW_US:
                seen.popleft()
            if len(seen) < limit:
                seen.append(now_us)
                return None
            return seen[-limit] + WINDOW_US - now_us

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
