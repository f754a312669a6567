"""The campaigns of a forgotten store end."""

from __future__ import annotations

import pytest

from promotions_of import known, wanted
from shelfsync.promotions.forgotten_store import unoffered


@pytest.mark.parametrize(
    ("have", "want", "ends"),
    [
        (known("gone"), [], {("c1", "gone")}),
        (known("gone", "v1"), [wanted("v1")], {("c1", "gone")}),
        (known("gone", "v1"), [], set()),
        (known("gone", "v1", "v2"), [wanted("v1")], set()),
        (known("gone", "v1"), [wanted("v1", campaign="c2", also=("c1",))], {("c1", "gone")}),
        (known("v1"), [], set()),
    ],
    ids=["its own", "shared", "shared and absent", "shared and absent at one", "merged", "of another store"],
)
def test_its_promotions_end_where_all_that_share_them_are_in_the_extract(have, want, ends):
    assert unoffered(want, [have], {"gone"}) == ends
