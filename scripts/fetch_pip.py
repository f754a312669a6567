"""For a Python that came without pip: fetches pip's wheel from the package index, checked against the index's hash.

A wheel of pip runs as it is: `python pip.whl/pip install ...`. Standard library alone. Usage: fetch_pip.py TARGET
"""

# ruff: noqa: INP001  a script, not a package
from __future__ import annotations

import configparser
import hashlib
import html
import os
import re
import ssl
import sys
import urllib.parse
import urllib.request
from pathlib import Path

_LINK = re.compile(
    r'<a\b[^>]*\bhref="([^"#]+pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)#sha256=([0-9a-f]{64})"', re.IGNORECASE
)


def index_url() -> str:
    """Where pip was told to look: its variable, then its files."""
    if named := os.environ.get("PIP_INDEX_URL") or os.environ.get("UV_DEFAULT_INDEX"):
        return named
    files = configparser.ConfigParser(interpolation=None)
    files.read(["/etc/pip.conf", Path.home() / ".pip/pip.conf", Path.home() / ".config/pip/pip.conf"], "utf-8")
    if configured := files.get("global", "index-url", fallback=None):
        return configured
    sys.exit("this Python has neither pip nor venv: install python3-venv, or name a package index in PIP_INDEX_URL")


def newest(page: str, address: str) -> tuple[str, str]:
    """Address and SHA-256 of the newest final wheel that a page of the simple index lists."""
    found = [
        (tuple(map(int, version.split("."))), urllib.parse.urljoin(address, html.unescape(link)), digest)
        for link, version, digest in _LINK.findall(page)
    ]
    if not found:
        sys.exit(f"{address} lists no wheel of pip")
    return max(found)[1:]


def main() -> None:
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE"))
    address = index_url().rstrip("/") + "/pip/"
    try:
        with urllib.request.urlopen(address, timeout=60, context=context) as answer:  # noqa: S310  the user's own index
            link, digest = newest(answer.read().decode("utf-8"), address)
        with urllib.request.urlopen(link, timeout=180, context=context) as answer:  # noqa: S310
            wheel = answer.read()
    except OSError as error:
        sys.exit(f"{urllib.parse.urlsplit(address).hostname}: {error}")
    if hashlib.sha256(wheel).hexdigest() != digest:
        sys.exit(f"pip's wheel is not what the index says it is ({digest})")
    Path(sys.argv[1]).write_bytes(wheel)


if __name__ == "__main__":
    main()
