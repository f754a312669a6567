"""Where an answer's bytes go: into memory, or into a file. Both expand gzip themselves, piece by piece and within limits."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, BinaryIO

from partner_api.download_limits import Speed
from partner_api.errors import (
    DownloadBrokenError,
    DownloadEmptyError,
    DownloadSlowError,
    DownloadTooLargeError,
    UnexpectedAnswerError,
)
from partner_api.expansion import Expander

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partner_api.download_limits import DownloadLimits
    from partner_api.http_library import httpx

ERROR_BYTES_MAX = 64 * 1024
"""A receiver reads and stores no more than this of an error's body."""
_GZIP_MAGIC = b"\x1f\x8b"
_SNIFF_BYTES = 64
_PAGE_STARTS = (b"<!doctype", b"<html", b"<head")


class Collected:
    """An answer in memory: at most `max_bytes`. Of an error's body, what is readable of the first 64 KiB: its head suffices."""

    spent = False
    slowness = None

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts = bytearray()
        self._expander: Expander | None = None
        self._is_error = False
        self.cut = False

    def begin(self, status: int, headers: httpx.Headers, *, framed: bool) -> None:  # noqa: ARG002  JSON shows its own end
        self._is_error = not 200 <= status < 300
        try:
            self._expander = _expander_for(headers)
        except UnexpectedAnswerError:
            if not self._is_error:
                raise
            self.cut = True

    def feed(self, chunk: bytes) -> None:
        if self.cut:
            raise StopReceiving
        try:
            for piece in self._expander.feed(chunk) if self._expander else (chunk,):
                self._parts += piece
                if self._is_error and len(self._parts) >= ERROR_BYTES_MAX:
                    self.cut = True
                    raise StopReceiving
                if not self._is_error and len(self._parts) > self._max_bytes:
                    raise UnexpectedAnswerError(f"the answer is longer than {self._max_bytes} bytes")
        except zlib.error as error:
            if self._is_error:
                self.cut = True
                raise StopReceiving from None
            raise UnexpectedAnswerError(f"the answer's gzip is damaged: {error}") from None

    def end(self) -> bytes:
        if self._expander is not None and not self._expander.complete:
            if not self._is_error:
                raise UnexpectedAnswerError("the answer's gzip ends in the middle")
            self.cut = True
        return bytes(self._parts[:ERROR_BYTES_MAX] if self._is_error else self._parts)


class StopReceiving(Exception):  # noqa: N818  a signal to the sender: enough was read
    """The receiver needs no more of the body."""


class Saved:
    """A download in a file: expanded, counted, hashed, within limits and time. A non-200 body is kept as an error's."""

    def __init__(self, file: BinaryIO, limits: DownloadLimits, monotonic_s: Callable[[], float]) -> None:
        self.written_bytes = 0
        self.wire_bytes = 0
        self._file = file
        self._limits = limits
        self._speed = Speed(limits, monotonic_s)
        self._hash = hashlib.sha256()
        self._error: Collected | None = None
        self._head = b""
        self._expected: int | None = None
        self._layers: list[Expander] = []
        self._sniffed = False

    @property
    def spent(self) -> bool:
        return self.written_bytes > 0

    @property
    def cut(self) -> bool:
        return self._error is not None and self._error.cut

    @property
    def slowness(self) -> str | None:
        return self._speed.fault()

    @property
    def sha256(self) -> str:
        """Of what was written, in hex."""
        return self._hash.hexdigest()

    def begin(self, status: int, headers: httpx.Headers, *, framed: bool) -> None:
        self._speed.begin()
        if status != 200:
            self._error = Collected(ERROR_BYTES_MAX)
            self._error.begin(status if status >= 300 else 400, headers, framed=framed)
            return
        if str(headers.get("content-type", "")).lower().startswith("text/html"):
            raise UnexpectedAnswerError("a web page came instead of a file")
        announced = str(headers.get("content-length", ""))
        self._expected = int(announced) if announced.isascii() and announced.isdigit() and len(announced) < 19 else None
        if self._expected is not None and self._expected > self._limits.max_bytes:
            raise DownloadTooLargeError(f"{self._expected} bytes are announced, {self._limits.max_bytes} are allowed")
        if not framed:
            raise DownloadBrokenError("the answer has neither a length nor chunks: its end looks like a cut connection")
        outer = _expander_for(headers)
        self._layers = [outer] if outer else []

    def feed(self, chunk: bytes) -> None:
        self.wire_bytes += len(chunk)
        self._speed.count(len(chunk))
        if fault := self._speed.fault():
            raise DownloadSlowError(fault)
        if self._error is not None:
            self._error.feed(chunk)
            return
        if self.wire_bytes > self._limits.max_bytes:
            raise DownloadTooLargeError(f"more than the allowed {self._limits.max_bytes} bytes came")
        try:
            for piece in self._expand(chunk, self._layers):
                self._sniff(piece)
        except zlib.error as error:
            raise DownloadBrokenError(f"the file's gzip is damaged: {error}") from None

    def end(self) -> bytes:
        if self._error is not None:
            return self._error.end()
        try:
            self._flush_head()
        except zlib.error as error:
            raise DownloadBrokenError(f"the file's gzip is damaged: {error}") from None
        if self._expected is not None and self.wire_bytes != self._expected:
            raise DownloadBrokenError(f"{self.wire_bytes} bytes came where {self._expected} were announced")
        if not all(layer.complete for layer in self._layers):
            raise DownloadBrokenError("the file's gzip ends in the middle")
        if self.written_bytes == 0:
            raise DownloadEmptyError("the file is empty; even one without lines has a header")
        return b""

    def _expand(self, chunk: bytes, layers: list[Expander]) -> Iterator[bytes]:
        if not layers:
            yield chunk
            return
        for piece in layers[0].feed(chunk):
            yield from self._expand(piece, layers[1:])

    def _sniff(self, piece: bytes) -> None:
        """The first bytes decide whether the file itself is gzip, or a page."""
        if self._sniffed:
            self._write(piece)
            return
        self._head += piece
        if len(self._head) >= _SNIFF_BYTES:
            self._flush_head()

    def _flush_head(self) -> None:
        if self._sniffed:
            return
        self._sniffed = True
        head, self._head = self._head, b""
        if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGE_STARTS):
            raise UnexpectedAnswerError("a web page came instead of a file")
        if head.startswith(_GZIP_MAGIC):
            inner = Expander()
            self._layers.append(inner)
            for piece in inner.feed(head):
                self._write(piece)
        elif head:
            self._write(head)

    def _write(self, piece: bytes) -> None:
        self.written_bytes += len(piece)
        limits = self._limits
        if self.written_bytes > limits.max_bytes:
            raise DownloadTooLargeError(f"the file expands to more than the allowed {limits.max_bytes} bytes")
        if self.written_bytes > limits.ratio_grace_bytes and self.written_bytes > limits.ratio_max * self.wire_bytes:
            raise DownloadTooLargeError(f"the file expands to more than {limits.ratio_max:g} times its size")
        self._hash.update(piece)
        self._file.write(piece)


def _expander_for(headers: httpx.Headers) -> Expander | None:
    coding = str(headers.get("content-encoding", "")).strip().lower()
    if coding in {"", "identity"}:
        return None
    if coding in {"gzip", "x-gzip", "deflate"}:
        return Expander()
    raise UnexpectedAnswerError(f"the answer is encoded as {coding[:40]!r}, which was not asked for")
