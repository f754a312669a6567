"""What an error of a database means: by SQLSTATE and by the driver's own number, one table for every database.

It holds for the ERP's database, for those of picking results and promotions, and for shelfsync's own. The driver's number comes first,
because ODBC and Oracle put many faults under one SQLSTATE. Words are the last resort: libpq has no SQLSTATE when it cannot connect.
"""

from __future__ import annotations

import re
import sqlite3
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Next(StrEnum):
    """What has to happen before the same statement can succeed."""

    WAIT = "wait"
    """It may work the next time: exit code 5, and Airflow retries."""
    ADDRESS = "address"
    """A person corrects the database URL."""
    RIGHTS = "rights"
    """The database's administrator grants something."""
    STATEMENT = "statement"
    """A person corrects the statement."""


class Fault(Enum):
    """A kind of fault: what happened, as the end of a sentence about the database, and what the operator does about it."""

    AWAY = Next.WAIT, "cannot be reached", "See that the server runs and lets this machine in"
    LOST = Next.WAIT, "broke the connection", "See in the server's log why"
    STARTING = (
        Next.WAIT,
        "starts, stops or changes its role",
        "Wait until the server is ready; a planned restart needs nothing else",
    )
    FULL = (
        Next.WAIT,
        "has no connection left",
        "End idle sessions there, or let its administrator raise the limit of connections",
    )
    LOCKED = Next.WAIT, "has locked what was read", "Look for the session that holds the lock"
    DEADLOCK = (
        Next.WAIT,
        "ended the statement because of a deadlock",
        "Look for what writes to these tables at this hour",
    )
    SNAPSHOT = (
        Next.WAIT,
        "cannot show one instant of its data any more",
        "If it repeats, read at a quieter hour, or let its administrator keep old versions of rows for longer",
    )
    SLOW = Next.WAIT, "did not answer in time", "Look for what locks or slows its tables"
    CANCELED = Next.WAIT, "was told to end the statement", "Ask its administrator who ended it"
    EXHAUSTED = Next.WAIT, "has no disk space or memory left", "Let its administrator look at its disk and memory"
    BROKEN = Next.WAIT, "failed within itself", "Let its administrator look at its log"
    CREDENTIALS = Next.ADDRESS, "rejected the user or the password", "Correct user and password"
    UNKNOWN_NAME = Next.ADDRESS, "has no such database or user", "Correct the name"
    FORBIDDEN = Next.RIGHTS, "does not allow it", "Let its administrator grant the right"
    LIMITED = Next.RIGHTS, "has a limit that it exceeds", "Let its administrator raise the limit"
    VALUE = Next.STATEMENT, "cannot compute a value of a row", "Correct the row, or let the SELECT do without it"
    REJECTED = Next.STATEMENT, "does not accept it", "Correct it"

    def __init__(self, next_: Next, what: str, remedy: str) -> None:
        self.next = next_
        self.what = what
        self.remedy = remedy

    @property
    def passes(self) -> bool:
        """Whether it may work the next time without any change."""
        return self.next is Next.WAIT

    @staticmethod
    def of(error: BaseException, dialect: str) -> Fault | None:
        """The fault that an exception of a driver, or SQLAlchemy's around it, reports; None if nothing known is in it.

        `dialect`: SQLAlchemy's name of the kind of database.
        """
        cause = getattr(error, "orig", None) or error
        text = " ".join(_texts(cause))
        numbers = _NUMBERS.get(dialect, {})
        named = next((numbers[number] for number in _numbers(cause, text, dialect) if number in numbers), None)
        found = named or _first(_by_state(state) for state in _states(cause, text)) or _by_words(text, dialect)
        found = next((other for fault, words, other in _SHARED if fault is found and words in text), found)
        if found is None and getattr(error, "connection_invalidated", False):
            found = Fault.LOST
        return found


