"""A statement that takes longer than the timeout is ended: by the database, by the driver, or by a cut of the connection."""

from __future__ import annotations

import os
import signal
import sqlite3
import time

import pytest

from shelfsync.erp.connection import APPLICATION_NAME
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError
from shelfsync.exit_codes import ExitCode
from shelfsync.settings import ErpSettings


def test_an_erp_that_is_locked_is_given_up_after_the_timeout(thousand_rows, erp_engine, read):
    with erp_engine.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(IncompleteExtractError, match=r"broke off after 0 rows: .*timeout.*TIMEOUT_S") as late:
            read(**thousand_rows, timeout_s=0.2)
        assert late.value.exit_code == ExitCode.TRY_AGAIN
        with pytest.raises(ConfigurationError, match=r"TIMEOUT_S: .* did not answer the SELECT in time"):
            open_source(ErpSettings(**thousand_rows, timeout_s=0.2)).check()


def test_a_server_that_no_longer_answers_is_hung_up_on(wide, erp_engine):
    """SIGSTOP: the server cannot even run its own timeout."""
    with open_source(ErpSettings(**wide, timeout_s=1)).read() as extract:
        chunks = iter(extract)
        next(chunks)
        with erp_engine.connect() as connection:
            pid = connection.exec_driver_sql(
                f"SELECT pid FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'"
            ).scalar()
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(IncompleteExtractError, match=r"broke off after [1-9]00 rows"):
                list(chunks)
            assert time.monotonic() - began < 30
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
def test_a_sqlite_select_without_an_end_is_interrupted(tmp_path, read):
    file = tmp_path / "erp.db"
    sqlite3.connect(file).close()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS sku, 'v' AS vendor, 1 AS price FROM n"
    with pytest.raises(IncompleteExtractError, match="interrupted"):
        read(url=f"sqlite:///{file}", sql=endless, timeout_s=0.1)
