"""Downloads side by side, ahead of their use: a slow host holds back the jobs of its own vendor, and no other (I10).

Only the downloads run on threads. Whoever reads the files works on one vendor after the other, in the order in which their files are there.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import logging
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from partner_api.errors import DownloadSlowError
from shelfsync.platform.jobs.job import reason_of
from shelfsync.platform.jobs.job_event import received_of
from shelfsync.platform.jobs.poll import known
from shelfsync.platform.jobs.result import download
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from shelfsync.context import Context
    from shelfsync.platform.jobs.job import Job

log = logging.getLogger(__name__)

T = TypeVar("T")
J = TypeVar("J", bound="Job")


@dataclass(frozen=True)
class File:
    """How the file of a job's link is fetched; see `download`."""

    kind: str
    priority: str
    max_bytes: int
    max_s: float | None = None


class Ahead:
    """The downloads that have begun, by job and link."""

    def __init__(self) -> None:
        self._files: dict[tuple[int, str], Future[str]] = {}
        self._of_vendor: dict[str, set[Future[str]]] = defaultdict(set)

    def add(self, vendor: str, job_id: int, url: str, download_of_it: Future[str]) -> None:
        self._files[job_id, url] = download_of_it
        self._of_vendor[vendor].add(download_of_it)

    def path(self, context: Context, job: Job, vendor: str, url: str, file: File) -> str:
        """The file of the link in the lake: the one that was fetched ahead, else it is fetched now. Raises what the download raised."""
        begun = self._files.pop((job.job_id, url), None)
        return _download(context, vendor, url, file) if begun is None else begun.result()

    def in_order(self, items: Iterable[T], vendor_of: Callable[[T], str]) -> Iterator[T]:
        """The items in the order in which their vendors' downloads end; first those without one."""
        waiting = []
        for item in items:
            if self._of_vendor.get(vendor_of(item)):
                waiting.append(item)
            else:
                yield item
        while waiting:
            left = []
            for item in waiting:
                if all(each.done() for each in self._of_vendor[vendor_of(item)]):
                    yield item
                else:
                    left.append(item)
            waiting = left
            running = {each for item in waiting for each in self._of_vendor[vendor_of(item)] if not each.done()}
            if running:
                wait(running, return_when=FIRST_COMPLETED)


@contextlib.contextmanager
def fetched_ahead(
    context: Context, jobs: Sequence[J], vendor_of: Callable[[J], str], file_of: Callable[[J], File]
) -> Iterator[Ahead]:
    """Begins to download the best link of each job that has ended: of a few vendors at once, and of each one file after the other.

    A single file is not ahead, and none is if they are to come one at a time.
    """
    ahead, at_once = Ahead(), context.settings.sync.downloads_at_once
    links = _links_of(context, jobs)
    if at_once == 1 or len(links) < 2:
        yield ahead
        return
    turns: dict[str, list[_Turn]] = defaultdict(list)
    for job in jobs:
        if (url := links.get(job.job_id)) is not None:
            turn = _Turn(url, file_of(job), Future())
            turns[vendor_of(job)].append(turn)
            ahead.add(vendor_of(job), job.job_id, url, turn.download)
    context.open_platform()
    with ThreadPoolExecutor(at_once, thread_name_prefix="download") as threads:
        try:
            for vendor, its in turns.items():
                threads.submit(contextvars.copy_context().run, _download_all, context, vendor, its)
            yield ahead
        finally:
            for turn in itertools.chain(*turns.values()):
                turn.download.cancel()
            threads.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class _Turn:
    """One file of a vendor."""

    url: str
    file: File
    download: Future[str]


def _download_all(context: Context, vendor: str, turns: Sequence[_Turn]) -> None:
    """Downloads a vendor's files. A host that was too slow once is asked for no further file: each would take as long."""
    too_slow: dict[str, DownloadSlowError] = {}
    for turn in turns:
        if not turn.download.set_running_or_notify_cancel():
            continue
        host = urlsplit(turn.url).netloc
        if host in too_slow:
            turn.download.set_exception(too_slow[host])
            continue
        try:
            path = _download(context, vendor, turn.url, turn.file)
        except BaseException as error:  # noqa: BLE001  it belongs to the thread that uses the file
            if isinstance(error, DownloadSlowError):
                too_slow[host] = error
            turn.download.set_exception(error)
        else:
            turn.download.set_result(path)


def _links_of(context: Context, jobs: Sequence[Job]) -> dict[int, str]:
    """The best link of each job that has ended and whose file is not there. A job of which nothing can be read has none."""
    without_file = [job for job in jobs if job.state == State.OPEN and job.result_path is None]
    links: dict[int, str] = {}
    try:
        with context.engine.connect() as connection:
            rows = received_of(context, connection, without_file)
    except Exception as error:  # noqa: BLE001  the step that works on the jobs meets it again and reports it (I10)
        log.debug("nothing is fetched ahead: %s", reason_of(error))
        return links
    for job in without_file:
        try:
            news = known(context, job, rows[job.job_id])
        except Exception as error:  # noqa: BLE001  as above
            log.debug("%s: nothing is fetched ahead: %s", job.name, reason_of(error))
            continue
        if news.ended and news.links:
            links[job.job_id] = news.links[0].url
    return links


def _download(context: Context, vendor: str, url: str, file: File) -> str:
    return download(context, url, file.kind, vendor, priority=file.priority, max_bytes=file.max_bytes, max_s=file.max_s)
