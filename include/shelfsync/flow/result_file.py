"""The file behind a job's links: a log or an export, whichever of the links leads to one that can be used."""

from __future__ import annotations

import io
import logging
import tempfile
from typing import TYPE_CHECKING, TypeVar

from shelfsync.flow.hear import aside
from shelfsync.flow.isolation import blames_the_file, reason_of, stops_every_link

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.flow.hear import News, ResultLink
    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

T = TypeVar("T")


def first_usable(
    parts: Parts,
    links: Sequence[ResultLink],
    use: Callable[[str], T],
    ask: Callable[[], News],
    *,
    what: str,
    else_nothing: bool = False,
) -> T | None:
    """What `use` makes of the first of the links whose file can be used, the best first; None when the job has no link at all.

    An event whose link leads to no such file is set aside, so that only a later event or the platform's own answer counts. Where no
    link will do, the platform is asked once for the one it has now. `else_nothing`: the job's result is known without a file, so
    the platform is only asked when a link failed, and no failure is raised.
    """
    trouble: Exception | None = None
    seen: set[str] = set()
    asked = False
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
                    aside(parts, link.event_id, reason_of(error))
                trouble = error
        if asked or (trouble is None and else_nothing):
            break
        asked, links = True, [link for link in ask().links if link.url not in seen]
    if trouble is not None and not else_nothing:
        raise trouble
    return None


def download(parts: Parts, url: str, kind: str, vendor: str, *, lane: str) -> str:
    """Fetches the file behind a link into the lake, whole or not at all; its path."""
    with tempfile.TemporaryFile() as spool:
        parts.open_platform().download(url, spool, lane=lane)
        spool.seek(0)
        with parts.lake.staged(kind, vendor, ".csv") as staged:
            while piece := spool.read(io.DEFAULT_BUFFER_SIZE * 16):
                staged.file.write(piece)
    return staged.path
