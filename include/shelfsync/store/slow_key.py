"""Derives keys and fingerprints from a secret, so slowly that a reader of the database cannot test guesses."""

from __future__ import annotations

from functools import lru_cache

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

COST, BLOCK, PRIORITIES = 2**14, 8, 1
"""16 MiB and some 40 ms a guess."""


@lru_cache(maxsize=64)
def slow_key(secret: str, salt: str, length: int = 64) -> bytes:
    """Always the same for the same secret and salt; once a process."""
    return Scrypt(salt=salt.encode(), length=length, n=COST, r=BLOCK, p=PRIORITIES).derive(secret.encode())
