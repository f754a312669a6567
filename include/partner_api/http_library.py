"""The HTTP library, by its one import: every module of this project takes `httpx` from here.

A move to its continuation httpx2 is this line: `import httpx2 as httpx` (docs/explanation/decisions).
"""

from __future__ import annotations

import httpx

__all__ = ["httpx"]
