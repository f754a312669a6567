"""rejection: the kind of a rejection by the platform's text, which decides what releases it. The platform lists its texts nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Kind:
    """`word` is stable and for machines; `words` are looked for in the platform's text. `warehouse.rejection` has the operator's action."""

    word: str
    words: tuple[str, ...]


KINDS: tuple[Kind, ...] = (
    Kind(
        "for_now",
        (
            "temporar",
            "try again",
            "retry",
            "timeout",
            "timed out",
            "service unavailable",
            "currently unavailable",
            "internal error",
            "internal server",
            "unknown error",
            "unknown exception",
            "unknown failure",
            "unknown problem",
            "unknown reason",
            "busy",
            "locked",
            "too many",
            "rate limit",
        ),
    ),
    Kind(
        "unknown_sku",
        (
            "not found",
            "unknown",
            "does not exist",
            "doesn't exist",
            "no such",
            "not exist",
            "not part of",
            "not in the catalog",
            "not in catalog",
            "not available in the catalog",
            "not available in catalog",
            "unavailable in the catalog",
            "unavailable in catalog",
        ),
    ),
    Kind(
        "invalid_value",
        (
            "invalid",
            "not valid",
            "must be",
            "must not",
            "not allowed",
            "format",
            "negative",
            "too long",
            "too large",
            "too small",
            "out of range",
            "greater than",
            "less than",
            "malformed",
            "required",
            "missing",
        ),
    ),
    Kind(
        "unclear",
        (),
    ),
)
"""In the order in which they are looked for. The last is for every other text, and for ambiguous ones: a bare `conflict`, `unavailable` or
`internal` may be about the moment or about the value, so the SKU is tried again. `drifted` is for no text of the platform: the step
reconcile gives it to a SKU whose drift returned after it was resent.
"""


def kind_of(reason: str | None, words: Mapping[Any, Sequence[str]] | None = None, *, otherwise: str = "unclear") -> str:
    """The kind's word for a reason in the platform's words; `words` are further ones by kind and go first."""
    text = (reason or "").casefold()
    for word, more in (words or {}).items():
        if any(_stands(one, text) for one in more):
            return str(word)
    return next((kind.word for kind in KINDS if any(_stands(one, text) for one in kind.words)), otherwise)


def _stands(words: str, text: str) -> bool:
    """At the beginning of a word: `retry` is not in `entry`."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}", text) is not None