_SHARED = (
    (Fault.SLOW, "user request", Fault.CANCELED),
    (Fault.LOST, "(timed out)", Fault.SLOW),  # PyMySQL's own limit of the wait
    (Fault.STARTING, "--max-session-mem-used", Fault.EXHAUSTED),
)
"""Faults of one number or SQLSTATE that only words distinguish: what the number reports, the words, and what it is then."""
_STATES = {
    "02": Fault.REJECTED,
    "07": Fault.REJECTED,
    "08": Fault.LOST,
    "08001": Fault.AWAY,
    "08004": Fault.AWAY,
    "0A": Fault.REJECTED,
    "21": Fault.VALUE,  # a subquery that returns more than one row
    "22": Fault.VALUE,  # a division by zero, a text that is no number or time
    "23": Fault.REJECTED,
    "25": Fault.REJECTED,
    "25P03": Fault.LOST,  # idle in a transaction for too long
    "25P04": Fault.SLOW,  # transaction_timeout
    "28": Fault.CREDENTIALS,
    "3D": Fault.UNKNOWN_NAME,
    "40": Fault.DEADLOCK,
    "40001": Fault.SNAPSHOT,  # serialization, or a replica's conflict with recovery
    "40003": Fault.LOST,
    "42": Fault.REJECTED,
    "42501": Fault.FORBIDDEN,
    "45": Fault.REJECTED,
    "53": Fault.EXHAUSTED,
    "53300": Fault.FULL,
    "53400": Fault.LIMITED,  # temp_file_limit
    "54": Fault.REJECTED,
    "55000": Fault.STARTING,  # a materialized view that is being filled, a standby
    "55006": Fault.LOCKED,
    "55P03": Fault.LOCKED,
    "57": Fault.STARTING,
    "57011": Fault.EXHAUSTED,  # Db2
    "57014": Fault.SLOW,
    "57033": Fault.DEADLOCK,  # Db2: a deadlock or a lock timeout
    "57P05": Fault.LOST,
    "58": Fault.BROKEN,
    "72000": Fault.SNAPSHOT,
    "F0": Fault.BROKEN,
    "HV00L": Fault.AWAY,  # a foreign table's server
    "HV00N": Fault.AWAY,
    "HY001": Fault.EXHAUSTED,  # ODBC from here
    "HY008": Fault.CANCELED,
    "HY013": Fault.EXHAUSTED,
    "HYT00": Fault.SLOW,
    "HYT01": Fault.AWAY,
    "S1T00": Fault.SLOW,
    "P0": Fault.REJECTED,
    "XX": Fault.BROKEN,
}
"""SQLSTATE, or its class of two characters -> fault."""


def _each(faults: dict[Fault, tuple[int | str, ...]]) -> dict[int | str, Fault]:
    """Number -> fault. Raises ValueError if a number has two."""
    found: dict[int | str, Fault] = {}
    for fault, numbers in faults.items():
        if twice := found.keys() & set(numbers):
            raise ValueError(twice)
        found |= dict.fromkeys(numbers, fault)
    return found


