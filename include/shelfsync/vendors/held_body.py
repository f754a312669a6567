"""A request body whose last chunk is sent only while its vendor's lease is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease

LONG_BYTES = 1 << 20
"""The lease is renewed before the upload of a body from this size on, as it may have aged while the request waited for its slot."""


class HeldBody:
    """The chunks of a request body of so many bytes. The last one is sent only if the lease is still held.

    If it is lost, LeaseLostError passes through `submit`, and the job stays `submitting`: its next holder sends it again or ends it.
    """

    def __init__(self, chunks: Iterable[bytes], body_bytes: int, context: Context, lease: Lease) -> None:
        self._chunks = chunks
        self._bytes = body_bytes
        self._context = context
        self._lease = lease

    def __iter__(self) -> Iterator[bytes]:
        if self._bytes >= LONG_BYTES:
            self._lease.renew(self._context.engine)
        yield from self._chunks
        self._lease.renew(self._context.engine)  # StreamedBody holds the last chunk back until this returns
