"""Laws are drawn without a clock: two busy cores say nothing about a law."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("laws", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("laws")
