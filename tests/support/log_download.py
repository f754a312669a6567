"""A log of a job as a platform serves it, and its download."""

from __future__ import annotations

import io
from typing import Any

RESULTS = "/v2/chains/demo-chain/catalog/downloads"
LOG = b'"sku","state","errors"\n' + b"".join(b'"%d","success","null"\n' % number for number in range(2000))


def fetch(client: Any, server: Any, path: str = f"{RESULTS}/log.csv") -> tuple[Any, bytes]:
    """What the client returns of a download from a raw server, and the bytes that it wrote."""
    file = io.BytesIO()
    done = client.download(server.base_url + path, file)
    return done, file.getvalue()