_MYSQL = _each(
    {
        Fault.AWAY: (1042, 1043, 1129, 1429, 1430, 2001, 2002, 2003, 2004, 2005, 2009, 2011, 2026),
        Fault.LOST: (
            1154,
            1155,
            1156,
            1157,
            1189,
            1190,
            1218,
            2048,
            0,
            1152,
            1158,
            1159,
            1160,
            1161,
            1184,
            1927,
            2006,
            2012,
            2013,
            2014,
            2027,
            2055,
            4031,
        ),
        Fault.STARTING: (1290, 1836, 3100, 3168, 1047, 1053, 1077, 1078, 1079, 1080, 3032, 3169),
        Fault.FULL: (1461, 1040, 1203, 1226, 1637),
        Fault.LOCKED: (1223, 1297, 1684, 1099, 1205, 1689, 1814, 3572),
        Fault.DEADLOCK: (1213, 1479, 1613, 1614, 3058, 3101),
        Fault.SNAPSHOT: (1615, 1020, 1412),
        Fault.SLOW: (1028, 1969, 3024),
        Fault.CANCELED: (1317,),
        Fault.EXHAUSTED: (5, 1436, 1, 3, 20, 23, 1021, 1037, 1038, 1041, 1114, 1135, 1206, 2008),
        Fault.BROKEN: (
            *(2, 29, 130, 132, 1017, 1812, 1932),
            126,
            127,
            134,
            135,
            144,
            145,
            1018,
            1026,
            1181,
            1815,
            1016,
            1023,
            1024,
            1030,
            1033,
            1034,
            1035,
            1180,
            1194,
            1195,
            1877,
        ),
        Fault.CREDENTIALS: (1045, 1251, 1275, 1698, 1820, 1862, 2049, 2054, 2058, 2059, 2061, 3118, 3955, 4151),
        Fault.UNKNOWN_NAME: (1049,),
        Fault.FORBIDDEN: (1044, 1130, 1142, 1143, 1227, 1370, 1449),
        Fault.LIMITED: (2020, 1104, 1153, 1301),
        Fault.VALUE: (1242, 1264, 1265, 1292, 1365, 1366, 1411, 1441, 1690, 3140, 3141, 4038),
    }
)
_SQL_SERVER = _each(
    {
        Fault.AWAY: (
            *(2, 11, 17, 40, 53, 258, 1225, 10051, 10060, 10061, 10064, 10065, 11001, 11002, 17830),
            *(20002, 20009, 20012, 20013, 47073),
        ),
        Fault.LOST: (
            1206,
            1219,
            *(20, 64, 109, 121, 232, 233, 596, 10004, 10050, 10052, 10053, 10054),
            *(20004, 20005, 20006, 20017, 20020, 20047),
        ),
        Fault.STARTING: (
            926,
            3908,
            17187,
            *(615, 904, 921, 922, 923, 924, 927, 942, 945, 952, 955, 976, 978, 979, 981, 982, 983, 987, 988, 4221),
            *(6001, 6002, 6005, 17142, 17143, 17148, 18401, 18451, 18461),
            *(40143, 40166, 40197, 40540, 40613, 42108, 42109),
        ),
        Fault.FULL: (10930, 17197, 40642, 40675, 10928, 10929, 10936, 17300, 17809, 17889, 40501, 49918, 49919, 49920),
        Fault.LOCKED: (1807, 5030, 5070, 1222, 5061),
        Fault.DEADLOCK: (1205, 1211, 3635, 3928),
        Fault.SNAPSHOT: (7105, 41301, 601, 3951, 3957, 3958, 3959, 3960, 3961, 3966, 41302, 41305, 41325, 41839),
        Fault.SLOW: (-2, 20003, 40549, 40550, 40551, 40552, 40553),
        Fault.EXHAUSTED: (
            8902,
            10055,
            17189,
            *(701, 802, 844, 845, 846, 1101, 1105, 1204, 3967, 8628, 8645, 8651, 8657, 9002),
            *(17803, 40544, 41805),
        ),
        Fault.BROKEN: (1203, 1221, 3624, 5120, 8630, 9001, 605, 823, 824, 825, 832, 833),
        Fault.CREDENTIALS: (18450, 18452, 18456, 18458, 18459, 18460, 18470, 18486, 18487, 18488, 40531, 40532),
        Fault.UNKNOWN_NAME: (4064, 911, 4060, 40515),
        Fault.FORBIDDEN: (229, 230, 262, 297, 300, 371, 916, 15247, 40615, 40914),
        Fault.VALUE: (220, 235, 241, 242, 244, 245, 248, 295, 296, 512, 517, 535, 8114, 8115, 8134, 8169, 13609),
    }
)
"""SQL Server's numbers, those of Windows sockets (10053, 10054), and those of the driver's library below pymssql (20000 and above)."""
_ORACLE = _each(
    {
        Fault.AWAY: (
            12225,
            12502,
            12509,
            12510,
            12511,
            12521,
            12525,
            12564,
            28547,
            *(12170, 12203, 12224, 12500, 12513, 12535, 12541, 12543, 12545, 12549, 12557, 12560, 12606, 12637),
            *("DPY-6000", "DPY-6005"),
        ),
        Fault.LOST: (
            2050,
            2051,
            2053,
            3150,
            12150,
            12157,
            12552,
            12569,
            12570,
            12583,
            12592,
            12593,
            12599,
            12608,
            12609,
            25400,
            25401,
            25404,
            25407,
            25409,
            *(28, 1012, 1041, 2068, 2396, 2399, 3106, 3113, 3114, 3135, 3136, 12151, 12152, 12153, 12161),
            *(12537, 12547, 12571, 25402, 25408, "DPI-1010", "DPI-1080", "DPY-1001", "DPY-4011"),
        ),
        Fault.STARTING: (
            470,
            1014,
            16000,
            *(1033, 1034, 1035, 1089, 1090, 1092, 1109, 1219, 3175, 10456, 10458, 12505, 12514, 12526, 12527, 12528),
            *(16456, 25403, 25405, 27101, "DPY-6001", "DPY-6003"),
        ),
        Fault.FULL: (
            19,
            55,
            57,
            12602,
            12612,
            12850,
            18,
            20,
            2391,
            12516,
            12518,
            12519,
            12520,
            12523,
            12540,
            24418,
            24457,
            24459,
            "DPY-4005",
        ),
        Fault.LOCKED: (1591, 2049, 4022, 4025, 8104, 44203, 51, 54, 4021, 30006),
        Fault.DEADLOCK: (60, 104, 4020, 12829),
        Fault.SNAPSHOT: (8004, 8006, 1410, 1466, 1555, 4061, 4065, 4068, 8103, 8176, 8177, 8180, 12842, 22922, 22924),
        Fault.SLOW: (40, 2393, 2395, 56866, "DPI-1067", "DPY-4024"),
        Fault.CANCELED: (3111, 10388, 31, 1013),
        Fault.EXHAUSTED: (
            1562,
            1650,
            12853,
            25153,
            27125,
            27126,
            30009,
            *(257, 1536, 1628, 1630, 1652, 1653, 1654, 1688, 1691, 4030, 4031, 4036, 19502, 19504),
            *(27102, 27123, 27300, 30036, 64307),
        ),
        Fault.BROKEN: (607, 1113, 1122, 8102, 376, 600, 603, 1110, 1115, 1157, 1578, 7445, 12805, 27061, 27072),
        Fault.CREDENTIALS: (12638, 988, 1005, 1017, 28000, 28001, 28009, 28040),
        Fault.UNKNOWN_NAME: (12154, 12162, 12504, "DPY-4027"),
        Fault.FORBIDDEN: (12529, 1031, 1045, 41900),
        Fault.LIMITED: (1000, 2392, 2394),
        Fault.VALUE: (
            *(1426, 1427, 1438, 1455, 1476, 1722, 1830, 1839, 1840, 1841, 1843, 1846, 1847, 1850, 1851, 1852),
            *(1858, 1861, 1878, 6502, 40441),
        ),
    }
)
"""The numbers behind ORA-, and the driver's own. A listener reports a database that is not up yet as it does a wrong name (12505, 12514)."""
_SQLITE = _each(
    {
        Fault.LOCKED: (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL),
        Fault.SNAPSHOT: (sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_READONLY_RECOVERY, sqlite3.SQLITE_READONLY_ROLLBACK),
        Fault.SLOW: (sqlite3.SQLITE_INTERRUPT,),
        Fault.CANCELED: (sqlite3.SQLITE_ABORT,),
        Fault.EXHAUSTED: (sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL),
        Fault.BROKEN: (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_INTERNAL),
        Fault.UNKNOWN_NAME: (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB),
        Fault.FORBIDDEN: (sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
        Fault.VALUE: (sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH),
        Fault.REJECTED: (sqlite3.SQLITE_ERROR,),
    }
)
"""SQLite's result codes; a file that is being copied looks damaged. What a dead writer left is rolled back by the next who may write."""
_NUMBERS = {"mysql": _MYSQL, "mariadb": _MYSQL, "mssql": _SQL_SERVER, "oracle": _ORACLE, "sqlite": _SQLITE}
"""Dialect -> number -> fault."""

_WORDS = {
    Fault.FULL: (
        "too many clients",
        "remaining connection slots",
        "too many connections",
        "no more connections allowed",
        "query_wait_timeout",
        "max clients reached",
        "maxclientsinsessionmode",
    ),
    Fault.STARTING: (
        "the database system is ",
        "not accepting connections",
        "not currently accepting connections",
        "server is in hot standby",
        "server is not in hot standby",
        "session is read-only",
        "session is not read-only",
        "terminating connection due to administrator command",
    ),
    Fault.SLOW: ("statement timeout", "execution time", "interrupted", "timed out"),
    Fault.AWAY: (
        "server is unavailable",
        "connection refused",
        "name or service not known",
        "name resolution",
        "no address associated",
        "could not translate host name",
        "failed to resolve host",
        "getaddrinfo failed",
        "no route to host",
        "network is unreachable",
        "connection timeout expired",
        "can't connect to",
        "server login has been failing",
    ),
    Fault.LOCKED: ("lock timeout", "database is locked", "database table is locked"),
    Fault.DEADLOCK: ("deadlock detected", "deadlock found"),
    Fault.SNAPSHOT: ("could not serialize access", "due to conflict with recovery"),
    Fault.EXHAUSTED: ("no space left on device", "out of memory", "database or disk is full"),
    Fault.LOST: (
        "eof detected",
        "lost connection to",
        "packet sequence number wrong",
        "server conn crashed",
        "idle-in-transaction timeout",
        "server closed the connection",
        "connection already closed",
        "the connection is closed",
        "the connection is lost",
        "connection reset by peer",
        "broken pipe",
        "could not receive data from server",
        "ssl connection has been closed",
        "ssl syscall error",
    ),
    Fault.CREDENTIALS: (
        "password authentication failed",
        "no password supplied",
        "authentication failed",
        "access denied",
        "login failed",
        "no pg_hba.conf entry",
        "is not permitted to log in",
    ),
    Fault.FORBIDDEN: ("permission denied", "command denied", "permission was denied", "insufficient privileges"),
    Fault.UNKNOWN_NAME: ("unknown database", "cannot open database", "no such database"),
}
"""What drivers write that have neither number nor SQLSTATE. The order decides."""
_NO_NAME = re.compile(r'(?:database|role) "[^"]*" does not exist')
_STATE = re.compile(r"[0-9A-Z]{5}")
_STATE_IN_TEXT = re.compile(r"(?:SQLSTATE[=: ]+|^\[)([0-9A-Z]{5})\b")
_NATIVE = re.compile(r"\((-?\d+)\) \(SQL\w+\)")
"""How ODBC writes a server's own number."""
_OF_ORACLE = re.compile(r"\b(ORA|DPY|DPI)-(\d+)")


def _texts(error: BaseException) -> Iterator[str]:
    """What a driver's exception has as its message, in words and bytes."""
    for given in error.args:
        for part in given if isinstance(given, tuple) else (given,):
            yield part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part)


