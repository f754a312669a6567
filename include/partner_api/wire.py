"""What goes over the wire, and what an operation asks its driver to do. No input or output here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import httpx

from partner_api.errors import InvalidRequestError

if TYPE_CHECKING:
    from pydantic import SecretStr

R = TypeVar("R")


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
        """The chunks; each is held back until the next is known, so that a body of the wrong length is never sent whole."""
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


class BodyStream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body for either kind of transport."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


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

    `cut`: the body of a refusal could not be read to its end; the head counts, and `body` is what was read.
    """

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    request_id: str | None = None
    token: SecretStr | None = None
    """The token that was shown, so that it can be kept out of excerpts."""
    cut: bool = False

    @property
    def content_type(self) -> str:
        return str(self.headers.get("content-type", "")).split(";")[0].strip().lower()


class Receiver(Protocol):
    """Takes an answer's body as it comes."""

    blocking: bool
    """Whether `feed` writes to a file: an event loop then calls it in a thread."""

    @property
    def spent(self) -> bool:
        """Whether what came has already gone where it cannot be taken back from: then there is no other attempt."""

    @property
    def cut(self) -> bool:
        """Whether the body of a refusal could not be read to its end."""

    def begin(self, status: int, headers: httpx.Headers, *, framed: bool) -> None:
        """The head is there. `framed`: the body's end can be told from a cut connection."""

    def feed(self, chunk: bytes) -> None:
        """A piece of the body, as it was on the wire."""

    def end(self) -> bytes:
        """The body is over; what of it belongs into the Answer."""


class TransportFailure(Exception):  # noqa: N818  never leaves the package
    """No answer. `sent`: whether the platform may have received the request."""

    def __init__(self, what: str, *, sent: bool) -> None:
        super().__init__(what)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Send:
    """Asks the driver for one request and its Answer; TransportFailure when there is none."""

    request: Request
    receiver: Receiver


class Do:
    """Asks the driver to call something that may wait: the gate, the clock, a token store, a name lookup."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function = function
        self.arguments = arguments


Steps: TypeAlias = Generator[Send | Do, Any, R]
"""An operation: it asks for effects and ends with its result. It is written once and driven twice (`drivers.py`)."""
