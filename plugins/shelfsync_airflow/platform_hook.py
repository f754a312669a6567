"""The hook of the connection type `shelfsync_platform`: the Test button calls it."""

from __future__ import annotations

from airflow.sdk import BaseHook


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
        from shelfsync.errors import ShelfsyncError
        from shelfsync.settings import read_settings
        from shelfsync_airflow.connections import database_override, find_connection, platform_parts

        given = platform_parts(self.get_connection(self.conn_id))
        unset = dict.fromkeys(("base_url", "chain", "client_id", "client_secret", "token"))
        try:
            settings = read_settings()
            database = database_override(settings, find_connection)
            with open_app(read_settings(platform=unset | given, **database)) as context:
                context.open_platform().check()
        except (ShelfsyncError, PartnerError) as error:
            return False, str(error)
        return True, f"{given['base_url']} let us in. The task check of a sync also asks about chain and vendors."
