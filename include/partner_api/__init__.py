"""A typed client of the partner interface for catalog, promotions and order picking."""

from __future__ import annotations

from partner_api.client import PartnerClient
from partner_api.dialect import Dialect
from partner_api.download import Downloaded
from partner_api.download_limits import DownloadLimits
from partner_api.errors import PartnerError
from partner_api.sender import StreamedBody
from partner_api.session import Gate
from partner_api.tokens import ClientCredentials, HeldToken, MemoryTokenStore, StaticToken, TokenStore

__all__ = [
    "ClientCredentials",
    "Dialect",
    "DownloadLimits",
    "Downloaded",
    "Gate",
    "HeldToken",
    "MemoryTokenStore",
    "PartnerClient",
    "PartnerError",
    "StaticToken",
    "StreamedBody",
    "TokenStore",
]
