"""Asynchronous work of the platform (interface.md 2.2; the status call is of the field notes)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partner_api import reading

if TYPE_CHECKING:
    from partner_api.reading import Raw

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
            reading.identifier(raw, "job_id", "jobId", "id"),
            state(raw),
            reading.texts(raw.get("duplicated_products") or []),
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
            Rejection(reading.text(entry, "rejected_data"), reading.text(entry, "rejected_reason"))
            for entry in reading.mappings(raw.get("rejection_reasons"))
        )
        return cls(reading.text(raw, "sku"), reading.text(raw, "status", "state"), rejections, raw)


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
        result = reading.mapping(raw.get("result"))
        feedback = result.get("item_level_feedback", raw.get("item_level_feedback"))
        duplicated = result.get("duplicated_products", raw.get("duplicated_products")) or []
        return cls(
            job_id,
            state(raw),
            reading.text(raw, "download_url", "downloadURL", "downloadUrl")
            or reading.text(result, "download_url", "downloadURL", "downloadUrl"),
            tuple(ItemFeedback.read(entry) for entry in reading.mappings(feedback)),
            reading.texts(duplicated),
            raw,
        )

    @property
    def is_finished(self) -> bool:
        """Whether the platform has finished the job. A completed job may contain rejected items."""
        return self.status in FINISHED


def state(raw: Raw) -> str | None:
    """A job's state under either name, in upper case."""
    value = reading.text(raw, "job_status", "status")
    return value.upper() if value else None
