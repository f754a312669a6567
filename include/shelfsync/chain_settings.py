"""Which settings each chain gives for itself, where an installation has several. All others may be given once for all chains."""

from __future__ import annotations

OWN_SECTIONS = ("erp", "promotions", "orders", "webhook", "was_alone")
OWN_SETTINGS = {
    "platform": ("chain", "client_id", "client_secret", "token"),
    "sync": ("vendors",),
    "alerts": ("heartbeat",),
}
"""What each chain gives for itself: with another chain's, it would send that chain's prices, to that chain's stores, or take its orders; and a
monitor that several chains call does not notice that one of them is dead."""
