"""Airflow's connections as parts of shelfsync's settings: used for settings that environment and configuration file leave unset."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from shelfsync.alerts.channel import NO_CONNECTION, connection_of
from shelfsync.chosen_chain import of_chain
from shelfsync.errors import ConfigurationError
from shelfsync_airflow.names import chain_of

if TYPE_CHECKING:
    from shelfsync.settings import AlertRoute, OrdersSettings, PlatformSettings, Settings

PLATFORM = "shelfsync_platform"
ERP = "shelfsync_erp"
DATABASE = "shelfsync_database"
WEBHOOK = "shelfsync_webhook"

DRIVERS = {
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+mysqldb",
    "mssql": "mssql+pymssql",
    "oracle": "oracle+oracledb",
}
"""Connection type -> SQLAlchemy's name; a connection's extra `sqlalchemy_scheme` goes before it, any other type is taken as it is."""

POSTGRES_EXTRAS = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "connect_timeout",
    "application_name",
    "options",
    "target_session_attrs",
)

Find = Callable[[str], Connection | None]


def find_connection(conn_id: str) -> Connection | None:
    """The connection of that name, from any place where Airflow stores connections."""
    try:
        connection: Connection = Connection.get(conn_id)
        return connection
    except AirflowNotFoundException:
        return None


def overrides(settings: Settings, find: Find, needed: Collection[str]) -> dict[str, Any]:
    """The settings that the connections add, in the structure of the settings; never one that is set already.

    A chain has connections of its own, such as shelfsync_platform__north: another chain's would send to the wrong stores. All share the
    database's. `needed`: which of platform, erp, webhook, orders and alerts are going to be used, besides the database. Where neither environment nor
    connection gives what is needed, a ConfigurationError names both ways to give it. `platform_if_set`: who watches goes on without it.
    """
    found = database_override(settings, find)
    own = partial(of_chain, chain=settings.chain)
    if "platform" in needed:
        found["platform"] = _platform(settings.platform, find, own(PLATFORM))
    if "platform_if_set" in needed:
        with contextlib.suppress(ConfigurationError):
            found["platform"] = _platform(settings.platform, find, own(PLATFORM))
    if ("erp" in needed and settings.erp.url is None and settings.erp.files is None) or (
        "orders" in needed and settings.erp.url is None and _orders_need_erp(settings.orders)
    ):
        found["erp"] = {"url": _erp_url(find, own(ERP))}
    if "webhook" in needed and settings.webhook.secret is None and (webhook := find(own(WEBHOOK))):
        found["webhook"] = {"secret": webhook.password}
    if "alerts" in needed and any(map(_held, settings.alerts.routes)):
        found["alerts"] = {"routes": [_route(route, find) for route in settings.alerts.routes]}
    return {name: part for name, part in found.items() if part}


def _held(route: AlertRoute) -> str | None:
    return connection_of(route.address.get_secret_value())


def _route(route: AlertRoute, find: Find) -> dict[str, Any]:
    """A route with its address, also if a connection holds it: as a whole, in the password, which Airflow encrypts and shows to no person.

    Without it the route alone refuses, so that the others report that and everything else.
    """
    given, conn_id = route.model_dump(), _held(route)
    if conn_id is None:
        return given
    connection = find(conn_id)
    return given | {"address": (connection and connection.password) or f"{NO_CONNECTION}{conn_id}"}


def _orders_need_erp(orders: OrdersSettings) -> bool:
    """Outbox and picking results lie in the ERP's database unless they have an address of their own."""
    outbox = orders.hand_over == "outbox" and orders.hand_over_url is None
    return outbox or (orders.picking_sql is not None and orders.picking_url is None)


def database_override(settings: Settings, find: Find) -> dict[str, Any]:
    """The ledger's database, if only a connection names it."""
    connection = find(DATABASE) if settings.database_url is None else None
    return {"database_url": _database_url(connection)} if connection else {}


def base_url(connection: Connection) -> str | None:
    """The platform's address: `host` may be a whole URL or a bare name, `port` is added when it is given."""
    if not connection.host:
        return None
    address = connection.host if "://" in connection.host else f"https://{connection.host}"
    return f"{address.rstrip('/')}:{connection.port}" if connection.port else address.rstrip("/")


def platform_parts(connection: Connection) -> dict[str, Any]:
    """All fields of a connection of the platform's type."""
    extra = connection.extra_dejson
    parts = {
        "base_url": base_url(connection),
        "chain": extra.get("chain"),
        "client_id": connection.login,
        "client_secret": connection.password,
        "token": extra.get("token"),
    }
    return {name: value for name, value in parts.items() if value}


