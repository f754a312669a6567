"""Settings for what the published interface leaves open or where platforms differ. Each default was observed on a live platform.

docs/reference/interface-dialects.md explains each setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of one platform. Paths are below the base address; the client fills in `{chain_id}` and the like, percent-encoded."""

    token_path: str = "/v2/oauth/token"  # noqa: S105  a path, no secret
    token_body: Literal["form", "json"] = "form"  # noqa: S105
    token_lifetime_s: float = 7200.0
    """Used if the answer states no lifetime of the token; also the longest lifetime that the client accepts (interface.md 5.3)."""
    token_margin_s: float = 300.0
    """The client renews a token so long before it expires, or a tenth of its lifetime before, whichever is less."""

    catalog_path: str = "/v2/chains/{chain_id}/vendors/{vendor_id}/catalog"
    categories_path: str = "/v2/chains/{chain_id}/vendors/{vendor_id}/categories"
    export_path: str = "/v2/chains/{chain_id}/vendors/{vendor_id}/catalog/export"
    creation_path: str = "/v2/chains/{chain_id}/catalog"
    job_status_path: str = "/v2/chains/{chain_id}/catalog/jobs/{job_id}"
    """Empty: this platform has no such call."""
    promotion_path: str = "/v2/chains/{chain_id}/promotion"
    promotion_status_path: str = "/v2/chains/{chain_id}/promotion/jobs/{job_id}"
    """Empty: this platform has no such call."""
    order_path: str = "/v2/chains/{chain_id}/orders/{order_id}"
    history_paths: tuple[str, ...] = (
        "/v2/chains/{chain_id}/vendors/{vendor_id}",
        "/v2/chains/{chain_id}/vendors/{vendor_id}/orders",
    )
    """Tried in this order while the platform answers 404; the client remembers the path that answers."""
    outlet_status_path: str = "/v2/chains/{chain_id}/vendors/{vendor_id}/status"
    """Empty: this platform has no such call; the connection test then lists one product."""

    result_paths: tuple[str, ...] = ()
    """Paths of the platform itself that hold logs and exports. The client then follows a link to no other path of it.

    Empty: not known. Then a link may lead to any path except those that answer something else: the paths above, and all below the orders.
    """

    @property
    def paths_of_operations(self) -> tuple[str, ...]:
        """Paths that serve something other than a log or export, with their placeholders; `…` at the end: all paths below it too."""
        exact = (
            *(self.catalog_path, self.categories_path, self.export_path, self.creation_path, self.job_status_path),
            *(self.promotion_status_path, self.outlet_status_path, *self.history_paths),
        )
        below = (self.token_path, self.promotion_path, self.order_path.rpartition("/")[0], *self.history_paths[1:])
        return (*(path for path in exact if path), *(f"{path}…" for path in below if path))

    body_max_bytes: int = 100_000_000
    """Of one catalog update (interface.md 8), in decimal megabytes, the safe reading."""
    listing_page_size: int = 500
    pages_max: int = 200
    """The client reads no more pages of a listing or history, and marks it incomplete."""
    answer_max_bytes: int = 16 * 1024 * 1024
    """Of one JSON answer, expanded."""
    retry_after_max_s: float = 3600.0
    """The client shortens a longer wait to this."""
