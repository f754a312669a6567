"""The file of a job's links: a log or an export, from the first link whose file can be used."""

from __future__ import annotations

import io
import logging
import tempfile
from typing import TYPE_CHECKING, TypeVar

from shelfsync.platform.jobs.job import blames_the_file, is_final, reason_of, stops_every_link
from shelfsync.platform.jobs.job_event import quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.context import Context
    from shelfsync.platform.jobs.poll import Report, ResultLink

log = logging.getLogger(__name__)

T = TypeVar("T")


def first_usable(
    context: Context,
    links: Sequence[ResultLink],
    use: Callable[[str], T],
    poll: Callable[[], Report],
    *,
    what: str,
    known_without: Callable[[Exception | None], bool] = lambda _trouble: False,
) -> T | None:
    """What `use` makes of the first of the links whose file can be used, the best first; None when the job has no link at all.

    An event whose link leads to no such file is quarantined, so that only a later event or the platform's own answer counts. Where no
    link will do, the platform is polled once for the one it has now. `known_without`: whether the job's result is known without a file,
    so that no failure is raised; None: whether it is so without a failure, and no poll is needed.
    """
    trouble: Exception | None = None
    seen: set[str] = set()
    polled = False
    while True:
        for link in links:
            seen.add(link.url)
            try:
                return use(link.url)
            except Exception as error:
                if stops_every_link(error):
                    raise
                log.error("%s: %s", what, reason_of(error))  # noqa: TRY400  expected, in a line
                if link.event_id is not None and blames_the_file(error):
                    quarantine(context, link.event_id, reason_of(error))
                if trouble is None or is_final(trouble):
                    trouble = error
        if polled or (trouble is None and known_without(None)):
            break
        polled, links = True, [link for link in poll().links if link.url not in seen]
    if trouble is not None and not known_without(trouble):
        raise trouble
    return None


def download(
    context: Context, url: str, kind: str, vendor: str, *, priority: str, max_bytes: int, max_s: float | None = None
) -> str:
    """Fetches the file of a link into the lake, whole or not at all; returns its path. Of a longer file nothing is kept."""
    with tempfile.TemporaryFile() as spool:
        context.open_platform().download(url, spool, priority=priority, max_bytes=max_bytes, max_s=max_s)
        spool.seek(0)
        with context.lake.staged(kind, vendor, ".csv") as staged:
            while piece := spool.read(io.DEFAULT_BUFFER_SIZE * 16):
                staged.file.write(piece)
    return staged.path