def _platform(settings: PlatformSettings, find: Find, conn_id: str) -> dict[str, Any]:
    has_credentials = bool(settings.token or (settings.client_id and settings.client_secret))
    if settings.base_url and settings.chain and has_credentials:
        return {}
    connection = find(conn_id)
    given = platform_parts(connection) if connection else {}
    if settings.token:
        given = {name: value for name, value in given.items() if name not in {"client_id", "client_secret"}}
    elif settings.client_id or settings.client_secret:
        given.pop("token", None)
    given = {name: value for name, value in given.items() if not getattr(settings, name)}
    whole = settings.model_dump(exclude_none=True) | given
    for name, field in (("base_url", "Base URL"), ("chain", "Chain id")):
        if not whole.get(name):
            raise _unset(f"SHELFSYNC_PLATFORM__{name.upper()}", conn_id, field, connection)
    if not whole.get("token"):
        for name, field in (("client_id", "Client id"), ("client_secret", "Client secret")):
            if not whole.get(name):
                raise _unset(f"SHELFSYNC_PLATFORM__{name.upper()}", conn_id, field, connection)
    return given


def _unset(setting: str, conn_id: str, field: str, connection: Connection | None) -> ConfigurationError:
    where = f"the connection {conn_id} has no {field}" if connection else f"there is no connection {conn_id}"
    remedy = f"Set {setting} in the environment of Airflow's processes, or fill in {field} of the connection {conn_id} (Admin, Connections)."
    return ConfigurationError(setting, f"not set, and {where}", remedy)


def _erp_url(find: Find, conn_id: str) -> str:
    connection = find(conn_id)
    if connection is None:
        raise ConfigurationError(
            "SHELFSYNC_ERP__URL",
            f"no ERP is named: neither SHELFSYNC_ERP__URL nor SHELFSYNC_ERP__FILES is set, and there is no connection {conn_id}",
            f"Set one of the two in the environment of Airflow's processes, or add the connection {conn_id} (Admin, Connections).",
        )
    scheme = connection.extra_dejson.get("sqlalchemy_scheme") or DRIVERS.get(
        connection.conn_type or "", connection.conn_type
    )
    return _url(connection, str(scheme))


def _database_url(connection: Connection) -> str:
    if connection.conn_type not in {"postgres", "postgresql"}:
        raise ConfigurationError(
            f"connection {DATABASE}",
            f"is of type {connection.conn_type!r}, and the ledger needs PostgreSQL",
            "Make it a connection of type Postgres, or set SHELFSYNC_DATABASE_URL.",
        )
    return _url(connection, "postgresql")


def _url(connection: Connection, scheme: str) -> str:
    """The connection as SQLAlchemy spells it; a SQLite connection has its file in `host` or in `schema`."""
    from sqlalchemy.engine import URL

    if scheme.startswith("sqlite"):
        return URL.create(scheme, database=connection.host or connection.schema).render_as_string(hide_password=False)
    extra = connection.extra_dejson if scheme.startswith("postgresql") else {}
    return URL.create(
        scheme,
        username=connection.login or None,
        password=connection.password or None,
        host=connection.host or None,
        port=connection.port or None,
        database=connection.schema or None,
        query={name: str(extra[name]) for name in POSTGRES_EXTRAS if name in extra},
    ).render_as_string(hide_password=False)


class PlatformHook(BaseHook):
    """The delivery platform as one connection names it."""

    conn_name_attr = "shelfsync_platform_conn_id"
    default_conn_name = "shelfsync_platform"
    conn_type = "shelfsync_platform"
    hook_name = "shelfsync delivery platform"

    def __init__(self, shelfsync_platform_conn_id: str = default_conn_name, logger_name: str | None = None) -> None:
        super().__init__(logger_name)
        self.conn_id = shelfsync_platform_conn_id

    def test_connection(self) -> tuple[bool, str]:
        """Requests a token from the platform with the connection's fields alone, not the environment's; (worked, one line).

        The request is charged to the shared rate limit like any other, so the ledger's database has to be there.
        """
        from partner_api.errors import PartnerError
        from shelfsync.app import open_app
        from shelfsync.chains import chain_names
        from shelfsync.chosen_chain import chosen
        from shelfsync.errors import ShelfsyncError
        from shelfsync.settings import read_settings

        given = platform_parts(self.get_connection(self.conn_id))
        unset = dict.fromkeys(("base_url", "chain", "client_id", "client_secret", "token"))
        try:
            # Airflow tests a new connection under a name of its own; the request is counted for any chain
            with chosen(chain_of(self.conn_id) or next(iter(chain_names()), None)):
                database = database_override(read_settings(), find_connection)
                settings = read_settings(platform=unset | given, **database)
            with open_app(settings) as context:
                context.open_platform().check()
        except (ShelfsyncError, PartnerError) as error:
            return False, str(error)
        return True, f"{given['base_url']} let us in. The task check of a sync also asks about chain and vendors."
