"""Where the ERP is and what its columns are called."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  pydantic reads annotations
from typing import Literal

from pydantic import Field, SecretStr

from shelfsync.settings.section import Section


class SourceSettings(Section):
    """Where rows come from: a SELECT on any SQLAlchemy URL, or files on any fsspec address."""

    source: Literal["sql", "files"] | None = None
    """Which of the two; unset: decided by `url` or `files`."""
    url: SecretStr | None = None
    """SQLAlchemy URL of the ERP's database."""
    sql: str | None = None
    """The SELECT that returns the rows."""
    sql_file: Path | None = None
    """A file with the SELECT, instead of `sql`. shelfsync rejects a file that other users can write."""
    files: str | None = None
    """A file, a folder or a pattern: `s3://bucket/stock/*.parquet`, `/data/{vendor}.csv`."""
    file_format: Literal["csv", "fixed", "jsonl", "parquet", "workbook"] | None = None
    """Format of the files; unset: decided by the file name's ending."""
    sheet: str | None = None
    """The sheet of a workbook; unset: its only visible one with any cell."""
    header_row: int | None = Field(None, ge=1)
    """The row, or the line of a CSV, with the names of the columns: what stands above it is a title and is not read. Unset: the first; in a
    text of fixed widths none."""
    fixed_width: dict[str, str] = Field(default_factory=dict)
    """For a text without delimiters: column -> its first and last character in each line, from 1: `{"sku": "1-8", "price": "9-16"}`."""
    csv_delimiter: str = ","
    """One character, or a word for it: `tab`, `comma`, `semicolon`, `pipe`."""
    csv_encoding: str = "utf-8-sig"
    """Encoding of CSV files, by its name in Python."""
    csv_quoting: Literal["standard", "none"] = "standard"
    """What a quote (`"`) of a CSV means. standard: a cell that begins with one ends at the next. none: it is a character as any other."""
    decimal_mark: Literal[".", ","] = "."
    """What stands before the decimals of numbers that are texts. Numbers of a database or of Parquet need no mark."""
    thousands_mark: Literal[".", ",", "'", "space"] | None = None
    """What groups their digits by three; unset: nothing does. `'` is also the typographic apostrophe, `space` is every kind of space."""
    minus: Literal["leading", "any"] = "leading"
    """Where their minus stands: before the digits, or `any` of `-3`, `3-` and `(3)`."""
    currencies: list[str] = Field(default_factory=list)
    """Signs and codes that may stand before or behind a number: `["€", "EUR"]`. A number with any other sign is no number."""
    null_words: list[str] = Field(default_factory=list)
    """Texts that mean "no value" in any column, besides the empty text: `["NULL", "#N/A", "-"]`. Case does not count."""
    true_words: list[str] = Field(default_factory=list)
    """Texts that mean true, besides true, 1, 1.0, t, yes and y: `["ja", "J", "X"]`. Case does not count."""
    false_words: list[str] = Field(default_factory=list)
    """Texts that mean false, besides false, 0, 0.0, f, no and n: `["nein", "N"]`. Case does not count."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Column of shelfsync -> column of the ERP, if the names differ: `{"sku": "item_code", "price": "item_price"}`."""
    constants: dict[str, str] = Field(default_factory=dict)
    """Column of shelfsync -> a value for all rows, if the ERP has no such column: `{"vendor": "store-001"}`."""
    vendor_ids: dict[str, str] = Field(default_factory=dict)
    """The ERP's id of a store -> the platform's vendor, if they differ: `{"ST01": "store-001"}`. Rows of other stores are left out."""
    vendor_ids_file: Path | None = None
    """A CSV with the columns erp and platform, instead of `vendor_ids`. shelfsync rejects a file that other users can write."""
    mapping: str | None = None
    """`package.module:function` or `/path/file.py:function`, DataFrame -> DataFrame, run on each chunk."""
    count_sql: str | None = None
    """A SELECT that returns the true number of rows; unset: shelfsync counts the rows of `sql` a second time."""
    control_file: str | None = None
    """For files: an address whose text is the true number of rows; with `{vendor}` in it, one file a vendor."""
    chunk_rows: int = Field(50_000, ge=1)
    """Rows that shelfsync reads at a time."""
    timeout_s: float = Field(600.0, gt=0)
    """Longest wait for one answer of the ERP's database or file: a statement, an opening, or CHUNK_ROWS rows. A whole reading may take
    longer."""

    def named(self, text: str) -> str:
        """A message of a source under the names of these settings: each source names those of the catalog."""
        return text


class ErpSettings(SourceSettings):
    """Where stock and prices come from, and how shelfsync reads only what changed."""

    changed_columns: Literal["ignore", "report", "hold", "stop"] = "report"
    """If a whole reading has other columns than the last: `report` it once; `hold` the changes for a person, and report it; `stop`: send
    nothing until a run with another choice; `ignore` it."""
    changes_sql: str | None = None
    """A SELECT of the rows that changed since `:since`: the columns of `sql` and `changes_column`. With it, a delta reads no more
    than these rows (docs/how-to/reading-changes.md)."""
    changes_sql_file: Path | None = None
    """A file with that SELECT, instead of `changes_sql`."""
    changes_files: str | None = None
    """Where the ERP puts files with changed rows, instead of `changes_sql`: a folder, or a pattern such as `/feed/{vendor}/*.csv`. A
    delta takes each file once, in the order of their names. Format, delimiter and columns are those of `files` and `columns`."""
    changes_since_file: str | None = None
    """With `changes_files` beside `files`: an address whose text is the name of the last file of changes that `files` have. Whole readings
    lay the files behind it over `files`."""
    changes_column: str = "changed_at"
    """Its column with the time, or the number, of a row's change. `:since` is compared with it. A time without a zone is the ERP's own:
    shelfsync converts nothing and compares it only with other values of the column."""
    changes_kind: Literal["timestamp", "number"] = "timestamp"
    """What that column holds: times, or numbers (a sequence, a row version) that grow with each change."""
    changes_overlap: float = Field(300.0, ge=0)
    """How far before its cursor a delta reads again, in seconds or numbers. It must exceed the longest transaction of the ERP:
    a row that commits later than that is found by the next full sync alone."""
