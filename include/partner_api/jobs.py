"""Asynchronous work of the platform (interface.md 2.2, 4.6): the receipt of a job, and its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partner_api import answers, json_values
from partner_api.call import Call
from partner_api.errors import NotEnabledError, UnexpectedAnswerError
from partner_api.exchange import judged

if TYPE_CHECKING:
    from partner_api.json_values import Raw
    from partner_api.session import Session

FINISHED = frozenset({"COMPLETED", "FAILED", "DUPLICATE"})


@dataclass(frozen=True, slots=True)
class Job:
    """The receipt of accepted work: the platform has done nothing yet, and a completed job may still reject items.

    `job_id` and `status` are None only if the platform did the work at once (an older form answers 200 {sku}).
    """

    job_id: str | None
    status: str | None
    duplicated_products: tuple[str, ...] = ()
    raw: Raw = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, raw: Raw) -> Job:
        return cls(
            json_values.identifier(raw, "job_id", "jobId", "id"),
            job_state(raw),
            json_values.texts(raw.get("duplicated_products") or []),
            raw,
        )


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why the platform rejected an item, in its own text."""

    data: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ItemFeedback:
    """The result of one item in the status call."""

    sku: str | None
    status: str | None
    rejections: tuple[Rejection, ...]
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> ItemFeedback:
        rejections = tuple(
            Rejection(json_values.text(entry, "rejected_data"), json_values.text(entry, "rejected_reason"))
            for entry in json_values.mappings(raw.get("rejection_reasons"))
        )
        return cls(json_values.text(raw, "sku"), json_values.text(raw, "status", "state"), rejections, raw)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The state of a job. `status` is upper case and may be a value unknown to the client; `job_id` is the requested one."""

    job_id: str
    status: str | None
    download_url: str | None = field(repr=False)
    feedback: tuple[ItemFeedback, ...]
    duplicated_products: tuple[str, ...]
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, job_id: str, raw: Raw) -> JobStatus:
        result = json_values.mapping(raw.get("result"))
        feedback = result.get("item_level_feedback", raw.get("item_level_feedback"))
        duplicated = result.get("duplicated_products", raw.get("duplicated_products")) or []
        return cls(
            job_id,
            job_state(raw),
            json_values.text(raw, "download_url", "downloadURL", "downloadUrl")
            or json_values.text(result, "download_url", "downloadURL", "downloadUrl"),
            tuple(ItemFeedback.read(entry) for entry in json_values.mappings(feedback)),
            json_values.texts(duplicated),
            raw,
        )

    @property
    def is_finished(self) -> bool:
        """Whether the platform has finished the job. A completed job may contain rejected items."""
        return self.status in FINISHED


def job_state(raw: Raw) -> str | None:
    """A job's state under either name, in upper case."""
    value = json_values.text(raw, "job_status", "status")
    return value.upper() if value else None


def job_status(session: Session, job_id: str, *, priority: str = "catalog") -> JobStatus:
    """The state of a job of any kind except promotions.

    NotEnabledError: the dialect has no such call. NotFoundError: no such job, or no such path, which a platform may lack.
    """
    path = session.dialect.job_status_path
    return JobStatus.read(job_id, status_body(session, "job_status", path, job_id, priority))


def status_body(session: Session, operation: str, path: str, job_id: str, priority: str) -> Raw:
    """What the GET of a job's status at this path of the dialect returns; UnexpectedAnswerError if it is about another job."""
    if not path:
        raise NotEnabledError(
            "the dialect has no path for it",
            operation=operation,
            remedy="Wait for the webhook, or set the path in the dialect",
        )
    call = Call(operation, priority, (), "GET", session.url(path, job_id=job_id), safe_to_repeat=True)
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    named = json_values.text(body, "job_id", "jobId")
    if named is not None and named != job_id:
        raise UnexpectedAnswerError(
            f"the client requested job {job_id} and {named[:80]!r} came", **answers.of(answer, call, session)
        )
    return body
