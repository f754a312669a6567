"""A lake on S3, by obstore: each file is put by one request and read by one, and what this process wrote or read is read no second time.

Named as the methods of an fsspec filesystem that the lake calls; targets are keys below the address. Files are immutable, so that nothing
kept can be out of date. Credentials and region come from the environment (`AWS_…`), from a web identity or from the machine's role.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shelfsync.errors import ConfigurationError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_BYTES = 64 << 20
"""Of the files last read and written, in memory."""
WHOLE_BYTES = 32 << 20
"""A file up to here is held in memory while it is read; a larger one in a temporary file."""
TRIES_END_S = 60
"""A store that does not answer is tried again until then."""
SILENT_S = 15
"""Within one try: a call to a store that is away or silent gives up after at most TRIES_END_S and this."""
TRY_MAX_S = 60
"""A try that is at work: 32 MiB at half a megabyte a second."""
_CONNECT_S = 5
_BACK_OFF_MAX_S = 5
_TRIES_MAX = 1_000
_USERINFO = re.compile(r"://\S*@")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_NO_BUCKET = re.compile(r"status code: 404 ")
_ARCHIVED = ": InvalidObjectState"
"""A rule of the bucket has moved the file where nothing reads it at once: for us it is not there."""
_REFUSED = re.compile(
    r"status code: (?:3\d\d|40[013]) (?!.*: RequestTimeout$)"  # an expired token and another region are 400, too
    r"|redirect without LOCATION"  # another region
    r"|//169\.254\.|/latest/(?:api|meta-data)/"  # no credentials: the machine is asked for a role
)


class ObjectStore:
    """Files below an address `s3://bucket/folder`. No request before the first use; not for use across a fork."""

    protocol = "s3"

    def __init__(self, address: str) -> None:
        try:
            from obstore.store import S3Store
        except ImportError as error:
            raise ConfigurationError(
                "SHELFSYNC_LAKE_URL", f"{error}", "Install obstore (requirements-erp.txt has it), or name a folder."
            ) from None
        self._address = address
        bucket, _, prefix = address.partition("://")[2].partition("/")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        with self._answering(""):
            self._store = S3Store(
                bucket,
                prefix=prefix or None,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "connect_timeout": dt.timedelta(seconds=_CONNECT_S),
                    "read_timeout": dt.timedelta(seconds=SILENT_S),
                    "timeout": dt.timedelta(seconds=TRY_MAX_S),
                },
                retry_config={
                    "max_retries": _TRIES_MAX,
                    "retry_timeout": dt.timedelta(seconds=TRIES_END_S),
                    "backoff": {"max_backoff": dt.timedelta(seconds=_BACK_OFF_MAX_S)},
                },
                config={"endpoint": endpoint} if endpoint else {},
            )
        self._kept: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def open(self, target: str, _mode: str = "rb") -> BinaryIO:
        """The file for reading. Raises FileNotFoundError."""
        target = target.strip("/")
        if (known := self._kept.get(target)) is not None:
            return io.BytesIO(known)
        with self._answering(target):
            found = self._store.get(target)
            if found.meta["size"] <= WHOLE_BYTES:
                content = bytes(found.bytes())
                self._keep(target, content)
                return io.BytesIO(content)
            file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
            for chunk in found.stream():
                file.write(chunk)
            file.seek(0)
            return file

    def put_file(self, name: str, target: str) -> None:
        """Puts a local file, whole or not at all: by one request, so that nothing incomplete is left if the process dies."""
        content, target = Path(name).read_bytes(), target.strip("/")
        try:
            with self._answering(target):
                self._store.put(target, content, use_multipart=False)
        except FileNotFoundError:
            raise self._no_bucket() from None
        self._keep(target, content)

    def exists(self, target: str) -> bool:
        """Whether the file is there now, whatever this process knows of it."""
        try:
            self.info(target)
        except FileNotFoundError:
            return False
        return True

    def info(self, target: str) -> dict[str, Any]:
        """`{"size", "last_modified"}` and more. Raises FileNotFoundError."""
        target = target.strip("/")
        with self._answering(target):
            return dict(self._store.head(target))

    def rm_file(self, target: str) -> None:
        """Removes the file."""
        target = target.strip("/")
        with self._lock:
            self._kept.pop(target, None)
        with self._answering(target):
            self._store.delete(target)

    def ls(self, folder: str, *, detail: bool) -> list[dict[str, Any]]:  # noqa: ARG002  as fsspec has it
        """What is directly in a folder, as `{"name", "type", "size", "last_modified"}`; never of an earlier time."""
        folder = folder.strip("/")
        with self._answering(folder):
            found = self._store.list_with_delimiter(folder or None)
        return [
            *({"name": name, "type": "directory"} for name in found["common_prefixes"]),
            *({**one, "name": one["path"], "type": "file"} for one in found["objects"]),
        ]

    def _keep(self, target: str, content: bytes) -> None:
        with self._lock:
            self._kept.pop(target, None)
            if len(content) > KEPT_BYTES:
                return
            self._kept[target] = content
            held = sum(map(len, self._kept.values()))
            while held > KEPT_BYTES:
                held -= len(self._kept.pop(next(iter(self._kept))))

    @contextlib.contextmanager
    def _answering(self, target: str) -> Iterator[None]:
        """Raises the project's errors for the store's; their first line has method, address and how long it was tried, and no secret."""
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(f"{self._address}/{target}") from None
        except BaseError as error:
            line = _line(error)
            if line.endswith(_ARCHIVED):
                raise FileNotFoundError(f"{self._address}/{target}") from None
            if _NO_BUCKET.search(line):
                raise self._no_bucket() from None
            if _REFUSED.search(line):
                raise ConfigurationError(
                    "SHELFSYNC_LAKE_URL",
                    f"{self._address} refuses this process: {line}",
                    "Look at AWS_REGION and at its rights to read, write, list and delete there, by AWS_ACCESS_KEY_ID and"
                    " AWS_SECRET_ACCESS_KEY or the machine's role; no profile is read.",
                ) from None
            raise TryAgainError(f"lake {self._address}: {line}; look whether the store answers") from None

    def _no_bucket(self) -> ConfigurationError:
        return ConfigurationError(
            "SHELFSYNC_LAKE_URL", f"{self._address}: there is no such bucket", "Create it, or correct the address."
        )


def _line(error: Exception) -> str:
    """The store's answer in one line: without a password of the endpoint, and with S3's own code at the end."""
    text = str(error)
    line = _USERINFO.sub("://***@", text.partition("\n")[0].partition("<")[0].rstrip(" :"))
    code = _CODE.search(text)
    return f"{line}: {code[1]}" if code else line
