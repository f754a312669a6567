"""Which source the settings describe: the catalog's, or the promotions' with the same proofs and errors under their own settings."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shelfsync.erp.change_files import SourceWithChangeFiles
from shelfsync.erp.changes_query import CHANGES_FILES, CHANGES_SINCE_FILE, CHANGES_SQL, Feed
from shelfsync.erp.columns import CATALOG, ExtractSchema, Layout
from shelfsync.erp.files import FilesSource
from shelfsync.erp.sql import SqlSource
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from shelfsync.erp.extract import ErpSource
    from shelfsync.settings import Settings, SourceSettings


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
        feed = Feed.of(settings) if isinstance(settings, ErpSettings) else None
        source = SqlSource(settings, layout, may_be_empty=may_be_empty, feed=feed)
        if isinstance(settings, ErpSettings) and settings.changes_since_file is not None:
            raise ConfigurationError(
                CHANGES_SINCE_FILE,
                "a database is read at its present state",
                "Unset it; it belongs to SHELFSYNC_ERP__FILES.",
            )
        if not isinstance(settings, ErpSettings) or settings.changes_files is None:
            return source
        if feed is not None:
            raise ConfigurationError(CHANGES_FILES, f"{CHANGES_SQL} is set too", "Keep one of the two.")

        return SourceWithChangeFiles(source, settings)
    return _open_files(settings, layout, may_be_empty=may_be_empty)


def _open_files(settings: SourceSettings, layout: Layout, *, may_be_empty: bool) -> ErpSource:
    files = FilesSource(settings, layout, may_be_empty=may_be_empty)
    if not isinstance(settings, ErpSettings):
        return files
    if settings.changes_sql or settings.changes_sql_file:
        raise ConfigurationError(
            CHANGES_SQL,
            "the ERP is read from files, which may be older than a change",
            "Unset it, or set SHELFSYNC_ERP__SOURCE to sql.",
        )
    if (settings.changes_files is None) != (settings.changes_since_file is None):
        missing = CHANGES_FILES if settings.changes_files is None else CHANGES_SINCE_FILE
        raise ConfigurationError(
            missing,
            "it is not set, so it is unknown which changes the files of all rows have",
            f"Set both {CHANGES_FILES} and {CHANGES_SINCE_FILE} (docs/how-to/reading-changes.md#files-alone), or none of them.",
        )
    if settings.changes_files is None:
        return files

    return SourceWithChangeFiles(files, settings)


def open_promotions(settings: Settings, schema: pa.Schema, required: tuple[str, ...]) -> ErpSource:
    """The source that `promotions` describes; its database is the ERP's when none is named. Connects to nothing yet."""
    own = settings.promotions
    if not own.configured:
        raise ConfigurationError(
            "SHELFSYNC_PROMOTIONS__SQL",
            "no promotions are configured",
            "Give the SELECT that returns them, here or by SHELFSYNC_PROMOTIONS__SQL_FILE, or set SHELFSYNC_PROMOTIONS__FILES (docs/how-to/promotions.md).",
        )
    own = own.completed(settings.erp)
    with promotion_settings_in_errors(settings):
        return open_source(own, ExtractSchema(schema, required, ("price",)), may_be_empty=True)


@contextlib.contextmanager
def promotion_settings_in_errors(settings: Settings) -> Iterator[None]:
    """Each error of the promotions' source names their settings and not the catalog's."""
    try:
        yield
    except ShelfsyncError as error:
        error.reword(settings.promotions.completed(settings.erp).named)
        raise
