"""Result files of a platform that is broken or hostile: small on the wire, large for a reader that repeats, splits or widens them."""
# ruff: noqa: PLW0108  a method of the text would make the text at once

from __future__ import annotations

import gzip
import io
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOG, EXPORT = "sku,state,errors", "sku,price,active"


def corpus(head: str) -> dict[str, Callable[[], bytes]]:
    """What makes each file, by what is wrong with them; `head` are the three columns that make the file a log or an export."""
    row = {LOG: "a,success,", EXPORT: "a,1.00,1"}[head]
    many = "\n".join([row] * 20_000)
    return {
        "a column name of 60,000 characters": lambda: (
            f"{head},{'x' * 60_000}\n{chr(10).join([row + ','] * 10_000)}\n".encode()
        ),
        "names that fill the longest header": lambda: (
            f"{head},{'x' * 16_000}\n{chr(10).join([row + ','] * 200_000)}\n".encode()
        ),
        "control characters in a name": lambda: (
            f"{head},{chr(1) * 16_000}\n{chr(10).join([row + ','] * 50_000)}\n".encode()
        ),
        "100,000 columns": lambda: f"{head}{',x' * 100_000}\n{row}{',' * 100_000}\n".encode(),
        "256 columns": lambda: f"{head}{',xxxxxxxxxx' * 253}\n{chr(10).join([row + ',' * 253] * 4000)}\n".encode(),
        "257 columns": lambda: f"{head}{',x' * 254}\n{row}{',' * 254}\n".encode(),
        "a header without an end": lambda: head.encode() + b"x" * 5_000_000,
        "blanks without an end": lambda: gzip.compress(b"\n" * 50_000_000),
        "a line of 3 MB": lambda: f"{head}\n{row}{'x' * 3_000_000}\n{many}\n".encode(),
        "cells of 1 MB": lambda: gzip.compress((f"{head}\n" + f"a,success,{'x' * 1_000_000}\n" * 100).encode(), 1),
        "a sku of 1 MB": lambda: f"{head}\n{'x' * 1_000_000},success,\n".encode(),
        "2,000,000 lines of three commas": lambda: gzip.compress(f"{head}\n".encode() + b",,\n" * 2_000_000, 1),
        "5,000,000 lines of three commas": lambda: gzip.compress(f"{head}\n".encode() + b",,\n" * 5_000_000, 1),
        "50,000 lines of one field": lambda: f"{head}\n{chr(10).join('x' * 50_000)}\n".encode(),
        "10,000,000 lines of one field": lambda: gzip.compress(f"{head}\n".encode() + b"x\n" * 10_000_000, 1),
        "a quote that is never closed": lambda: f'{head}\na,success,"{"x," * 4_000_000}'.encode(),
        "quotes alone": lambda: head.encode() + b"\n" + b'"' * 1_000_001 + b"\n",
        "NUL bytes": lambda: head.encode() + b"\n" + b"\x00" * 2_000_000,
        "bytes in no encoding": lambda: head.encode() + b"\n" + b"\xff\xfe\xc3\n" * 100_000,
        "a byte-order mark of another encoding": lambda: f"{head}\n{row}\n".encode("utf-16"),
        "lone carriage returns": lambda: f"{head}\r{row}\r".encode(),
        "nothing": lambda: b"",
        "a number of a million digits": lambda: f"{head}\na,{'9' * 1_000_000},{'9' * 100}\n".encode(),
        "exponents": lambda: f"{head}\na,1e999999999,1\nb,-1e-999999999,1\nc,{'1' * 400},nan\n".encode(),
    }


def _peak_kb() -> int:
    """Of this program alone; what the process held before it became this program counts in the usual figure of the system."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])


def main() -> None:
    """Reads the file on standard input as `log` or `export`; prints the peak of memory in MB and the seconds it took."""
    from shelfsync.catalog.export import parse_export
    from shelfsync.catalog.log_reader import parse_log
    from shelfsync.errors import DataError

    data = io.BytesIO(sys.stdin.buffer.read())
    began = time.process_time()
    try:
        parse_log(data, whole=True) if sys.argv[1] == "log" else parse_export(data)
        result = "read"
    except DataError as error:
        result = str(error)
    peak_mb = _peak_kb() // 1024
    print(peak_mb, f"{time.process_time() - began:.1f}", result)


if __name__ == "__main__":
    main()
