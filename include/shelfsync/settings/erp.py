"""Where the ERP is and what its columns are called."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  pydantic reads annotations
from typing import Literal

from pydantic import Field, SecretStr

from shelfsync.settings.section import Section


class ErpSettings(Section):
    """Where stock and prices come from: a SELECT on any SQLAlchemy URL, or files on any fsspec address."""

    source: Literal["sql", "files"] | None = None
    """Which of the two; found from `url` or `files` when not said."""
    url: SecretStr | None = None
    sql: str | None = None
    sql_file: Path | None = None
    files: str | None = None
    """A file, a folder or a pattern: `s3://bucket/stock/*.parquet`, `/data/{vendor}.csv`."""
    file_format: Literal["csv", "parquet"] | None = None
    """Found from the ending when not said."""
    csv_delimiter: str = ","
    """One character, or `tab`."""
    csv_encoding: str = "utf-8-sig"
    columns: dict[str, str] = Field(default_factory=dict)
    """Our name -> the ERP's name, for what is called otherwise there: `{"sku": "item_code", "price": "item_price"}`."""
    constants: dict[str, str] = Field(default_factory=dict)
    """Our name -> a value for all rows, for what the ERP does not say: `{"vendor": "store-001"}`."""
    mapping: str | None = None
    """`package.module:function` or `/path/file.py:function`, DataFrame -> DataFrame, run on each chunk."""
    count_sql: str | None = None
    """A SELECT that returns the true number of rows; without it the proof is a second count of the same SELECT."""
    control_file: str | None = None
    """For files: an address whose text is the true number of rows; with `{vendor}` in it, one file a vendor."""
    chunk_rows: int = Field(50_000, ge=1)
    timeout_s: float = Field(600.0, gt=0)
