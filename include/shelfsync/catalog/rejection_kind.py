"""rejection_kind: the kind of a rejection by the platform's text, which decides what releases it (`rejection_retry`).

The platform lists its texts nowhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS = {
    "for_now": "temporar|try again|retry|timeout|timed out|service unavailable|currently unavailable|internal error|internal server"
    "|unknown error|unknown exception|unknown failure|unknown problem|unknown reason|busy|locked|too many|rate limit",
    "unknown_sku": "not found|unknown|does not exist|doesn't exist|no such|not exist|not part of|not in the catalog|not in catalog"
    "|not available in the catalog|not available in catalog|unavailable in the catalog|unavailable in catalog",
    "invalid_value": "invalid|not valid|must be|must not|not allowed|format|negative|too long|too large|too small|out of range"
    "|greater than|less than|malformed|required|missing",
}
"""Kind -> keywords in the platform's text, in the order in which they are looked for. `warehouse.rejection` has the operator's action.

`unclear` is every other text, and an ambiguous one: a bare `conflict`, `unavailable` or `internal` may be about the moment or about the
value, so the SKU is tried again. `drifted` is for no text of the platform: the step reconcile gives it to a SKU whose drift returned after
it was resent.
"""


def kind_of(reason: str | None, words: Mapping[Any, Sequence[str]] | None = None, *, otherwise: str = "unclear") -> str:
    """The kind's word for a reason in the platform's words; `words` are further ones by kind and go first."""
    folded = (reason or "").casefold()
    ours = {str(kind): "|".join(re.escape(one.casefold()) for one in more) for kind, more in (words or {}).items()}
    for kind, keywords in (*ours.items(), *KINDS.items()):
        if keywords and re.search(rf"(?<!\w)(?:{keywords})", folded):  # a word begins so: `retry` is not in `entry`
            return kind
    return otherwise
