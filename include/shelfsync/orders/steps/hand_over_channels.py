"""The channels to a store: a signed call, files, or a table in its database (`outbox`). `open_channel` opens the one that is configured.

Signed call: POST with the document, signed with a shared secret; any 2xx means that the store has it. Files: see `hand_over_files`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError
from shelfsync.orders.hand_over_channel import URL
from shelfsync.orders.steps.hand_over_files import Files
from shelfsync.orders.steps.hand_over_http import SignedHttp

if TYPE_CHECKING:
    from shelfsync.orders.hand_over_channel import HandOverChannel
    from shelfsync.settings import Settings


def open_channel(settings: Settings) -> HandOverChannel | None:
    """The configured channel, or None. ConfigurationError: a setting of it is missing. It does not connect yet."""
    chosen = settings.orders
    if not chosen.hands_over:
        return None
    if chosen.hand_over == "outbox":
        from shelfsync.orders.steps.hand_over_table import Outbox

        url = chosen.hand_over_url or settings.erp.url
        if url is None:
            raise ConfigurationError(URL, "is not set, and neither is the ERP's", "Name the database of the outbox.")
        return Outbox(url.get_secret_value(), chosen.hand_over_table, chosen.hand_over_timeout_s)
    if chosen.hand_over_url is None:
        what = "the address to call" if chosen.hand_over == "http" else "the folder"
        raise ConfigurationError(URL, "is not set", f"Name {what}.")
    if chosen.hand_over == "files":
        return Files(chosen.hand_over_url.get_secret_value())

    if chosen.hand_over_secret is None:
        raise ConfigurationError(
            "SHELFSYNC_ORDERS__HAND_OVER_SECRET", "is not set", "Choose one, and give it to the store's system."
        )
    return SignedHttp(
        chosen.hand_over_url.get_secret_value(),
        chosen.hand_over_secret,
        chosen.hand_over_timeout_s,
        settings.platform.private_hosts,
    )
