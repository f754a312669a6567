"""Which source the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.erp.layout import CATALOG, Layout
from shelfsync.errors import ConfigurationError
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from shelfsync.erp.layout import ExtractSchema
    from shelfsync.erp.source import ErpSource
    from shelfsync.settings import SourceSettings


def open_source(settings: SourceSettings, extract: ExtractSchema = CATALOG, *, may_be_empty: bool = False) -> ErpSource:
    """The source that the settings describe; reads and connects to nothing yet. Raises ConfigurationError for contradictory settings.

    `may_be_empty`: an extract without a row is complete if the expected number of rows is zero.
    """
    kind = settings.source
    if kind is None:
        if settings.url is not None and settings.files is not None:
            raise ConfigurationError(
                "SHELFSYNC_ERP__SOURCE",
                "both SHELFSYNC_ERP__URL and SHELFSYNC_ERP__FILES are set",
                "Choose one of them: sql or files.",
            )
        if settings.url is None and settings.files is None:
            raise ConfigurationError(
                "SHELFSYNC_ERP__URL",
                "no ERP is configured",
                "Set it to a database URL (or give Airflow the connection shelfsync_erp), or set SHELFSYNC_ERP__FILES.",
            )
        kind = "sql" if settings.url is not None else "files"
    layout = Layout.of(settings, extract)
    if kind == "sql":
        from shelfsync.erp.changes import Feed
        from shelfsync.erp.sql import SqlSource

        feed = Feed.of(settings) if isinstance(settings, ErpSettings) else None
        return SqlSource(settings, layout, may_be_empty=may_be_empty, feed=feed)
    if isinstance(settings, ErpSettings) and (settings.changes_sql or settings.changes_sql_file):
        raise ConfigurationError(
            "SHELFSYNC_ERP__CHANGES_SQL", "the ERP is read from files", "Unset it, or set SHELFSYNC_ERP__SOURCE to sql."
        )
    from shelfsync.erp.files import FilesSource

    return FilesSource(settings, layout, may_be_empty=may_be_empty)
