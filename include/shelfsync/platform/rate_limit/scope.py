"""What shares a rate limit: SHELFSYNC_RATE_LIMIT__SCOPE, with the name of this token or this chain where it counts by one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from shelfsync.settings import RateLimitSettings, Settings


def counted(settings: Settings) -> RateLimitSettings:
    """The rate limit's settings with the full scope: `token` and `chain` become the name of this token, this chain.

    `egress` and every other name stay as they are.
    """
    platform = settings.platform
    host = urlsplit(platform.base_url or "").netloc.lower()
    if settings.rate_limit.scope == "chain":
        scope = f"chain {host}/{platform.chain or ''}"
    elif settings.rate_limit.scope == "token":
        static = platform.token.get_secret_value() if platform.token is not None else None
        owner = f"client {platform.client_id or ''}" if static is None else f"static {static}"
        scope = f"token {host}/{hashlib.sha256(owner.encode()).hexdigest()[:16]}"
    else:
        scope = settings.rate_limit.scope
    return settings.rate_limit.model_copy(update={"scope": scope})
