"""A plugin of pytest, `-p on_httpx2`: whatever imports httpx gets its continuation httpx2 instead (scripts/test_httpx2.sh)."""

from __future__ import annotations

import sys

import httpx2

sys.modules["httpx"] = httpx2


def pytest_report_header() -> str:
    from partner_api.http_library import httpx

    assert httpx is httpx2
    return f"httpx is httpx2 {httpx2.__version__}"
