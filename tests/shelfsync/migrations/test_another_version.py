from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.errors import ConfigurationError
from shelfsync.migrations.upgrade import upgrade
from shelfsync.store.engine import create_engine


@pytest.mark.slow
def test_a_database_of_another_version_is_rejected_with_what_to_do(empty_database_url):
    engine = create_engine(empty_database_url)
    upgrade(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE public.shelfsync_revision SET version_num = '0049'"))
    with pytest.raises(
        ConfigurationError, match=r"SHELFSYNC_DATABASE_URL: .* revision 0049.* state save .*empty database"
    ):
        upgrade(engine)
    engine.dispose()
