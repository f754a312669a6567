"""The shared request allowance: at most so many requests a minute over all processes, the dearest work first."""

from __future__ import annotations

from shelfsync.budget.gate import AsyncRequestBudget, RequestBudget

__all__ = ["AsyncRequestBudget", "RequestBudget"]
