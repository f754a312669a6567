"""The error of a database driver as one line with the setting to change; never with a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, UnreachableError, without_stop

if TYPE_CHECKING:
    import sqlalchemy as sa

URL = "SHELFSYNC_ERP__URL"
"""The setting that is named, unless a database has its own."""

_CREDENTIALS = (
    "password authentication failed",  # PostgreSQL
    "no password supplied",
    "authentication failed",
    "access denied",  # MySQL, MariaDB
    "login failed",  # SQL Server
    "ora-01017",
    "28000",
    "28p01",
    "18456",
)
_FORBIDDEN = (
    "permission denied",  # PostgreSQL
    "command denied",  # MySQL, MariaDB
    "permission was denied",  # SQL Server
    "ora-01031",
    "insufficient privileges",
)
_AWAY = ("server is unavailable",)  # SQL Server, whose message goes on with "or does not exist"
_DATABASE = ("does not exist", "unknown database", "cannot open database", "ora-12514")


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
    words = driver_message(error, url)
    lowered = words.casefold()
    if any(sign in lowered for sign in _CREDENTIALS):
        problem = f"{place(url)} rejected the user or the password: {words}"
        remedy = f"Correct user and password in {_the_url(setting)}."
    elif any(sign in lowered for sign in _DATABASE) and not any(sign in lowered for sign in _AWAY):
        problem = f"{place(url)} has no such database or user: {words}"
        remedy = f"Correct the name in {_the_url(setting)}."
    else:
        problem = f"{place(url)} cannot be reached: {words}"
        remedy = f"Correct host and port in {_the_url(setting)}, and see that the server runs and lets this machine in."
        return UnreachableError(setting, problem, remedy)
    return ConfigurationError(setting, problem, remedy)


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
    """Why the database does not accept a statement of the operator, as the setting to change."""
    words = driver_message(error, url)
    if timed_out(error):
        return UnreachableError(
            "SHELFSYNC_ERP__TIMEOUT_S",
            f"{place(url)} did not answer {what} in time: {words}",
            "Raise it, or look for what locks or slows the ERP's tables.",
        )
    if any(sign in words.casefold() for sign in _FORBIDDEN):
        remedy = (
            f"Let the ERP's administrator grant the right to the user of {url_setting}: GRANT SELECT on each table."
        )
        return ConfigurationError(setting, f"{place(url)} does not allow {what}: {words}", remedy)
    return ConfigurationError(
        setting, f"{place(url)} does not accept {what}: {words}", "Correct it; it must be one single SELECT."
    )


def timed_out(error: BaseException) -> bool:
    """Whether a statement was ended for taking too long."""
    words = str(error).casefold()
    return any(sign in words for sign in ("statement timeout", "execution time", "interrupted", "timed out"))


def _secrets(url: sa.URL) -> list[str]:
    named = [
        value
        for key, values in url.normalized_query.items()
        for value in values
        if any(word in key.casefold() for word in ("pass", "pwd", "secret", "token", "key"))
    ]
    password = url.password
    return sorted((secret for secret in (str(password or ""), *named) if secret), key=len, reverse=True)
