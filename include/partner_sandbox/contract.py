"""The interface and the control plane as OpenAPI documents, as they are served."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "openapi.yaml"


@functools.cache
def _interface() -> dict[str, Any]:
    return dict(yaml.load(FILE.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506  a safe one


def interface(base_url: str) -> dict[str, Any]:
    """The interface of the partner, of every dialect together, at this address."""
    return {**_interface(), "servers": [{"url": base_url}]}