def _numbers(error: BaseException, text: str, dialect: str) -> Iterator[int | str]:
    """The server's and the driver's own numbers in an exception, the outermost first."""
    if dialect == "sqlite":
        code = getattr(error, "sqlite_errorcode", None)
        yield from () if code is None else (code, code & 0xFF)
        return
    if dialect == "oracle":
        for kind, number in _OF_ORACLE.findall(text):
            yield int(number) if kind == "ORA" else f"{kind}-{number}"
        return
    first = error.args[0] if error.args else None
    while isinstance(first, tuple) and first:
        first = first[0]
    for number in (getattr(error, "errno", None), getattr(error, "number", None), first):
        if isinstance(number, int):
            yield number
    yield from (int(number) for number in _NATIVE.findall(text))


def _states(error: BaseException, text: str) -> Iterator[str]:
    """The SQLSTATEs of an exception, wherever its driver has them."""
    first = error.args[0] if error.args else None
    if isinstance(first, dict):  # pg8000
        first = first.get("C")
    for state in (getattr(error, "sqlstate", None), getattr(error, "pgcode", None), first):
        if isinstance(state, str) and _STATE.fullmatch(state):
            yield state
    yield from _STATE_IN_TEXT.findall(text)


def _by_state(state: str) -> Fault | None:
    return _STATES.get(state) or _STATES.get(state[:2])


def _by_words(text: str, dialect: str) -> Fault | None:
    lowered = text.casefold()
    if dialect == "postgresql" and _NO_NAME.search(text):
        return Fault.UNKNOWN_NAME
    return next((fault for fault, signs in _WORDS.items() if any(sign in lowered for sign in signs)), None)


def _first(found: Iterable[Fault | None]) -> Fault | None:
    return next((fault for fault in found if fault is not None), None)
