"""Identifiers and random numbers from one source, so that a seed repeats a whole run."""

from __future__ import annotations

import random
import secrets
import threading


class Ids:
    """UUIDs, secrets and numbers; the same ones again for the same seed."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._lock = threading.Lock()
        self._random: random.Random = random.SystemRandom()
        self.restart()

    def restart(self) -> None:
        """Begins the sequence again."""
        with self._lock:
            self._random = random.SystemRandom() if self._seed is None else random.Random(self._seed)  # noqa: S311  seeded on purpose

    def uuid(self) -> str:
        """A version 4 UUID in text."""
        with self._lock:
            digits = f"{self._random.getrandbits(128):032x}"
        variant = "89ab"[int(digits[16], 16) % 4]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"

    def number(self) -> int:
        """A whole number of nine digits; not for identities, for which it is too short."""
        with self._lock:
            return self._random.randrange(100_000_000, 1_000_000_000)

    def secret(self) -> str:
        """An opaque text that cannot be guessed (or, with a seed, that a test can repeat)."""
        if self._seed is None:
            return secrets.token_urlsafe(32)
        with self._lock:
            return f"{self._random.getrandbits(256):064x}"
