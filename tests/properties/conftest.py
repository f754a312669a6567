"""Property tests have no deadline: a busy machine must not fail them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("properties", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("properties")
