"""What differs between the kinds of jobs. Each package describes its own kind; `app` collects them in `Context.kinds`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection

    from partner_api import PartnerClient
    from shelfsync.platform.jobs.job import Job
    from shelfsync.platform.jobs.table import Kind
    from shelfsync.settings import Settings


@dataclass(frozen=True)
class Pace:
    """Seconds: until the first poll, at most between two, and until waiting ends. Each pause is twice the one before."""

    first_s: float
    max_s: float
    deadline_s: float

    def pause_s(self, polls: int) -> float:
        """How long to wait after so many polls."""
        return min(self.max_s, self.first_s * 2.0 ** (min(polls, 30) + 1))


@dataclass(frozen=True)
class Answer:
    """What a status call returned: the platform's state, a link to the result, per-SKU results, and the result itself as a file."""

    status: str | None
    result_url: str | None = None
    feedback: Any = None
    result: bytes | None = None


@dataclass(frozen=True)
class JobKind:
    """How jobs of one kind are found, polled and ended."""

    kind: Kind
    ended: frozenset[str]
    """The platform's states in which such a job has ended."""
    has_event: bool
    """The platform reports the end by an event as well; otherwise only a status call does."""
    pace: Callable[[Settings], Pace]
    has_status_call: Callable[[Settings], bool]
    not_found_is_absent: bool
    """A 404 from a status call that never worked means that the platform has no such call: there are too many jobs to poll each."""
    status: Callable[[PartnerClient, Any], Answer]
    """One status call about a job, charged to its priority."""
    read: Callable[[Connection, int], Job]
    of_run: Callable[[Connection, Any, list[str]], list[Job]]
    """The jobs of a run (its number or key) and some vendors."""
