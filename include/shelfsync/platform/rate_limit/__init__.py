"""The shared request allowance: a maximum of requests per minute over all processes, the most urgent work first."""

from __future__ import annotations

from shelfsync.platform.rate_limit.gate import RateLimiter

__all__ = ["RateLimiter"]
