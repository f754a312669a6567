"""What a quantity does on the platform, and which ones need not be sent."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  pydantic reads annotations
from typing import Annotated, Literal

from pydantic import Field

from shelfsync.settings.section import Section

Pieces = Annotated[int, Field(ge=0)]


class EffectSettings(Section):
    """The platform's sales buffers, as far as they are known here (docs/effect.md)."""

    spare: Literal["known", "learned", "off"] = "known"
    """Quantities that change nothing for a customer wait for the full sync: where the buffer is `known`, also where it was `learned`, or never."""
    sales_buffer: Pieces | None = None
    """The buffer of every product of which nothing more special is said; unset: not known, so everything is sent."""
    vendor_buffers: dict[str, Pieces] = Field(default_factory=dict)
    """Vendor -> buffer: `{"store-001": 2}`."""
    category_buffers: dict[str, Pieces] = Field(default_factory=dict)
    """Category, as the ERP's column `category` says it -> buffer; wins over the vendor's."""
    buffers_file: Path | None = None
    """A CSV with the columns vendor, category, sku, sales_buffer; an empty cell fits any. Wins over the settings above."""
    at_buffer: Literal["activates", "deactivates"] = "activates"
    """What a quantity equal to the buffer does; the interface says it activates, other sources disagree."""
