from __future__ import annotations

import pytest

from shelfsync.catalog.ledger import change_files
from shelfsync.catalog.ledger.change_files import change_file
from shelfsync.erp.change_file_state import ChangeFile, FileState
from shelfsync.store.bulk import insertion

pytestmark = pytest.mark.slow

MANY = 70_000
"""More than the 65,535 parameters that one statement of PostgreSQL may have."""
PATHS = [f"/feed/{number:08}.csv" for number in range(MANY)]


@pytest.fixture
def full(ledger):
    """A ledger with many files that were taken."""
    rows = [
        {"file": path, "sequence": "", "stamp": "s", "state": "taken", "rows": 1, "closed": False} for path in PATHS
    ]
    with ledger.engine.begin() as connection:
        connection.execute(insertion(change_file, [{**row, "seen_at": "2026-03-01 00:00:00+00"} for row in rows]))
    return ledger


def test_a_whole_reading_closes_any_number_of_files(full):
    with full.engine.begin() as connection:
        change_files.close(connection, set(PATHS), set(PATHS))
        assert {row.closed for row in connection.execute(change_file.select())} == {True}


def test_a_whole_reading_forgets_any_number_of_files(full):
    with full.engine.begin() as connection:
        change_files.close(connection, set(), set(PATHS))
        assert list(change_files.known(connection)) == PATHS[-1:]
        change_files.write(connection, 1, {path: ChangeFile(path, "", "s", FileState.TAKEN) for path in PATHS}, {})
        assert change_files.known(connection) == {}


def test_any_number_of_files_is_replayed(full):
    with full.engine.begin() as connection:
        assert change_files.again(connection, PATHS[0], set(PATHS)) == PATHS
        assert {row.state for row in connection.execute(change_file.select())} == {"again"}
