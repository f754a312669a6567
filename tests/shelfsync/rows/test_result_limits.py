"""The limits of a log grow with the SKUs that were sent, and no log or export is read beyond what one may hold."""

from __future__ import annotations

import io

import pytest

from hostile_files import EXPORT, LOG
from shelfsync.catalog.export import parse_export
from shelfsync.catalog.log_reader import parse_log
from shelfsync.errors import DataError
from shelfsync.rows import result_csv, result_limits

HEADS = {"log": LOG, "export": EXPORT}


def _read(kind: str, data: bytes):
    return parse_log(io.BytesIO(data), whole=True) if kind == "log" else parse_export(io.BytesIO(data)).rows


@pytest.mark.parametrize("kind", HEADS)
def test_as_many_columns_as_are_allowed_are_read_and_one_more_raises(kind):
    head, line = HEADS[kind], {"log": "a,success,", "export": "a,1.00,1"}[kind]
    more = result_limits.COLUMNS_MAX - 3
    assert _read(kind, f"{head}{',x' * more}\n{line}{',' * more}\n".encode()).num_rows == 1
    with pytest.raises(DataError, match="257 columns, 256 are allowed"):
        _read(kind, f"{head}{',x' * (more + 1)}\n{line}{',' * (more + 1)}\n".encode())


@pytest.mark.parametrize("kind", HEADS)
def test_a_header_as_long_as_is_allowed_is_read_and_one_byte_more_raises(kind):
    head, line = HEADS[kind], {"log": "a,success,,", "export": "a,1.00,1,"}[kind]
    name = "x" * (result_limits.HEADER_BYTES_MAX - len(head) - 1)
    assert _read(kind, f"{head},{name}\n{line}\n".encode()).num_rows == 1
    for data in (f"{head},{name}x\n{line}\n", f"{head},{name}x"):
        with pytest.raises(DataError, match=r"the first line of .* has more than 16384 bytes"):
            _read(kind, data.encode())


@pytest.mark.parametrize("kind", HEADS)
def test_too_many_lines_raise(kind, monkeypatch):
    monkeypatch.setattr(result_csv, "LINES_MAX", 10)
    data = f"{HEADS[kind]}\n{'a,ok,' if kind == 'log' else 'a,1,1'}\n".encode()
    line = data.splitlines(keepends=True)[1]
    assert _read(kind, data + line * 9).num_rows in {1, 10}
    with pytest.raises(DataError, match="more than 10 lines"):
        _read(kind, data + line * 10)
