"""For a Python that came without pip: fetches the wheel of pip that requirements-build.txt pins, checked against its hash.

A wheel of pip runs as it is: `python pip.whl/pip install ...`. Standard library alone. Usage: fetch_pip.py TARGET
"""

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

_LINK = re.compile(r'<a\b[^>]*\bhref="([^"#]+/pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)(?:#[^"]*)?"', re.IGNORECASE)
PINS = Path(__file__).resolve().parent.parent / "requirements-build.txt"


def index_url() -> str:
    """Where pip looks: its variable, then its files."""
    if named := os.environ.get("PIP_INDEX_URL") or os.environ.get("UV_DEFAULT_INDEX"):
        return named
    files = configparser.ConfigParser(interpolation=None)
    files.read(["/etc/pip.conf", Path.home() / ".pip/pip.conf", Path.home() / ".config/pip/pip.conf"], "utf-8")
    if configured := files.get("global", "index-url", fallback=None):
        return configured
    sys.exit("this Python has neither pip nor venv: install python3-venv, or name a package index in PIP_INDEX_URL")


def pinned(text: str) -> tuple[str, set[str]]:
    """Version of pip and the SHA-256 of its files in a pinned requirements file."""
    block = re.search(r"^pip==(\S+)((?: \\\n\s+--hash=sha256:[0-9a-f]{64})+)", text, re.MULTILINE)
    if block is None:
        sys.exit(f"{PINS.name} pins no pip")
    return block[1], set(re.findall(r"sha256:([0-9a-f]{64})", block[2]))


def wheel_of(version: str, page: str, address: str) -> str:
    """The address of this version's wheel on a page of the simple index."""
    for link, listed in _LINK.findall(page):
        if listed == version:
            return urllib.parse.urljoin(address, html.unescape(link))
    sys.exit(f"{address} lists no wheel of pip {version}")


def main() -> None:
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE"))
    version, digests = pinned(PINS.read_text("utf-8"))
    address = index_url().rstrip("/") + "/pip/"
    try:
        with urllib.request.urlopen(address, timeout=60, context=context) as answer:  # noqa: S310  the user's own index
            link = wheel_of(version, answer.read().decode("utf-8"), address)
        with urllib.request.urlopen(link, timeout=180, context=context) as answer:  # noqa: S310
            wheel = answer.read()
    except OSError as error:
        sys.exit(f"{urllib.parse.urlsplit(address).hostname}: {error}")
    if hashlib.sha256(wheel).hexdigest() not in digests:
        sys.exit(f"the index's wheel of pip {version} is not the one that {PINS.name} pins")
    Path(sys.argv[1]).write_bytes(wheel)


if __name__ == "__main__":
    main()
