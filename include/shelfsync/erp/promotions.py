"""The ERP's promotions as an extract: the same sources, proofs and errors as the catalog's, under their own settings."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shelfsync.erp.layout import ExtractSchema
from shelfsync.erp.open import open_source
from shelfsync.erp.vendor_ids import VendorIds
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from shelfsync.erp.source import ErpSource
    from shelfsync.settings import Settings


def open_promotions(settings: Settings, schema: pa.Schema, required: tuple[str, ...]) -> ErpSource:
    """The source that `promotions` describes; its database is the ERP's when none is named. Connects to nothing yet."""
    own = settings.promotions
    if not own.configured:
        raise ConfigurationError(
            "SHELFSYNC_PROMOTIONS__SQL",
            "no promotions are configured",
            "Give the SELECT that returns them, here or by SHELFSYNC_PROMOTIONS__SQL_FILE, or set SHELFSYNC_PROMOTIONS__FILES (docs/how-to/promotions.md).",
        )
    if own.files is None and own.url is None:
        own = own.model_copy(update={"url": settings.erp.url})
    inherited = not own.vendor_ids and own.vendor_ids_file is None
    if inherited:
        ids = {"vendor_ids": settings.erp.vendor_ids, "vendor_ids_file": settings.erp.vendor_ids_file}
        own = own.model_copy(update=ids)
    if inherited:
        VendorIds.of(own)  # an error in them names the ERP's setting, which has them
    with promotion_settings_in_errors():
        return open_source(own, ExtractSchema(schema, required, ("price",)), may_be_empty=True)


@contextlib.contextmanager
def promotion_settings_in_errors() -> Iterator[None]:
    """Each ConfigurationError names the promotions' settings and not the catalog's."""
    try:
        yield
    except ConfigurationError as error:
        texts = (
            text.replace("SHELFSYNC_ERP__", "SHELFSYNC_PROMOTIONS__")
            for text in (error.setting, error.problem, error.remedy)
        )
        raise ConfigurationError(*texts) from None
