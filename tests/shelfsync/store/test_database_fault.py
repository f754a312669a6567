from __future__ import annotations

import threading

import oracledb
import psycopg
import pymssql
import pymysql
import pytest
import sqlalchemy as sa

from shelfsync.errors import ConfigurationError, TryAgainError, UnreachableError
from shelfsync.store import database_fault, engine
from shelfsync.store.database_fault import Fault, Next


class OdbcError(Exception):
    """As pyodbc's: SQLSTATE first, then the text that has it again, and the server's number in brackets."""


class SqlStateError(Exception):
    """As mysql-connector's and psycopg's: the fields are attributes."""

    def __init__(self, text: str, **fields: object) -> None:
        super().__init__(text)
        self.__dict__.update(fields)


def odbc(state: str, text: str) -> OdbcError:
    return OdbcError(state, f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{text} (SQLExecDirectW)")


def state(code: str) -> SqlStateError:
    return SqlStateError("any words, in any language", sqlstate=code)


NUMBERS = {
    "mysql": {
        Fault.AWAY: (2002, 2003, 2005, 1129),
        Fault.LOST: (1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 2006, 2013, 2048, 4031),
        Fault.STARTING: (1053, 1290, 1836, 3100, 3168, 3169),
        Fault.FULL: (1040, 1203, 1226, 1461),
        Fault.LOCKED: (1205, 1223, 1297, 1684, 1814, 3572),
        Fault.DEADLOCK: (1213, 1614, 3058),
        Fault.SNAPSHOT: (1020, 1412, 1615),
        Fault.SLOW: (1028, 1969, 3024),
        Fault.CANCELED: (1317,),
        Fault.EXHAUSTED: (5, 20, 23, 1021, 1037, 1038, 1041, 1114, 1436),
        Fault.FORBIDDEN: (1449,),
        Fault.BROKEN: (2, 29, 130, 132, 1017, 1812, 1932, 126, 127, 145, 1018, 1030, 1034, 1181, 1815),
        Fault.LIMITED: (1153, 2020),
        Fault.VALUE: (1242, 1292, 1365, 1366, 1690),
        None: (1054, 1064, 1146, 1175, 1222, 1792),
    },
    "mssql": {
        Fault.LOST: (64, 1206, 1219, 10053, 10054),
        Fault.STARTING: (926, 3908, 17187, 40613),
        Fault.FULL: (10928, 10930, 17197, 40501, 40642, 40675, 49918),
        Fault.LOCKED: (1222, 1807, 5030, 5070),
        Fault.SNAPSHOT: (601, 3960, 7105, 41301),
        Fault.EXHAUSTED: (701, 1204, 8902, 9002, 10055, 17189),
        Fault.BROKEN: (823, 1203, 1221, 3624, 5120, 8630, 9001),
        Fault.UNKNOWN_NAME: (911, 4060, 4064),
        Fault.VALUE: (241, 245, 512, 8114, 8115, 8134),
        None: (102, 207, 208, 8623),
    },
    "oracle": {
        Fault.AWAY: (12225, 12502, 12521, 12541, 12564, 28547),
        Fault.LOST: (2050, 3113, 3150, 12150, 12157, 12552, 12570, 12592, 12608, 12609, 25401, 25404, 25407, 25409),
        Fault.STARTING: (470, 1014, 1033, 16000),
        Fault.FULL: (19, 20, 55, 12602, 12612, 12850),
        Fault.LOCKED: (54, 1591, 2049, 4022, 4025, 8104, 30006, 44203),
        Fault.SNAPSHOT: (1555, 8004, 8006, 8177),
        Fault.CANCELED: (1013, 3111, 10388),
        Fault.EXHAUSTED: (1562, 1650, 1652, 12853, 25153, 27125, 30009),
        Fault.BROKEN: (600, 607, 1113, 1122, 8102),
        Fault.FORBIDDEN: (1031, 12529),
        Fault.LIMITED: (1000, 2394),
        Fault.VALUE: (1427, 1476, 1722, 1843, 6502),
        None: (904, 936, 942),
    },
}
DRIVERS = {
    "mysql": lambda number: pymysql.err.OperationalError(number, "words"),
    "mssql": lambda number: pymssql.OperationalError(number, b"words"),
    "oracle": lambda number: oracledb.DatabaseError(f"ORA-{number:05}: words"),
}
WORDS = {
    Fault.AWAY: (
        "failed to resolve host 'db.example': [Errno -3] Temporary failure in name resolution",
        'could not translate host name "db" to address: Name or service not known',
        "[Errno -5] No address associated with hostname",
        "connection to server at 10.0.0.1 failed: No route to host",
        "connection is bad: Network is unreachable",
        "connection timeout expired",
        "server login has been failing, cached error: connect failed (server_login_retry)",
    ),
    Fault.LOST: (
        "consuming input failed: EOF detected",
        "server conn crashed?",
        "terminating connection due to idle-in-transaction timeout",
        "Lost connection to MySQL server during query",
        "Packet sequence number wrong - got 1 expected 2",
    ),
    Fault.LOCKED: ("canceling statement due to lock timeout", "database is locked"),
    Fault.DEADLOCK: ("deadlock detected",),
    Fault.SNAPSHOT: (
        "could not serialize access due to concurrent update",
        "canceling statement due to conflict with recovery",
    ),
    Fault.EXHAUSTED: ("could not extend file: No space left on device", "out of memory", "database or disk is full"),
    None: ("SSL error: certificate verify failed", 'syntax error at or near "lock"', "no such column: timeout"),
}


@pytest.mark.parametrize(
    ("dialect", "number", "fault"),
    [(kind, one, fault) for kind, faults in NUMBERS.items() for fault, every in faults.items() for one in every],
)
def test_a_number_has_its_fault(dialect, number, fault):
    assert Fault.of(DRIVERS[dialect](number), dialect) is fault


@pytest.mark.parametrize(("words", "fault"), [(one, fault) for fault, every in WORDS.items() for one in every])
def test_a_driver_that_has_only_words_is_read_by_them(words, fault):
    assert Fault.of(Exception(words), "anything") is fault


CASES = [
    (
        "mysql",
        pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query (timed out)"),
        Fault.SLOW,
    ),
    (
        "mysql",
        pymysql.err.OperationalError(1290, "running with the --max-session-mem-used=8192 option"),
        Fault.EXHAUSTED,
    ),
    *[("postgresql", state(code), Fault.LOCKED) for code in ("55P03", "55006")],
    *[("postgresql", state(code), Fault.DEADLOCK) for code in ("40P01", "40000")],
    *[("postgresql", state(code), Fault.SNAPSHOT) for code in ("40001", "72000")],
    *[("postgresql", state(code), Fault.STARTING) for code in ("57P01", "57P02", "57P03", "57P04", "55000")],
    *[("postgresql", state(code), Fault.LOST) for code in ("08000", "08003", "08006", "08P01", "25P03", "57P05")],
    *[("postgresql", state(code), Fault.EXHAUSTED) for code in ("53000", "53100", "53200")],
    *[("postgresql", state(code), Fault.BROKEN) for code in ("58030", "XX000", "XX001", "58000")],
    *[("postgresql", state(code), Fault.REJECTED) for code in ("42601", "42P01", "25006", "0A000", "P0001")],
    *[("postgresql", state(code), Fault.VALUE) for code in ("21000", "22012", "22P02", "22007", "22003")],
    ("postgresql", state("53300"), Fault.FULL),
    ("postgresql", state("53400"), Fault.LIMITED),
    ("postgresql", state("42501"), Fault.FORBIDDEN),
    ("postgresql", state("28P01"), Fault.CREDENTIALS),
    ("postgresql", state("3D000"), Fault.UNKNOWN_NAME),
    ("postgresql", SqlStateError("canceling statement due to user request", sqlstate="57014"), Fault.CANCELED),
    ("postgresql", SqlStateError("canceling statement due to statement timeout", pgcode="57014"), Fault.SLOW),
    ("postgresql", Exception({"S": "ERROR", "C": "55P03", "M": "words"}), Fault.LOCKED),
    ("postgresql", psycopg.OperationalError("FATAL:  sorry, too many clients already"), Fault.FULL),
    ("postgresql", psycopg.OperationalError("FATAL:  the database system is starting up"), Fault.STARTING),
    ("postgresql", psycopg.OperationalError('FATAL:  database "erp" does not exist'), Fault.UNKNOWN_NAME),
    (
        "postgresql",
        psycopg.OperationalError('FATAL:  database "erp" is not currently accepting connections'),
        Fault.STARTING,
    ),
    ("postgresql", psycopg.OperationalError("consuming input failed: server closed the connection"), Fault.LOST),
    *[("mysql", pymysql.err.OperationalError(number, "words"), Fault.LOCKED) for number in (1205, 3572)],
    *[("mariadb", pymysql.err.OperationalError(number, "words"), Fault.FULL) for number in (1040, 1203, 1226)],
    *[("mysql", pymysql.err.OperationalError(number, "words"), Fault.LOST) for number in (2006, 2013, 1927)],
    *[("mysql", pymysql.err.OperationalError(number, "words"), Fault.SLOW) for number in (1969, 3024)],
    ("mysql", pymysql.err.OperationalError(1213, "Deadlock found"), Fault.DEADLOCK),
    ("mysql", pymysql.err.OperationalError(1317, "Query execution was interrupted"), Fault.CANCELED),
    ("mysql", pymysql.err.OperationalError(1044, "Access denied for user"), Fault.FORBIDDEN),
    ("mysql", pymysql.err.OperationalError(1222, "a different number of columns"), None),
    ("mysql", pymysql.err.InterfaceError(0, ""), Fault.LOST),
    ("mysql", SqlStateError("words", errno=1205, sqlstate="HY000"), Fault.LOCKED),
    ("mysql", OdbcError("HY000", "[HY000] [MySQL][ODBC 8.0(w) Driver]words (1205) (SQLExecDirectW)"), Fault.LOCKED),
    ("mssql", pymssql.OperationalError(1205, b"deadlock victim"), Fault.DEADLOCK),
    ("mssql", pymssql.OperationalError((20009, b"Unable to connect: Adaptive Server does not exist")), Fault.AWAY),
    *[("mssql", odbc("42000", f"words ({number})"), Fault.STARTING) for number in (40197, 40613, 976)],
    *[("mssql", odbc("42000", f"words ({number})"), Fault.FULL) for number in (10928, 10929, 40501)],
    *[("mssql", odbc("08S01", f"words ({number})"), Fault.LOST) for number in (233, 10053, 10054)],
    ("mssql", odbc("42000", "Lock request time out period exceeded. (1222)"), Fault.LOCKED),
    ("mssql", odbc("HY000", "Snapshot isolation transaction aborted (3960)"), Fault.SNAPSHOT),
    ("mssql", odbc("42S02", "Invalid object name 'item'. (208)"), Fault.REJECTED),
    ("mssql", odbc("42000", "The SELECT permission was denied. (229)"), Fault.FORBIDDEN),
    ("mssql", odbc("08S01", "Communication link failure (99999)"), Fault.LOST),
    ("mssql", odbc("HYT00", "Login timeout expired (0)"), Fault.SLOW),
    ("mssql", odbc("40001", "any words (0)"), Fault.SNAPSHOT),
    ("oracle", oracledb.DatabaseError("ORA-00054: resource busy and acquire with NOWAIT specified"), Fault.LOCKED),
    ("oracle", oracledb.DatabaseError("ORA-00604: recursive SQL\nORA-01555: snapshot too old"), Fault.SNAPSHOT),
    ("oracle", oracledb.DatabaseError("ORA-12801: in parallel query server P001\nORA-00060: deadlock"), Fault.DEADLOCK),
    *[("oracle", oracledb.DatabaseError(f"ORA-{n}: words"), Fault.LOST) for n in ("03113", "03114", "03135")],
    *[("oracle", oracledb.DatabaseError(f"ORA-{n}: words"), Fault.FULL) for n in ("00018", "00020", "12516", "12520")],
    *[
        ("oracle", oracledb.DatabaseError(f"{n}: words"), Fault.STARTING)
        for n in ("ORA-01033", "ORA-12514", "DPY-6001")
    ],
    ("oracle", oracledb.DatabaseError("ORA-08177: can't serialize access"), Fault.SNAPSHOT),
    ("oracle", oracledb.DatabaseError("DPY-4024: call timeout of 200 ms exceeded"), Fault.SLOW),
    ("oracle", oracledb.DatabaseError("ORA-01017: invalid username/password"), Fault.CREDENTIALS),
    ("oracle", oracledb.DatabaseError("ORA-00942: table or view does not exist"), None),
    ("db2", Exception("[IBM][CLI Driver] SQL0911N rolled back. SQLSTATE=40001 SQLCODE=-911"), Fault.SNAPSHOT),
    ("anything", Exception("near FROM: syntax error"), None),
    ("anything", ValueError("could not convert"), None),
]


@pytest.mark.parametrize(("dialect", "error", "fault"), CASES, ids=lambda one: str(one)[:60])
def test_a_fault_is_known_by_number_or_sqlstate_in_whatever_way_the_driver_has_it(dialect, error, fault):
    wrapped = sa.exc.DBAPIError("SELECT 1", None, error)
    assert Fault.of(error, dialect) is fault
    assert Fault.of(wrapped, dialect) is fault


def test_the_table_has_each_number_once_and_a_fault_for_each_next_step():
    with pytest.raises(ValueError, match="1205"):
        database_fault._each({Fault.LOCKED: (1205,), Fault.DEADLOCK: (1213, 1205)})
    assert {fault.next for fault in Fault} == set(Next)


def test_a_broken_connection_without_a_number_is_a_lost_one():
    error = sa.exc.DBAPIError("SELECT 1", None, Exception("words"), connection_invalidated=True)
    assert Fault.of(error, "anything") is Fault.LOST


def test_shelfsyncs_own_database_that_is_full_read_only_or_restarted_is_named_as_that(database_url):
    ours = engine.create_engine(database_url)
    with ours.connect() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with psycopg.connect(database_url) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [pid])
        with pytest.raises(sa.exc.DBAPIError) as ended:
            connection.exec_driver_sql("SELECT 1")
    assert "it starts, stops or changes its role" in str(engine.trouble(ended.value))
    with ours.connect() as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = on")
        connection.commit()
        with pytest.raises(sa.exc.DBAPIError) as standby:
            connection.exec_driver_sql("CREATE TABLE nothing (n int)")
    assert isinstance(engine.trouble(standby.value), TryAgainError)
    role = f"restored_{threading.get_native_id()}"
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE of_another (n int)")
        admin.execute(f"CREATE ROLE {role}")
        try:
            with ours.connect() as connection:
                connection.exec_driver_sql(f"SET ROLE {role}")
                with pytest.raises(sa.exc.DBAPIError) as forbidden:
                    connection.exec_driver_sql("SELECT * FROM of_another")
                connection.invalidate()
        finally:
            admin.execute(f"DROP ROLE {role}")
    final = engine.trouble(forbidden.value)
    assert isinstance(final, ConfigurationError)
    assert not isinstance(final, UnreachableError)
    assert "does not allow it: permission denied for table of_another. Let its administrator grant" in str(final)
    with ours.connect() as connection, pytest.raises(sa.exc.DBAPIError) as ours_is_at_fault:
        connection.exec_driver_sql("SELECT * FROM absent")
    assert engine.trouble(ours_is_at_fault.value) is None


