"""What makes a promotion the same one: display name, vendors, start and end. If one of them changes, the promotion is created anew."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from shelfsync.promotions.head import instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.promotions.head import Head


def identity(head: Head, vendors: Iterable[str]) -> str:
    """The SHA-256, in hexadecimal: the platform distinguishes promotions by these (field notes, Promotions)."""
    parts = [head.display_name, sorted(set(vendors)), instant(head.start), instant(head.end)]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
