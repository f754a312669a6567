"""Columns of truth values: Arrow's, and numpy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

Mask: TypeAlias = "npt.NDArray[np.bool_]"
"""A column of truth values for numpy."""


def mask(values: pa.Array) -> Mask:
    """A column of truth values for numpy; what is unknown is false."""
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)