def test_a_table_of_shelfsync_that_is_gone_is_named_with_the_next_command(database_url):
    ours = engine.create_engine(database_url)
    with ours.begin() as connection:
        connection.exec_driver_sql("DROP TABLE ledger.hold CASCADE")
    with ours.connect() as connection, pytest.raises(sa.exc.DBAPIError) as lost:
        connection.exec_driver_sql("SELECT * FROM ledger.hold")
    final = engine.trouble(lost.value)
    assert isinstance(final, ConfigurationError)
    assert "the database of shelfsync has lost 'ledger.hold'" in str(final)
    assert "docs/how-to/backup.md" in str(final)
    ours.dispose()


def test_too_many_clients_of_shelfsyncs_own_database_is_not_told_as_a_stopped_server(database_url):
    role = f"crowded_{threading.get_native_id()}"
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'canary-password-7' CONNECTION LIMIT 0")
        try:
            theirs = sa.make_url(database_url).set(username=role, password="canary-password-7")
            crowded = engine.create_engine(theirs.render_as_string(hide_password=False))
            with pytest.raises(
                UnreachableError, match=r"too many connections .*raise the limit of connections"
            ) as full:
                engine.check(crowded)
            assert "Start the server" not in str(full.value)
            wrong = engine.create_engine(theirs.set(password="wrong").render_as_string(hide_password=False))
            with pytest.raises(ConfigurationError, match="rejected the user or the password") as rejected:
                engine.check(wrong)
            assert not isinstance(rejected.value, UnreachableError)
        finally:
            admin.execute(f"DROP ROLE {role}")
