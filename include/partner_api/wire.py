"""What goes over the wire. No input or output here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import httpx

from partner_api.errors import InvalidRequestError

if TYPE_CHECKING:
    from pydantic import SecretStr


class StreamedBody:
    """A body that is not held in memory: `chunks` can be iterated again (a 401 sends it twice), `body_bytes` is its exact length."""

    def __init__(self, chunks: Iterable[bytes], body_bytes: int) -> None:
        if isinstance(chunks, Iterator):
            raise TypeError(
                "StreamedBody: chunks is an iterator, which can be read only once; give something re-iterable"
            )
        self.chunks = chunks
        self.body_bytes = body_bytes

    def __iter__(self) -> Iterator[bytes]:
        """The chunks; each waits until the next is known, so that a body of the wrong length is never sent whole."""
        seen_bytes = 0
        held = b""
        for chunk in self.chunks:
            seen_bytes += len(chunk)
            if seen_bytes > self.body_bytes:
                raise self._wrong("more")
            if held:
                yield held
            held = chunk
        if seen_bytes != self.body_bytes:
            raise self._wrong(f"only {seen_bytes}")
        yield held

    def _wrong(self, found: str) -> InvalidRequestError:
        return InvalidRequestError(
            f"the body was announced with {self.body_bytes} bytes and has {found}",
            remedy="The request was cut off and is void; give the exact length of the body",
        )


class BodyStream(httpx.SyncByteStream):
    """A body as httpx's transports take it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `connect_to`: the checked address that the connection must go to, whatever the name resolves to by then."""

    method: str
    url: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | StreamedBody = field(default=b"", repr=False)
    connect_to: str | None = None
    deadline_s: float = 300.0

    @property
    def body_bytes(self) -> int:
        return len(self.body) if isinstance(self.body, bytes) else self.body.body_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `body` is expanded and at most as long as the receiver allowed.

    `cut`: the body of a rejection was not readable to its end; the head counts, and `body` is the part that was read.
    """

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    request_id: str | None = None
    token: SecretStr | None = None
    """The token that the request carried, so that excerpts can hide it."""
    cut: bool = False

    @property
    def content_type(self) -> str:
        return str(self.headers.get("content-type", "")).split(";")[0].strip().lower()


class Receiver(Protocol):
    """Takes an answer's body as it comes."""

    @property
    def spent(self) -> bool:
        """Whether the receiver has already written a part that it cannot take back: then there is no other attempt."""

    @property
    def cut(self) -> bool:
        """Whether the body of a rejection was not readable to its end."""

    def begin(self, status: int, headers: httpx.Headers, *, framed: bool) -> None:
        """The head is there. `framed`: the protocol distinguishes the body's end from a cut connection."""

    def feed(self, chunk: bytes) -> None:
        """A piece of the body, as sent over the wire."""

    def end(self) -> bytes:
        """Ends the body; returns the part that belongs in the Answer."""


class TransportFailure(Exception):  # noqa: N818  never leaves the package
    """No answer. `sent`: whether the platform may have received the request."""

    def __init__(self, what: str, *, sent: bool) -> None:
        super().__init__(what)
        self.sent = sent
