"""Opens the channel to stores that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError
from shelfsync.orders.handover.channel import URL

if TYPE_CHECKING:
    from shelfsync.orders.handover.channel import HandOverChannel
    from shelfsync.settings import Settings


def open_channel(settings: Settings) -> HandOverChannel | None:
    """The configured channel, or None. ConfigurationError: a setting of it is missing. It does not connect yet."""
    chosen = settings.orders
    if not chosen.hands_over:
        return None
    if chosen.hand_over == "outbox":
        from shelfsync.orders.handover.outbox import Outbox

        url = chosen.hand_over_url or settings.erp.url
        if url is None:
            raise ConfigurationError(URL, "is not set, and neither is the ERP's", "Name the database of the outbox.")
        return Outbox(url.get_secret_value(), chosen.hand_over_table, chosen.hand_over_timeout_s)
    if chosen.hand_over_url is None:
        what = "the address to call" if chosen.hand_over == "http" else "the folder"
        raise ConfigurationError(URL, "is not set", f"Name {what}.")
    if chosen.hand_over == "files":
        from shelfsync.orders.handover.files import Files

        return Files(chosen.hand_over_url.get_secret_value())
    from shelfsync.orders.handover.signed_http import SignedHttp

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
