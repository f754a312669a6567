"""pyarrow begins without pandas in a process of shelfsync. The allocator of its tables is named in `shelfsync/__init__.py`."""

from __future__ import annotations

import sys
import threading

import pyarrow as pa


class _Absent:
    """An importer that has no pandas for one thread."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, *_: object) -> None:
        """Raises for pandas, and knows nothing of other modules."""
        if name == "pandas" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError("pandas is not looked for here", name=name)


def without_pandas() -> None:
    """Lets pyarrow make its first array without pandas, unless the process has pandas already.

    At its first array pyarrow imports pandas if it is installed: 0.7 s of CPU and some 50 MiB in every task of every run, for nothing.
    If its first look finds no pandas, pyarrow looks again only where it needs it (`to_pandas`, `from_pandas`).
    """
    if "pandas" in sys.modules:
        return
    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.array([True])
    finally:
        sys.meta_path.remove(absent)


def with_pandas() -> None:
    """Makes pyarrow know pandas again, before it is given a Series: it would take one for any sequence."""
    pa.array([True]).to_pandas()
