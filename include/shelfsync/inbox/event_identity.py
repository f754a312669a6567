"""Which events are the same: a repeat has the same identity, and is not stored twice."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

IDENTITY_BYTES_MAX = 512
"""Longer than any genuine identity, and far below the limit of a PostgreSQL index entry (2,704 bytes)."""


def of_order(order_id: str, status: str | None, updated_at: str | None, body: bytes) -> str:
    """An order event that differs in any byte is another event. The hash is of the customer's data too: `orders forget` replaces it."""
    return _identity("order", order_id, status or "", updated_at or "", _sha256(body))


def of_job(job_id: str, event: Mapping[str, Any]) -> str:
    """The order of the keys has no meaning."""
    meaning = json.dumps(event, sort_keys=True, separators=(",", ":"), default=str)
    return _identity("job", job_id, _sha256(meaning.encode()))


def of_unknown(body: bytes) -> str:
    """An event of neither an order nor a job is the same only if every byte is."""
    return _identity("unknown", _sha256(body))


def _identity(kind: str, *parts: str) -> str:
    """The readable identity, or its digest if it is too long for an index."""
    identity = ":".join((kind, *parts))
    encoded = identity.encode()
    return identity if len(encoded) <= IDENTITY_BYTES_MAX else f"{kind}:sha256:{_sha256(encoded)}"


def _sha256(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
