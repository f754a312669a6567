"""At most so many requests in any sixty seconds, exactly: a sliding log of instants."""

from __future__ import annotations

import threading
from collections import defaultdict, deque

WINDOW_US = 60_000_000


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
