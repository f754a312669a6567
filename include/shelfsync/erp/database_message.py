"""The error of a database driver as one line with the setting to change; never with a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, UnreachableError, without_stop
from shelfsync.store.database_fault import Fault, Next

if TYPE_CHECKING:
    import sqlalchemy as sa

URL = "SHELFSYNC_ERP__URL"
"""The setting that is named, unless a database has its own."""
_AGAIN = "run the same command again"


def place(url: sa.URL) -> str:
    """Where a URL leads, for a person: dialect, host, port, database; no user, no password, no parameters."""
    host = f"{url.host}:{url.port}" if url.port else url.host
    path = "/".join(part for part in (host, url.database) if part)
    return f"{url.get_backend_name()} at {path}" if path else url.get_backend_name()


def driver_message(error: BaseException, url: sa.URL) -> str:
    """The driver's own message in one line, without SQLAlchemy's frame and without the URL's secrets."""
    words = str(getattr(error, "orig", None) or error)
    for secret in _secrets(url):
        words = words.replace(secret, "***")
    return without_stop(words, 400)


def _the_url(setting: str) -> str:
    return "the URL (or the Airflow connection shelfsync_erp)" if setting == URL else "the URL"


def connection_error(error: BaseException, url: sa.URL, setting: str = URL) -> ConfigurationError:
    """Why the ERP's database could not be reached, as the setting to change."""
    fault = _fault(error, url)
    if fault is None or fault.next is Next.STATEMENT:  # there was no statement yet
        fault = Fault.AWAY
    problem = f"{place(url)} {fault.what}: {driver_message(error, url)}"
    if fault.next is Next.RIGHTS:
        return ConfigurationError(setting, problem, f"{fault.remedy} to the user of {_the_url(setting)}.")
    if fault.next is Next.ADDRESS:
        return ConfigurationError(setting, problem, f"{fault.remedy} in {_the_url(setting)}.")
    if fault is Fault.AWAY:
        remedy = f"Correct host and port in {_the_url(setting)}, and see that the server runs and lets this machine in."
        return UnreachableError(setting, problem, remedy)
    return UnreachableError(setting, problem, f"{fault.remedy}; then {_AGAIN}.")


_EXTRAS = {
    "mysql": ("mysql", "pymysql"),
    "mariadb": ("mysql", "pymysql"),
    "mssql": ("mssql", "pymssql"),
    "oracle": ("oracle", "oracledb"),
}
"""Dialect -> the extra of shelfsync and the driver that it installs."""


def driver_error(error: BaseException, url: sa.URL, setting: str = URL) -> ConfigurationError:
    """Why there is no driver for a URL, as the setting to change."""
    if isinstance(error, ImportError) and error.name:
        problem = f"the driver of {url.drivername!r} is not installed: there is no module {error.name!r}"
    else:
        problem = f"no driver is known for {url.drivername!r}: {driver_message(error, url)}"
    backend = url.get_backend_name()
    if backend not in _EXTRAS:
        remedy = "Install the driver beside shelfsync, or name another in the URL as dialect+driver://."
        return ConfigurationError(setting, problem, remedy)
    extra, driver = _EXTRAS[backend]
    remedy = f"Write {backend}+{driver}:// and install {driver}: pip install -r requirements-erp.txt, or the extra shelfsync[{extra}]."
    return ConfigurationError(setting, problem, remedy)


def statement_error(
    error: BaseException, url: sa.URL, setting: str, what: str, url_setting: str = URL
) -> ConfigurationError:
    """Why the database did not run a statement of the operator, as the setting to change; UnreachableError if it may the next time."""
    words, fault = driver_message(error, url), _fault(error, url) or Fault.REJECTED
    if fault is Fault.SLOW:
        return UnreachableError(
            "SHELFSYNC_ERP__TIMEOUT_S",
            f"{place(url)} did not answer {what} in time: {words}",
            "Raise it, or look for what locks or slows the ERP's tables.",
        )
    if fault.passes:
        problem = f"{place(url)} {fault.what} at {what}: {words}"
        return UnreachableError(url_setting, problem, f"{fault.remedy}; then {_AGAIN}.")
    problem, remedy = f"{place(url)} does not accept {what}", "Correct it; it must be one single SELECT."
    if fault is Fault.UNKNOWN_NAME and url.get_backend_name() == "sqlite":  # its file is opened by the first statement
        setting, problem, remedy = url_setting, f"{place(url)} {fault.what}", "Correct the path."
    elif fault in {
        Fault.FORBIDDEN,
        Fault.CREDENTIALS,
    }:  # the user is in, so these are those of a view or of a foreign table
        problem = f"{place(url)} does not allow {what}"
        remedy = (
            f"Let the ERP's administrator grant the right to the user of {url_setting}: GRANT SELECT on each table."
        )
    elif fault is Fault.LIMITED:
        problem, remedy = f"{place(url)} has a limit that {what} exceeds", f"{fault.remedy}."
    elif fault is Fault.VALUE:
        problem, remedy = f"{place(url)} {fault.what} for {what}", f"{fault.remedy}."
    return ConfigurationError(setting, f"{problem}: {words}", remedy)


def why_broken_off(error: BaseException, url: sa.URL) -> str:
    """Why a reading ended before its last row, without a full stop, and what to do about it where shelfsync knows that."""
    words, fault = driver_message(error, url), _fault(error, url)
    if fault is None or not fault.passes:
        return words
    return f"{words}. The database {fault.what}: {fault.remedy}"


def passes(error: BaseException, url: sa.URL) -> bool:
    """Whether the same statement may succeed the next time: the server, the network or a lock is at fault, and not the statement."""
    fault = _fault(error, url)
    return fault is not None and fault.passes


def is_of_statement(error: BaseException, url: sa.URL, read: int) -> bool:
    """Whether the same statement fails again until a person corrects something. If nothing tells, the rows `read` before do."""
    fault = _fault(error, url)
    return read == 0 if fault is None else not fault.passes


def _fault(error: BaseException, url: sa.URL) -> Fault | None:
    return Fault.of(error, url.get_backend_name())


def _secrets(url: sa.URL) -> list[str]:
    named = [
        value
        for key, values in url.normalized_query.items()
        for value in values
        if any(word in key.casefold() for word in ("pass", "pwd", "secret", "token", "key"))
    ]
    password = url.password
    return sorted((secret for secret in (str(password or ""), *named) if secret), key=len, reverse=True)
