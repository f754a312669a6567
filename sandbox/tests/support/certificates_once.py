"""Certificate authorities, read once a process: httpx reads them for each client, for 30 ms of CPU, and hardly a server of the tests has TLS."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    import ssl

_names = httpx.HTTPTransport.__init__.__globals__  # httpx's own, or those of what stands in its place
_make = _names["create_ssl_context"]


@functools.cache
def _read(trust_env: bool, *_where: str | None) -> ssl.SSLContext:
    context: ssl.SSLContext = _make(trust_env=trust_env)
    return context


def _context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    if verify is True and cert is None:
        return _read(trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    context: ssl.SSLContext = _make(verify=verify, cert=cert, trust_env=trust_env)
    return context


_names["create_ssl_context"] = _context
