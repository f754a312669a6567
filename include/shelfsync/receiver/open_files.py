"""How many connections the limit of open files allows."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger(__name__)

ACCEPTED_AT_ONCE = 16
"""Between two such rounds the receiver reads what the callers have sent: a crowd of new connections delays no request for long."""
DESCRIPTORS_OF_OURS = 64 + 4 * ACCEPTED_AT_ONCE
"""Descriptors of the receiver itself: database, log, Python, and connections that are accepted while others are being closed."""


def allow_connections(most: int) -> int:
    """Raises the limit of open files as far as allowed; returns how many connections fit, at most `most`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + DESCRIPTORS_OF_OURS
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return most
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    room = min(most, max(allowed - DESCRIPTORS_OF_OURS, allowed // 4))
    if room < most:
        log.warning("inbox: room for %d connections only: the limit of open files is %d", room, hard)
    return room
