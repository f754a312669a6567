"""What a webhook body says, read as tolerantly as it has to be; where it is silent, nothing is guessed.

A job event is {job_id, status, download_url, platform_vendor_id} in one of several spellings; an order event is the order
itself, without an envelope (interface.md 6, field notes).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from partner_api.reading import DIGITS_MAX, decimal
from shelfsync.orders.bounds import TEXT_LENGTH_MAX, excess
from shelfsync.orders.personal import parted

if TYPE_CHECKING:
    from decimal import Decimal

NESTING_MAX = 64
IDENTITY_BYTES_MAX = 512
"""Longer than any genuine one, and far below what an index of PostgreSQL takes (2,704 bytes)."""
SETTLED = ("COMPLETED", "FAILED")


class UnreadableEventError(ValueError):
    """The body is no event: no JSON, no object, or one that two readers would read differently. Says why, never quotes it."""


@dataclass(frozen=True, slots=True)
class Received:
    """An event as it came. `identity` is the same when the same event comes again."""

    kind: Literal["job", "order", "unknown"]
    identity: str
    platform_job_id: str | None
    vendor: str | None
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class JobWord:
    """What one event says of a job. `status`: in capitals; each is None where the event does not say."""

    status: str | None
    download_url: str | None = field(repr=False)
    vendor: str | None
    feedback: Any = field(repr=False)

    @property
    def is_settled(self) -> bool:
        """True when the platform says that the job has ended, well or badly."""
        return self.status in SETTLED


def read(body: bytes) -> Received:
    """The event in a body; UnreadableEventError when there is none.

    What is neither a job's nor an order's is kept as unknown: a platform may send more than its document says.
    """
    event = parse(body)
    order_id = _text(event.get("order_id"))
    if (order_id is not None or isinstance(event.get("order_id"), str)) and (
        why := excess(parted(event)[0])
    ) is not None:
        raise UnreadableEventError(f"is an order whose {why}")
    if order_id is not None:
        status, updated_at = _text(event.get("status")), _text(_object(event.get("sys")).get("updated_at"))
        version = (status or "", updated_at) if updated_at else (_sha256(body),)
        store = _text(_object(event.get("client")).get("store_id")) or _text(event.get("store_id"))
        return Received("order", _identity("order", order_id, *version), None, store, body)
    job_id = _text(event.get("job_id"))
    if job_id is not None:
        meaning = json.dumps(
            event, sort_keys=True, separators=(",", ":"), default=str
        )  # another order of keys says the same
        identity = _identity("job", job_id, _sha256(meaning.encode()))
        return Received("job", identity, job_id, job_word(event).vendor, body)
    return Received("unknown", _identity("unknown", _sha256(body)), None, None, body)


def job_word(event: dict[str, Any]) -> JobWord:
    """A parsed job event in one spelling."""
    result = _object(event.get("result"))
    status = _text(event.get("status")) or _text(event.get("job_status"))
    links = (event.get(name) or result.get(name) for name in ("download_url", "downloadURL"))
    return JobWord(
        status=None if status is None else status.upper(),
        download_url=next((link for link in links if isinstance(link, str)), None),
        vendor=_text(event.get("platform_vendor_id")) or _text(event.get("vendor_id")),
        feedback=result.get("item_level_feedback"),
    )


def parse(body: bytes) -> dict[str, Any]:
    """The object in a body, its fractions exact: the one reading, for whoever receives a body and whoever uses it.

    NaN and Infinity are not JSON; a key with two values is ambiguous; depth and digits are bounded. A fraction beyond all magnitudes
    becomes null.
    """
    try:
        event = json.loads(
            body,
            object_pairs_hook=_object_of_pairs,
            parse_constant=_no_constant,
            parse_int=_whole_number,
            parse_float=_fraction,
        )
    except UnreadableEventError:
        raise
    except RecursionError:
        raise UnreadableEventError("is nested too deeply") from None
    except ValueError:  # no JSON, or no text; its message would quote the body
        raise UnreadableEventError("is not JSON") from None
    if not isinstance(event, dict):
        raise UnreadableEventError("is not a JSON object")
    if body.count(b"[") + body.count(b"{") > NESTING_MAX and _depth_exceeds(event, NESTING_MAX):
        raise UnreadableEventError("is nested too deeply")
    return event


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs) and any(made[key] != value for key, value in pairs):
        raise UnreadableEventError("has a key with two values")
    return made


def _no_constant(_name: str) -> Any:
    raise UnreadableEventError("has a number that is none")


def _whole_number(text: str) -> int:
    if len(text) > DIGITS_MAX:
        raise UnreadableEventError("has a number of too many digits")
    return int(text)


def _fraction(text: str) -> Decimal | None:
    if len(text) > DIGITS_MAX:
        raise UnreadableEventError("has a number of too many digits")
    return decimal({"value": text}, "value")


def _depth_exceeds(event: Any, most: int) -> bool:
    """Without recursion, which is what it guards."""
    level = [event]
    for _ in range(most):
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    """A word or a whole number as text that a database can hold; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    if not 0 < len(text) <= TEXT_LENGTH_MAX or "\x00" in text or not _is_encodable(text):
        return None
    return text


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _identity(kind: str, *parts: str) -> str:
    """As it reads, or its digest where an index could not hold it."""
    identity = ":".join((kind, *parts))
    encoded = identity.encode()
    return identity if len(encoded) <= IDENTITY_BYTES_MAX else f"{kind}:sha256:{_sha256(encoded)}"


def _sha256(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
