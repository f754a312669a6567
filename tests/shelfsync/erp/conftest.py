"""What the tests of the ERP room share: a reading from end to end, and a database that plays the ERP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from mariadb_server import mariadb_port  # noqa: F401  a fixture
from shelfsync.erp.open import open_source
from shelfsync.schemas import RAW, UNSENT
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shelfsync.erp.completeness_proof import Proof


@dataclass(frozen=True)
class Reading:
    """A whole extract: its chunks, its rows as plain Python, and the proof."""

    chunks: list[pa.Table]
    rows: list[dict[str, Any]]
    proof: Proof


@pytest.fixture(scope="session")
def read() -> Callable[..., Reading]:
    """`read(files=..., ...)` reads what the settings describe, and holds every chunk against the RAW schema."""

    def _read(**settings: Any) -> Reading:
        with open_source(ErpSettings(**settings)).read() as extract:
            chunks = list(extract)
            for chunk in chunks:
                assert chunk.schema == RAW
                chunk.validate(full=True)
            rows = [_without_empty_extras(row) for row in pa.concat_tables(chunks).to_pylist()]
            assert [row["row_number"] for row in rows] == list(range(1, len(rows) + 1))
            assert extract.rows_out == len(rows)
            return Reading(chunks, rows, extract.proof())

    return _read


def _without_empty_extras(row: dict[str, Any]) -> dict[str, Any]:
    """Most ERPs do not have these columns; only a test about them has values in them."""
    extras = (*UNSENT, "name")
    return {name: value for name, value in row.items() if name not in extras or value is not None}


@pytest.fixture
def erp_url(empty_database_url: str) -> str:
    """A PostgreSQL that plays the ERP."""
    return empty_database_url.replace("postgresql://", "postgresql+psycopg://", 1)


@pytest.fixture
def erp_engine(erp_url: str) -> Iterator[sa.Engine]:
    """A connection to it, for what happens in the ERP."""
    engine = sa.create_engine(erp_url, poolclass=sa.NullPool)
    yield engine
    engine.dispose()


@pytest.fixture
def thousand_rows(erp_engine: sa.Engine, erp_url: str) -> dict[str, Any]:
    """1,000 rows in that database, as the settings that read them."""
    with erp_engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE item AS SELECT 'store-' || mod(i, 2) AS vendor, lpad(i::text, 6, '0') AS sku, i::numeric / 1000 AS price,"
            " i AS quantity, mod(i, 10) > 0 AS active, i::float8 / 3 AS weight FROM generate_series(1, 1000) AS i"
        )
    return {"url": erp_url, "sql": "SELECT * FROM item ORDER BY sku", "chunk_rows": 100}


@pytest.fixture
def wide(thousand_rows: dict[str, Any]) -> dict[str, Any]:
    """The same rows with a text so long that no buffer takes them all."""
    return {**thousand_rows, "sql": "SELECT *, repeat('x', 20000) AS note FROM item ORDER BY sku"}


@pytest.fixture
def path(tmp_path: Path) -> Callable[..., str]:
    """`path(data, name)` writes a file of the ERP, and gives its path."""

    def _written(data: bytes, name: str = "stock.csv") -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return _written
