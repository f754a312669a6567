"""Where the published interface is silent or two platforms differ: one setting each, with the default that was seen live.

docs/interface-dialects.md explains each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one platform speaks. Paths are below the base address; `{chain_id}` and the like are filled in, percent-encoded."""

    token_path: str = "/v2/oauth/token"  # noqa: S105  a path, no secret
    token_body: Literal["form", "json"] = "form"  # noqa: S105
    token_lifetime_s: float = 7200.0
    """Used when the answer does not say how long a token lives, and the longest that is believed (interface.md 5.3)."""
    token_margin_s: float = 300.0
    """A token is renewed so long before its end, or a tenth of its life before it, whichever is less."""

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
    """Tried in this order while a 404 comes; the one that answered is remembered."""
    outlet_status_path: str = "/v2/chains/{chain_id}/vendors/{vendor_id}/status"
    """Empty: this platform has no such call; the connection test then lists one product."""

    result_paths: tuple[str, ...] = ()
    """Paths of the platform itself below which logs and exports lie; a link to any other path of it is then refused.

    Empty: not known. Then a link may lead to any path but those that answer something else: the paths above, and all below the orders.
    """

    @property
    def paths_of_operations(self) -> tuple[str, ...]:
        """Paths that answer to something else than a log or export, with their placeholders; `…` at the end: all below it too."""
        exact = (
            *(self.catalog_path, self.categories_path, self.export_path, self.creation_path, self.job_status_path),
            *(self.promotion_status_path, self.outlet_status_path, *self.history_paths),
        )
        below = (self.token_path, self.promotion_path, self.order_path.rpartition("/")[0], *self.history_paths[1:])
        return (*(path for path in exact if path), *(f"{path}…" for path in below if path))

    body_bytes_max: int = 100_000_000
    """Of one catalog update (interface.md 8), in decimal megabytes, the safe reading."""
    listing_page_size: int = 500
    pages_max: int = 200
    """A listing or history that has not ended by then is cut, and says so."""
    answer_bytes_max: int = 16 * 1024 * 1024
    """Of one JSON answer, expanded."""
    retry_after_max_s: float = 3600.0
    """A longer wait than this is not believed and becomes this."""


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Ceilings of one log or export."""

    bytes_max: int = 512 * 1024 * 1024
    """Expanded."""
    ratio_max: float = 100.0
    """Expanded to compressed, once `ratio_grace_bytes` have come out."""
    ratio_grace_bytes: int = 8 * 1024 * 1024
    total_s: float = 600.0
    redirects_max: int = 3
