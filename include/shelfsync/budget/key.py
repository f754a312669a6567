"""What the platform counts requests by (interface.md 8 leaves it open): everything behind one address, one token, or one chain."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from shelfsync.settings import BudgetSettings, Settings


def counted(settings: Settings) -> BudgetSettings:
    """The budget's settings with its key spelled out: `token` and `chain` become the name of this token, this chain.

    `egress`, and every name of one's own, stays as it is.
    """
    platform = settings.platform
    host = urlsplit(platform.base_url or "").netloc.lower()
    if settings.budget.key == "chain":
        key = f"chain {host}/{platform.chain or ''}"
    elif settings.budget.key == "token":
        static = platform.token.get_secret_value() if platform.token is not None else None
        owner = f"client {platform.client_id or ''}" if static is None else f"static {static}"
        key = f"token {host}/{hashlib.sha256(owner.encode()).hexdigest()[:16]}"
    else:
        key = settings.budget.key
    return settings.budget.model_copy(update={"key": key})
