"""Alert `disk`: a disk of this machine is nearly full; another machine's watch does not end it."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
"""What tells this machine from others, until it is started again."""


def disk(context: Context, _: Connection) -> Found:
    """Disks of this machine that are nearly full, and of no other: the state folder's, and the lake's if it is a folder on another one."""
    found: dict[tuple[str, str], str] = {}
    places = [context.settings.home, *([Path(context.settings.lake)] if "://" not in context.settings.lake else [])]
    disks: set[int] = set()
    for place in places:
        try:
            disk, usage = place.stat().st_dev, shutil.disk_usage(place)
        except OSError:  # it is made by the first run
            continue
        if disk in disks:
            continue
        disks.add(disk)
        if usage.free < context.settings.alerts.disk_free_share * usage.total:
            found["disk", f"{place}{on_this_machine()}"] = (
                f"the disk of {place} at {platform.node()} has {usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.0f} GiB free"
            )
    return found


def on_this_machine() -> str:
    """What ends the subject of its disks: the same in every container of a machine, whatever the container is called."""
    try:
        name = BOOT_ID.read_text(encoding="ascii").strip()[:8]
    except OSError:  # no Linux
        name = platform.node()
    return f" on {name}"
